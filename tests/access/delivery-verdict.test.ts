import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createdToleranceMs,
  isDeliveryKey,
  judgeDelivery,
  policyOf,
} from '../../src/access/delivery-verdict.ts'
import type { DeliveryPolicy } from '../../src/access/delivery-verdict.ts'
import type { AccessKey } from '../../src/access/key.ts'
import { emptySnapshot, extendSnapshot } from '../../src/catalog/snapshot.ts'
import { backfilled, liveFrom } from '../../src/spool/record.ts'
import type { Origin } from '../../src/spool/record.ts'

const createdAtMs = Date.UTC(2026, 2, 1, 12)
const hourMs = 3_600_000
const receivedAtMs = createdAtMs + 10 * hourMs

function aKey(changes: Partial<AccessKey> = {}): AccessKey {
  return {
    id: 'key_a',
    name: 'Shop',
    advertisers: [],
    publishers: [10],
    scopes: ['delivery:write'],
    createdAtMs,
    expiresAtMs: null,
    revokedAtMs: null,
    compromisedSinceMs: null,
    invitation: null,
    isSignOn: false,
    isConfigured: false,
    ...changes,
  }
}

const listed = liveFrom('203.0.113.7')
const elsewhere = liveFrom('192.0.2.1')
const open: DeliveryPolicy = { sources: [], requiresKey: false, isKnownPublisher: true }
const keyed: DeliveryPolicy = { ...open, requiresKey: true }
const both: DeliveryPolicy = { ...keyed, sources: ['203.0.113.0/24'] }

interface Sent {
  readonly origin?: Origin
  readonly key?: AccessKey | null
}

function judge(policy: DeliveryPolicy, { origin = listed, key = aKey() }: Sent = {}) {
  const keyId = key === null ? null : key.id
  return judgeDelivery({ publisherId: 10, receivedAtMs, origin, keyId }, policy, (id) =>
    id === key?.id ? key : null
  )
}

test('where both a list and a key are asked for, both must hold, and the list is told first', () => {
  assert.equal(judge(both), 'valid')
  assert.equal(judge(both, { key: null }), 'unauthenticated')
  assert.equal(judge(both, { origin: elsewhere }), 'untrusted-source')
  assert.equal(judge(both, { origin: elsewhere, key: null }), 'untrusted-source')
  assert.equal(judge(both, { origin: liveFrom(null) }), 'untrusted-source')
})

test('a key counts from any address without a list, and none is needed where none is asked for', () => {
  assert.equal(judge(keyed, { origin: liveFrom(null) }), 'valid')
  assert.equal(judge(keyed, { key: null }), 'unauthenticated')
  assert.equal(judge(open, { key: null, origin: liveFrom(null) }), 'valid')
  assert.equal(judge(open, { key: aKey({ publishers: [11] }) }), 'valid')
})

test('an operator vouches for a backfill, whatever is asked for', () => {
  assert.equal(judge(both, { origin: backfilled, key: null }), 'valid')
})

test('an unknown publisher is told apart only where the installation asks for keys', () => {
  const policies = [true, false].map((requiresKey) => policyOf(emptySnapshot, 10, { requiresKey }))
  const [strict = open, lax = open] = policies

  assert.equal(judge(strict, { key: null }), 'unknown-publisher')
  assert.equal(judge(strict), 'valid')
  assert.equal(judge(lax, { key: null }), 'valid')
})

test('what a publisher says goes before what the installation asks for', () => {
  const snapshot = extendSnapshot(emptySnapshot, {
    publishers: [
      { id: 1, name: 'yes', requireKey: true },
      { id: 2, name: 'no', requireKey: false },
      { id: 3, name: 'silent' },
    ],
  })
  const asked = (requiresKey: boolean) =>
    [1, 2, 3].map((id) => policyOf(snapshot, id, { requiresKey }).requiresKey)

  assert.deepEqual(asked(true), [true, false, true])
  assert.deepEqual(asked(false), [true, false, false])
})

const endMs = receivedAtMs
const cases: readonly (readonly [string, Partial<AccessKey>, number, boolean])[] = [
  ['the receipt is the creation', {}, createdAtMs, true],
  ['the tracker is behind by the tolerance', {}, createdAtMs - createdToleranceMs, true],
  ['the tracker is behind by more', {}, createdAtMs - createdToleranceMs - 1, false],
  ['a moment before the expiry', { expiresAtMs: endMs }, endMs - 1, true],
  ['the instant of the expiry', { expiresAtMs: endMs }, endMs, false],
  ['a moment before the revocation', { revokedAtMs: endMs }, endMs - 1, true],
  ['the instant of the revocation', { revokedAtMs: endMs }, endMs, false],
  [
    'a moment before it was compromised, revoked later',
    { compromisedSinceMs: endMs, revokedAtMs: endMs + hourMs },
    endMs - 1,
    true,
  ],
  [
    'compromised before it was revoked',
    { compromisedSinceMs: endMs, revokedAtMs: endMs + hourMs },
    endMs,
    false,
  ],
  ['another publisher', { publishers: [11] }, receivedAtMs, false],
  ['no publisher', { publishers: [] }, receivedAtMs, false],
  ['all publishers', { publishers: 'all' }, receivedAtMs, true],
  ['another scope', { scopes: ['intake:read'] }, receivedAtMs, false],
  ['no scope', { scopes: [] }, receivedAtMs, false],
  // A key of an operator is for people and their tools, never for a shop's backend.
  ['the scope admin alone', { scopes: ['admin'], publishers: 'all' }, receivedAtMs, false],
]

for (const [name, changes, atMs, counts] of cases) {
  test(`a key ${counts ? 'counts' : 'does not count'}: ${name}`, () => {
    assert.equal(isDeliveryKey(aKey(changes), { publisherId: 10, receivedAtMs: atMs }), counts)
  })
}
