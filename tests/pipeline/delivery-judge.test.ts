// Deliveries with keys on their way from the spool into the warehouse, with the real list of keys.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { openKeyStore } from '../../src/access/key-store.ts'
import type { KeyStore } from '../../src/access/key-store.ts'
import { emptySnapshot, extendSnapshot } from '../../src/catalog/snapshot.ts'
import type { CatalogSnapshot } from '../../src/catalog/snapshot.ts'
import { createDeliveryJudge } from '../../src/pipeline/delivery-judge.ts'
import { replaySetAside } from '../../src/pipeline/set-aside.ts'
import { backfilled, liveFrom } from '../../src/spool/record.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import {
  aConversion,
  aReturn,
  aShipment,
  anEvent,
  append,
  failing,
  shipBatch,
} from '../helpers/shipment.ts'
import type { Shipment } from '../helpers/shipment.ts'

// Addresses of long ago leave the warehouse whenever it merges.
const startMs = Date.now() - 3_600_000
const hourMs = 3_600_000
const requiring = extendSnapshot(emptySnapshot, {
  publishers: [{ id: 10, name: 'Shop', requireKey: true }],
})

interface World extends Shipment {
  readonly at: { ms: number }
  /** Of the node that makes and revokes keys. */
  readonly elsewhere: KeyStore
  readonly keys: KeyStore
  /** Is away while true. */
  readonly away: { is: boolean }
  catalog: CatalogSnapshot
}

/** Lists are refreshed by nobody but shipping, as if the node had just read them. */
async function aWorld(t: Parameters<typeof aShipment>[0]): Promise<World> {
  const shipment = await aShipment(t)
  const at = { ms: startMs }
  const away = { is: false }
  const log = { info: () => {}, error: () => {} }
  const openStore = async (warehouse: Warehouse) => {
    const options = { warehouse, clock: () => at.ms, log, adminKey: 'a'.repeat(43) }
    const store = await openKeyStore({ ...options, refreshMs: 3_600_000 })
    t.after(() => store.close())
    return store
  }
  const keys = await openStore(failing(shipment.warehouse, () => away.is))
  const world: World = {
    ...shipment,
    at,
    away,
    keys,
    elsewhere: await openStore(shipment.warehouse),
    catalog: requiring,
  }
  const deliveryJudge = createDeliveryJudge({
    keys,
    catalog: () => world.catalog,
    requiresKey: false,
  })
  return {
    ...world,
    deps: { ...shipment.deps, rowContext: { ...shipment.deps.rowContext, deliveryJudge } },
  }
}

const request = { name: 'Shop', publishers: [10], scopes: ['delivery:write' as const] }

function receipt(receivedAtMs: number, key: string) {
  return { receivedAtMs, presentedKey: hashOf(key) }
}

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

async function verdicts(warehouse: Warehouse): Promise<Readonly<Record<string, string>>> {
  const rows = await warehouse.rows<{ id: string; verdict: string }>(
    `SELECT transaction_id AS id, toString(verdict) AS verdict FROM delivery FINAL ORDER BY id`
  )
  return Object.fromEntries(rows.map(({ id, verdict }) => [id, verdict]))
}

test('a delivery is kept with all that judging it needs, and so is a return', async (t) => {
  const world = await aWorld(t)
  const { key, id } = await world.elsewhere.create(request)
  const stranger = hashOf('another')
  const receivedAtMs = startMs
  await append(world.spool, [
    aConversion({ receivedAtMs, transactionId: 'keyed', presentedKey: hashOf(key) }),
    aConversion({ receivedAtMs, transactionId: 'unknown', presentedKey: stranger }),
    aConversion({ receivedAtMs, transactionId: 'malformed', presentedKey: 'malformed' }),
    aConversion({ receivedAtMs, transactionId: 'none', origin: liveFrom(null) }),
    aConversion({ receivedAtMs, transactionId: 'backfill', origin: backfilled }),
    aReturn({ receivedAtMs, transactionId: 'keyed', presentedKey: hashOf(key) }),
    aReturn({ receivedAtMs, transactionId: 'none' }),
  ])

  await shipBatch(world.deps)

  const columns = `transaction_id AS id, toString(verdict) AS verdict, toString(origin) AS origin,
    toString(key_kind) AS kind, key_id AS keyId, source_address AS address`
  const address = '198.51.100.7'
  const keyed = { id: 'keyed', verdict: 'valid', origin: 'live', kind: 'known', keyId: id, address }
  const none = { ...keyed, id: 'none', verdict: 'unauthenticated', kind: 'none', keyId: '' }
  assert.deepEqual(
    await world.warehouse.rows(`SELECT ${columns} FROM delivery FINAL ORDER BY id`),
    [
      { ...none, id: 'backfill', verdict: 'valid', origin: 'backfill', address: '' },
      keyed,
      { ...none, id: 'malformed', kind: 'malformed' },
      { ...none, address: '' },
      { ...none, id: 'unknown', kind: 'unknown' },
    ]
  )
  assert.deepEqual(
    await world.warehouse.rows(`SELECT ${columns} FROM purchase_return FINAL ORDER BY id`),
    [keyed, none]
  )
})

test('a key that another node made or revoked a moment ago is judged rightly', async (t) => {
  const world = await aWorld(t)
  const { key, id } = await world.elsewhere.create(request)
  const presentedKey = hashOf(key)
  await append(world.spool, [
    aConversion({ transactionId: 'new', receivedAtMs: startMs, presentedKey }),
  ])
  await shipBatch(world.deps)

  world.at.ms += 1_000
  await world.elsewhere.revoke(id)
  const receivedAtMs = world.at.ms
  await append(world.spool, [
    aConversion({ transactionId: 'before', receivedAtMs: receivedAtMs - 1, presentedKey }),
    aConversion({ transactionId: 'since', receivedAtMs, presentedKey }),
  ])
  await shipBatch(world.deps)

  assert.deepEqual(await verdicts(world.warehouse), {
    before: 'valid',
    new: 'valid',
    since: 'unauthenticated',
  })
})

test('deliveries with a key wait while the list of keys cannot be read, and are judged by the new one', async (t) => {
  const world = await aWorld(t)
  const { key, id } = await world.elsewhere.create(request)
  await world.keys.refresh()
  world.away.is = true
  world.at.ms += hourMs
  await world.elsewhere.revoke(id, startMs)
  await append(world.spool, [
    aConversion({ receivedAtMs: startMs + 1, presentedKey: hashOf(key) }),
    anEvent(),
  ])

  await assert.rejects(() => shipBatch(world.deps), { code: 'WAREHOUSE_UNAVAILABLE' })
  assert.deepEqual(await verdicts(world.warehouse), {})
  assert.ok(world.spool.depth().oldestAtMs !== null)

  world.away.is = false
  await shipBatch(world.deps)
  assert.deepEqual(await verdicts(world.warehouse), { T1: 'unauthenticated' })
})

test('deliveries without a key and ad events do not wait for the list of keys', async (t) => {
  const world = await aWorld(t)
  world.away.is = true
  world.at.ms += hourMs
  await append(world.spool, [aConversion({ presentedKey: 'malformed' }), anEvent()])

  await shipBatch(world.deps)

  assert.deepEqual(await verdicts(world.warehouse), { T1: 'unauthenticated' })
})

test('a spool that was delayed past the expiry and the revocation voids no honest purchase', async (t) => {
  const world = await aWorld(t)
  const expiresAt = new Date(startMs + hourMs).toISOString()
  const expiring = await world.elsewhere.create({ ...request, expiresAt })
  const revoked = await world.elsewhere.create(request)
  world.at.ms += hourMs
  await world.elsewhere.revoke(revoked.id)
  world.at.ms += 72 * hourMs
  await append(world.spool, [
    aConversion({ transactionId: 'in time 1', ...receipt(startMs + hourMs - 1, expiring.key) }),
    aConversion({ transactionId: 'in time 2', ...receipt(startMs + hourMs - 1, revoked.key) }),
    aConversion({ transactionId: 'late 1', ...receipt(startMs + hourMs, expiring.key) }),
    aConversion({ transactionId: 'late 2', ...receipt(startMs + hourMs, revoked.key) }),
  ])

  await shipBatch(world.deps)

  assert.deepEqual(await verdicts(world.warehouse), {
    'in time 1': 'valid',
    'in time 2': 'valid',
    'late 1': 'unauthenticated',
    'late 2': 'unauthenticated',
  })
})

test('two keys are good at once, so that a key can be replaced without losing a purchase', async (t) => {
  const world = await aWorld(t)
  const old = await world.elsewhere.create(request)
  const next = await world.elsewhere.create(request)
  await append(
    world.spool,
    [old, next].map(({ id, key }) =>
      aConversion({ transactionId: id, receivedAtMs: startMs, presentedKey: hashOf(key) })
    )
  )
  await shipBatch(world.deps)

  assert.deepEqual(Object.values(await verdicts(world.warehouse)), ['valid', 'valid'])
})

test('a replay of what was set aside judges by the receipt, as shipping does', async (t) => {
  const world = await aWorld(t)
  const { key, id } = await world.elsewhere.create(request)
  world.at.ms += hourMs
  await world.elsewhere.revoke(id)
  const presentedKey = hashOf(key)
  const records = [
    aConversion({ transactionId: 'before', receivedAtMs: startMs + 1, presentedKey }),
    aConversion({ transactionId: 'since', receivedAtMs: startMs + hourMs, presentedKey }),
  ]
  const rows = records.map((record, index) =>
    JSON.stringify({
      key: String(index).padStart(32, '0'),
      reason: 'refused',
      record: JSON.stringify(record),
      set_aside_at: '2026-03-02 11:00:00.000000',
    })
  )
  await world.warehouse.insert('set_aside', Buffer.from(`${rows.join('\n')}\n`))

  await replaySetAside(world.deps, null)

  assert.deepEqual(await verdicts(world.warehouse), { before: 'valid', since: 'unauthenticated' })
})
