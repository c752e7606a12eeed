import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptySnapshot, extendSnapshot } from '../../src/catalog/snapshot.ts'
import { judgeDelivery, policyOf } from '../../src/access/delivery-verdict.ts'
import type { CatalogSnapshot } from '../../src/catalog/snapshot.ts'
import { backfilled, liveFrom } from '../../src/spool/record.ts'
import type { Origin } from '../../src/spool/record.ts'

const snapshot = extendSnapshot(emptySnapshot, {
  publishers: [
    {
      id: 1,
      name: 'listed',
      conversionSources: [
        '203.0.113.0/24',
        '198.51.100.7',
        '2001:db8::/32',
        '::ffff:192.0.2.0/120',
      ],
    },
    { id: 2, name: 'open' },
    { id: 3, name: 'empty', conversionSources: [] },
  ],
})

function isTrustedSource(catalog: CatalogSnapshot, publisherId: number, origin: Origin): boolean {
  const facts = { publisherId, receivedAtMs: 0, origin, keyId: null }
  const policy = policyOf(catalog, publisherId, { requiresKey: false })
  return judgeDelivery(facts, policy, () => null) === 'valid'
}

type Case = readonly [publisherId: number, address: string | null, isTrusted: boolean]

const verdicts: readonly Case[] = [
  [1, '203.0.113.0', true],
  [1, '203.0.113.255', true],
  [1, '203.0.114.0', false],
  [1, '198.51.100.7', true],
  [1, '198.51.100.8', false],
  [1, '2001:db8:1::1', true],
  [1, '2001:db9::1', false],
  [1, '192.0.2.9', true],
  [1, '::ffff:203.0.113.9', true],
  [1, '::ffff:cb00:7109', true],
  [1, '::ffff:203.0.114.9', false],
  [1, '2001:db8::1%eth0', true],
  [1, 'not an address', false],
  [1, '203.0.113.9:443', false],
  [1, '', false],
  [1, null, false],
  [2, null, true],
  [2, '192.0.2.1', true],
  [3, '192.0.2.1', true],
  [99, '192.0.2.1', true],
]

test('a sender is trusted when its address is known and in a range of the list, or when there is no list', () => {
  for (const [publisherId, address, isTrusted] of verdicts) {
    const name = `${publisherId} ${address}`
    assert.equal(isTrustedSource(snapshot, publisherId, liveFrom(address)), isTrusted, name)
  }
})

test('a backfill is trusted whatever the list says', () => {
  for (const publisherId of [1, 2, 3, 99]) {
    assert.equal(isTrustedSource(snapshot, publisherId, backfilled), true)
  }
})

test('a changed list works with the snapshot that has it', () => {
  const changed = extendSnapshot(snapshot, {
    publishers: [{ id: 1, name: 'listed', conversionSources: ['192.0.2.0/24'] }],
  })

  assert.equal(isTrustedSource(snapshot, 1, liveFrom('203.0.113.1')), true)
  assert.equal(isTrustedSource(changed, 1, liveFrom('203.0.113.1')), false)
  assert.equal(isTrustedSource(changed, 1, liveFrom('192.0.2.1')), true)
})
