import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { openKeyStore } from '../../src/access/key-store.ts'
import { limits as admissionLimits } from '../../src/campaign/admission.ts'
import {
  RefusedCalls,
  refusalLimits,
  type RefusalReason,
} from '../../src/campaign/refused-calls.ts'
import { openMigratedWarehouse } from '../helpers/test-warehouse.ts'
import { silentLog } from '../helpers/silent-log.ts'
import { aKey, bearer, echoAdmin, startHarness } from './harness.ts'

const { holdMs, groupsMax, namesMax } = refusalLimits
const sites = '/v2/advertisers/1/eligible/site-locations?publisherId=10&marketId=1'

interface Line {
  readonly reason: RefusalReason
  readonly network: string
  readonly count: number
  readonly keyId?: string | null
  readonly keyIds?: readonly string[]
  readonly operations?: readonly string[]
}

function aWorld(t: TestContext) {
  const at = { ms: 0 }
  const lines: Line[] = []
  const log = { warn: (fields: object) => void lines.push(fields as Line) }
  const refused = new RefusedCalls({ log, clock: () => at.ms })
  t.after(() => refused.close())
  const note = (changes: Partial<Parameters<RefusedCalls['note']>[0]> = {}) =>
    refused.note({
      reason: 'unknown-key',
      keyId: null,
      address: '198.51.100.7',
      operation: 'readMe',
      ...changes,
    })
  const total = () => lines.reduce((sum, { count }) => sum + count, 0)
  return { at, lines, refused, note, total }
}

test('a flood from one network is one line at once and one a minute, and the counts add up', (t) => {
  const { at, lines, refused, note, total } = aWorld(t)
  for (let second = 0; second < 600; second += 1) {
    for (let call = 0; call < 100; call += 1) note({ address: `198.51.100.${call}` })
    at.ms += 1_000
    refused.look()
  }
  refused.close()

  assert.equal(lines.length, 11)
  assert.deepEqual(
    lines.slice(0, 2).map(({ count, network }) => ({ count, network })),
    [
      { count: 1, network: '198.51.100.0/24' },
      { count: 5_999, network: '198.51.100.0/24' },
    ]
  )
  assert.equal(total(), 60_000)
})

test('a flood from ever new networks is bounded in lines, and the counts add up', (t) => {
  const { at, lines, refused, note, total } = aWorld(t)
  for (let call = 0; call < 20_000; call += 1) {
    note({ address: `2001:db8:${call.toString(16)}::1` })
  }
  const atOnce = lines.length
  at.ms += holdMs
  refused.look()

  assert.equal(atOnce, groupsMax)
  assert.equal(lines.length, groupsMax + 1)
  assert.deepEqual(lines.at(-1)?.network, 'other networks')
  assert.equal(total(), 20_000)
})

test('a network that was silent for a minute is told at once when it comes again', (t) => {
  const { at, lines, refused, note } = aWorld(t)
  note()
  at.ms += holdMs
  refused.look()
  note()

  assert.deepEqual(
    lines.map(({ count }) => count),
    [1, 1]
  )
})

test('reasons and networks are told apart, and a line of many names some and counts all', (t) => {
  const { at, lines, refused, note } = aWorld(t)
  note()
  note({ reason: 'forbidden', keyId: 'key_0' })
  note({ address: '198.51.101.7' })
  for (let call = 1; call <= 30; call += 1) note({ reason: 'forbidden', keyId: `key_${call}` })
  at.ms += holdMs
  refused.look()

  assert.equal(lines.length, 4)
  const held = lines.at(-1)
  assert.equal(held?.count, 30)
  assert.equal(held?.keyIds?.length, namesMax)
  assert.deepEqual(held?.operations, ['readMe'])
})

test('what is held back is written when the port closes, and a clock set back holds nothing', (t) => {
  const { at, refused, note, total } = aWorld(t)
  at.ms = 10 * holdMs
  note()
  note()
  at.ms = 0
  refused.look()
  note()
  refused.close()

  assert.equal(total(), 3)
})

test('an address that is gone or none is an unknown network', (t) => {
  const { lines, note } = aWorld(t)
  note({ address: null })
  note({ address: 'x' })

  assert.deepEqual(
    lines.map(({ network }) => network),
    ['unknown']
  )
})

test('each refusal of the port is logged at warn with its reason, key id and operation, never with the key', async (t) => {
  const warehouse = await openMigratedWarehouse()
  t.after(() => warehouse.close())
  const at = { ms: Date.UTC(2026, 2, 2) }
  const clock = () => at.ms
  const adminKey = 'a'.repeat(43)
  const store = await openKeyStore({
    warehouse,
    clock,
    log: silentLog,
    refreshMs: 3_600_000,
    adminKey,
  })
  const { app, log } = startHarness({ keys: store, clock, requestsPerMinuteMax: 2 })
  const make = async (expiresAt?: string) =>
    await store.create({
      name: 'n',
      advertisers: [2],
      scopes: ['site:read'],
      ...(expiresAt !== undefined && { expiresAt }),
    })
  const [valid, expired, revoked] = [await make(), await make('2026-03-01T00:00:00Z'), await make()]
  await store.revoke(revoked.id)
  const get = async (authorization?: string) =>
    await app.inject({
      url: sites,
      remoteAddress: '2001:db8:1:2::3',
      headers: authorization === undefined ? {} : { authorization },
    })
  const tokens = [`st_${'U'.repeat(43)}`, expired.key, revoked.key, valid.key, valid.key, valid.key]
  await get()
  await get('Basic CANARY')
  for (const token of tokens) await get(`Bearer ${token}`)
  await app.close()
  await store.close()

  const lines = log.lines().filter(({ msg }) => msg === 'a call was refused')
  assert.ok(lines.every(({ level }) => level === 40 || level === 'warn'))
  assert.deepEqual(
    lines.map(({ reason, status, keyId, keyIds, count }) => [
      reason,
      status,
      keyId ?? keyIds ?? null,
      count,
    ]),
    [
      ['no-key', 401, null, 1],
      ['malformed-key', 401, null, 1],
      ['unknown-key', 401, null, 1],
      ['expired-key', 401, expired.id, 1],
      ['revoked-key', 401, revoked.id, 1],
      ['forbidden', 403, valid.id, 1],
      ['limit', 429, valid.id, 1],
      ['forbidden', 403, [valid.id], 1],
    ]
  )
  for (const { network, operation } of lines.slice(0, 7)) {
    assert.deepEqual([network, operation], ['2001:db8:1::/48', 'listEligibleSiteLocations'])
  }
  for (const secret of [...tokens, 'CANARY', '2001:db8:1:2', '/v2/advertisers/1/']) {
    assert.ok(!log.text.includes(secret), secret)
  }
})

test('beyond the limit of refused keys of a network the lines say so, and count what was refused before', async (t) => {
  const { app, log } = startHarness()
  t.after(() => app.close())
  const { refusedKeysPerMinuteMax: max } = admissionLimits
  for (let call = 0; call < max + 50; call += 1) {
    await app.inject({ url: sites, headers: bearer(`wrong-${call}`) })
  }
  await app.close()

  const lines = log.lines().filter(({ msg }) => msg === 'a call was refused')
  const counts = (wanted: string) =>
    lines.filter(({ reason }) => reason === wanted).map(({ count }) => count)
  assert.deepEqual(counts('unknown-key'), [1, max - 1])
  assert.deepEqual(counts('too-many-refused-keys'), [1, 49])
})

test('a refusal by a handler is logged like one by the port, and a call that passes is not', async (t) => {
  const { app, log } = startHarness({
    keys: {
      isValid: () => true,
      findRefused: () => null,
      findPerson: () => null,
      find: () => aKey({ scopes: ['link:mint', 'site:read'] }),
    },
    adminHandlers: {
      ...echoAdmin,
      mintTrackingLinks: () => Promise.resolve({ status: 403, body: null }),
    },
  })
  t.after(() => app.close())
  await app.inject({ url: sites, headers: bearer('x') })
  await app.inject({ method: 'POST', url: '/admin/v1/tracking-links', headers: bearer('x') })

  const lines = log.lines().filter(({ msg }) => msg === 'a call was refused')
  assert.deepEqual(
    lines.map(({ operation, reason, keyId }) => [operation, reason, keyId]),
    [['mintTrackingLinks', 'forbidden', 'key_1']]
  )
})
