import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { isIP, Socket } from 'node:net'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { networkOf, sourceAddress } from '../../src/http/source-address.ts'

test('an IPv4 address is its own network, and what is no address is left alone', () => {
  for (const text of ['203.0.113.7', '', 'x']) assert.equal(networkOf(text), text)
})

test('every spelling of an IPv6 address has the network of its first 64 bits', () => {
  const cases = [
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['1::2:3:4:5:6:7', '1:0:2:3::/64'],
    ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
    ['64:ff9b::203.0.113.7', '64:ff9b:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ] as const
  for (const [address, network] of cases) assert.equal(networkOf(address), network, address)
})

test('addresses of one network have it in common, whatever their last 64 bits', () => {
  const group = fc.integer({ min: 0, max: 65_535 }).map((value) => value.toString(16))
  const half = fc.array(group, { minLength: 4, maxLength: 4 })
  fc.assert(
    fc.property(half, half, half, (prefix, one, other) => {
      const [first, second] = [one, other].map((rest) => [...prefix, ...rest].join(':'))
      assert.equal(isIP(first ?? ''), 6)
      assert.equal(networkOf(first ?? ''), networkOf(second ?? ''))
    })
  )
})

function sourceOf(forwarded: string): string | null {
  const socket = new Socket()
  Object.defineProperty(socket, 'remoteAddress', { value: '192.0.2.200' })
  const request = new IncomingMessage(socket)
  request.headers = { 'x-forwarded-for': forwarded }
  return sourceAddress(request, true)
}

// RFC 9110, 5.6.1.
test('empty elements are no entries: the last entry is that of the proxy, however many commas anybody writes', () => {
  const cases = [
    ['192.0.2.7,', '192.0.2.7'],
    ['192.0.2.7 ,\t, ', '192.0.2.7'],
    [',192.0.2.7', '192.0.2.7'],
    // What a sender wrote, and behind it the proxy.
    ['203.0.113.9,, , 192.0.2.7', '192.0.2.7'],
    ['203.0.113.9, 192.0.2.7,', '192.0.2.7'],
    // The entry of the proxy is no address, so none of a sender takes its place.
    ['203.0.113.9, unknown,', '192.0.2.200'],
    [',', '192.0.2.200'],
    [', ,', '192.0.2.200'],
    ['', '192.0.2.200'],
    [`192.0.2.7${','.repeat(30_000)}`, '192.0.2.7'],
  ] as const
  for (const [forwarded, source] of cases) assert.equal(sourceOf(forwarded), source, forwarded)
})
