import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { BlockList, isIPv4 } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { networkListLimits, parseNetworkList } from '../../src/http/network-list.ts'

function listOf(text: string) {
  const parsed = parseNetworkList(Buffer.from(text))
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.faults.join())
  return parsed.list
}

function faultsOf(text: string): readonly string[] {
  const parsed = parseNetworkList(Buffer.from(text))
  return parsed.ok ? [] : parsed.faults
}

const octet = fc.integer({ min: 0, max: 255 })
const ipv4 = fc
  .tuple(fc.constantFrom(9, 10, 11), octet, octet, octet)
  .map((parts) => parts.join('.'))
const group = fc.oneof(fc.constantFrom(0, 1, 0xffff), fc.integer({ min: 0, max: 0xffff }))
const ipv6 = fc
  .tuple(fc.constantFrom(0x2001, 0x2a02, 0xfe80), fc.array(group, { minLength: 7, maxLength: 7 }))
  .map(([first, rest]) => [first, ...rest].map((number) => number.toString(16)).join(':'))
/** In every spelling that URLs, sockets and people use. */
const spelled = fc.oneof(
  ipv4,
  ipv4.map((address) => `::ffff:${address}`),
  ipv6,
  ipv6.map((address) => address.toUpperCase()),
  ipv6.map((address) => new URL(`http://[${address}]`).hostname.slice(1, -1)),
  ipv4.map((address) => new URL(`http://[2001:db8::${address}]`).hostname.slice(1, -1)),
  ipv4.map((address) => `2001:db8::${address}`)
)
const range = fc.oneof(
  fc.tuple(ipv4, fc.integer({ min: 8, max: 32 })),
  fc.tuple(ipv6, fc.integer({ min: 16, max: 128 }))
)

test('an address is in the list exactly if the list of node says so, in every spelling', () => {
  fc.assert(
    fc.property(
      fc.array(range, { minLength: 1, maxLength: 40 }),
      fc.array(spelled, { maxLength: 30 }),
      (ranges, others) => {
        const list = listOf(ranges.map(([address, length]) => `${address}/${length}`).join('\n'))
        const known = new BlockList()
        for (const [address, length] of ranges) {
          known.addSubnet(address, length, isIPv4(address) ? 'ipv4' : 'ipv6')
        }
        for (const address of [...ranges.map(([first]) => first), ...others]) {
          const isKnown = known.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
          assert.equal(list.has(address), isKnown, address)
        }
      }
    )
  )
})

test('both ends of a range belong to it, and their neighbours do not', () => {
  const list = listOf('198.51.100.64/26\n2001:db8:0:1::/64\n203.0.113.9\n')

  assert.deepEqual(
    [
      '198.51.100.63',
      '198.51.100.64',
      '198.51.100.127',
      '198.51.100.128',
      '203.0.113.8',
      '203.0.113.9',
      '203.0.113.10',
      '2001:db8::ffff:ffff:ffff:ffff',
      '2001:db8:0:1::',
      '2001:db8:0:1:ffff:ffff:ffff:ffff',
      '2001:db8:0:2::',
      '2001:db8:0:1::7%eth0',
    ].map((address) => list.has(address)),
    [false, true, true, false, false, true, false, false, true, true, false, true]
  )
})

test('ranges that overlap or touch are one, and bits behind the prefix do not matter', () => {
  const list = listOf('10.1.2.3/8\n10.0.0.0/24 # inside\n11.0.0.0/9\n\n# all\n  11.128.0.0/9  \r\n')

  assert.equal(list.rangeCount, 4)
  for (const address of ['10.0.0.0', '10.255.255.255', '11.0.0.0', '11.255.255.255']) {
    assert.equal(list.has(address), true, address)
  }
  assert.equal(list.has('12.0.0.0'), false)
  assert.equal(list.has('9.255.255.255'), false)
})

test('the version is the beginning of the digest that sha256sum prints', () => {
  const text = '192.0.2.0/24\n'

  assert.equal(listOf(text).version, createHash('sha256').update(text).digest('hex').slice(0, 12))
})

const unfit: readonly (readonly [string, readonly string[]])[] = [
  ['192.0.2.0/24\n192.0.2.0/33', ['line 2 must be a CIDR range or an IP address']],
  ['shop.example', ['line 1 must be a CIDR range or an IP address']],
  ['192.0.2.0/024', ['line 1 must be a CIDR range or an IP address']],
  ['2001:db8::/129', ['line 1 must be a CIDR range or an IP address']],
  ['fe80::1%eth0/64', ['line 1 must be a CIDR range or an IP address']],
  ['0.0.0.0/0', ['line 1 must not be wider than /8 (IPv6: /16)']],
  ['10.0.0.0/7', ['line 1 must not be wider than /8 (IPv6: /16)']],
  ['2000::/15', ['line 1 must not be wider than /8 (IPv6: /16)']],
  ['::/96', ['line 1 must not be wider than /8 (IPv6: /16)']],
  ['::ffff:0:0/96', ['line 1 must not be wider than /8 (IPv6: /16)']],
  ['::ffff:10.0.0.0/103', ['line 1 must not be wider than /8 (IPv6: /16)']],
  ['', ['the file must have at least one range']],
  ['# nothing\n\n', ['the file must have at least one range']],
]
for (const [text, faults] of unfit) {
  test(`a list of ${JSON.stringify(text)} is refused with the line and the rule`, () => {
    assert.deepEqual(faultsOf(text), faults)
  })
}

test('faults are bounded, and so is the number of ranges', () => {
  const { rangesMax, faultsMax } = networkListLimits

  assert.equal(faultsOf('x\n'.repeat(100)).length, faultsMax)
  assert.deepEqual(faultsOf('192.0.2.1\n'.repeat(rangesMax)), [])
  assert.deepEqual(faultsOf('192.0.2.1\n'.repeat(rangesMax + 1)), [
    `the file must have at most ${rangesMax} ranges`,
  ])
})
