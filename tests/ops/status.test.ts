import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../../src/errors.ts'
import { createStatusReader } from '../../src/ops/status.ts'
import type { StatusDeps } from '../../src/ops/status.ts'
import { migrate } from '../../src/warehouse/migrate.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { openMemorySpool } from '../helpers/memory-spool.ts'
import { createHistoryLoader } from '../helpers/history-warehouse.ts'
import { aClick, anAd } from '../helpers/seal-scenario.ts'
import { openTestWarehouse } from '../helpers/test-warehouse.ts'
import { aWarehouseFolder } from '../helpers/warehouse-folder.ts'

const hourMs = 3_600_000

test('events under a campaign of another advertiser are told, those of unknown campaigns are not, however many campaigns there are', async (t) => {
  const warehouse = await openTestWarehouse(t)
  const spool = openMemorySpool({ clock: Date.now })
  t.after(() => spool.close())
  const [row] = await warehouse.rows<{ nowMs: number }>(
    'SELECT toUnixTimestamp64Milli(now64(3)) AS nowMs'
  )
  const atMs = (row?.nowMs ?? 0) - hourMs
  const ad = (letter: string, campaignId: number, servedAtMs = atMs) =>
    anAd({ servedAdId: letter.repeat(32), servedAtMs, campaignId })
  await createHistoryLoader(warehouse, 0).ship([
    aClick(ad('1', 1001), atMs),
    aClick(ad('2', 2001), atMs),
    aClick(ad('3', 9999), atMs),
    aClick(ad('5', 3001), atMs),
    aClick(ad('6', 3001), atMs),
    aClick(ad('4', 2001, atMs - 9 * 24 * hourMs), atMs - 9 * 24 * hourMs),
  ])
  const owners: Readonly<Record<number, number>> = { 1001: 1, 2001: 2, 3001: 3 }

  const status = await createStatusReader({
    version: '1.0.0',
    warehouseKind: 'embedded',
    warehouse,
    spool,
    nodes: () => null,
    believeEverybody: () => ({ publishers: [], total: 0 }),
    waitingDays: () => Promise.resolve({ unsealed: 0, renewing: 0 }),
    attribution: () => ({ lagMs: 0, settledThrough: null }),
    sealedThrough: () => Promise.resolve([]),
    retention: () => Promise.resolve({ days: 400, finalBefore: null, waitsForDay: null }),
    contradictions: () => Promise.resolve([]),
    advertiserOfCampaign: (id) => owners[id] ?? null,
    campaignsPerReadMax: 1,
    clockOffsetMs: () => null,
    failing: () => [],
    alerts: () => [],
    clock: () => atMs,
  })()

  assert.equal(status.misplaced, 3)
  assert.equal(status.crowds, 0)
  assert.deepEqual(status.uncounted, {})
})

test('what the status counts takes little memory, however many deliveries, believed or not, and touchpoints a month has', async (t) => {
  const folder = aWarehouseFolder(t)
  const filled = folder.open()
  await migrate(filled)
  for (let from = 0; from < 1_400_000; from += 200_000) {
    await filled.command(deliveriesSql, { from })
    await filled.command(touchpointsSql, { from })
  }
  const shippedTwice = { from: 0 }
  await filled.command(deliveriesSql, shippedTwice)
  await filled.close()
  const warehouse = folder.open({
    statementLimits: { memoryBytesMax: 100_000_000, secondsMax: 3_600 },
  })

  const clock = Date.now
  // A slow machine takes longer than the status waits for a warehouse.
  const deps = { ...depsWith(away), warehouse, clock, warehouseMsMax: 300_000 }
  const status = await createStatusReader(deps)()

  assert.equal(status.conflicts, 1_000)
  assert.equal(status.crowds, 1)
  assert.deepEqual(status.uncounted, { 'no-product': 1_000, 'untrusted-source': 1_000_000 })
  const [group] = status.notBelieved?.groups ?? []
  assert.equal(group?.deliveries, 1_000_000)
})

/** A thousand of them differ from another delivery of their purchase; their lines name no product. */
const deliveriesSql = `
INSERT INTO delivery (day, publisher_id, purchase_key, delivery_id, received_at, verdict, content_hash, line_verdict, shipped_at)
WITH {from:UInt32} + number AS serial
SELECT toDate(at), 1, MD5(concat('purchase', toString(if(serial < 1000, serial + 1000, serial)))),
  MD5(concat('delivery', toString(serial))),
  toDateTime64(today(), 3, 'UTC') - toIntervalDay(1 + serial % 27) AS at,
  if(serial < 400000, 'valid', 'untrusted-source'),
  MD5(concat('content', toString(serial))), [if(serial < 1000, 'no-product', 'valid')], now64(6)
FROM numbers(200000)`

/** In all, 8,400 of them are of one identity, and the others of as many identities as there are touchpoints. */
const touchpointsSql = `
INSERT INTO touchpoint (publisher_id, identity, kind, served_ad_id, served_day, earliness)
WITH {from:UInt32} + number AS serial
SELECT 1, MD5(concat('person', toString(if(number < 1200, 0, serial)))), 'click', MD5(concat('ad', toString(serial))),
  today() - serial % 14, 1
FROM numbers(100000)`

function depsWith(rows: Warehouse['rows'], changes: Partial<StatusDeps> = {}): StatusDeps {
  return {
    version: '1.0.0',
    warehouseKind: 'server',
    warehouse: { rows },
    spool: { depth: () => ({ bytes: 400, oldestAtMs: 1_000 }) },
    nodes: () => null,
    believeEverybody: () => ({ publishers: [], total: 0 }),
    waitingDays: () => Promise.resolve({ unsealed: 0, renewing: 0 }),
    attribution: () => ({ lagMs: 0, settledThrough: null }),
    sealedThrough: () => Promise.resolve([{ marketId: 1, completeThrough: null }]),
    retention: () => Promise.resolve({ days: 400, finalBefore: null, waitsForDay: null }),
    contradictions: () => Promise.resolve([]),
    advertiserOfCampaign: () => null,
    clockOffsetMs: () => 7,
    failing: () => ['ship fails: WAREHOUSE_UNAVAILABLE'],
    alerts: () => [],
    clock: () => 61_000,
    ...changes,
  }
}

const withoutWarehouse = {
  version: '1.0.0',
  warehouse: { kind: 'server', available: false },
  spool: { bytes: 400 },
  lagMs: 60_000,
  at: '1970-01-01T00:01:01.000Z',
  attribution: { lagMs: 0, settledThrough: null },
  clock: { offsetMs: 7 },
  failing: ['ship fails: WAREHOUSE_UNAVAILABLE'],
  alerts: [],
  believeEverybody: { publishers: [], total: 0 },
}

const away = () => Promise.reject(new ServiceError('WAREHOUSE_UNAVAILABLE', 'away'))

test('while the warehouse is away the status tells depth and lag of the spool, how far attribution is, and what fails', async () => {
  const status = await createStatusReader(depsWith(away))()

  assert.deepEqual(status, withoutWarehouse)
})

test('a warehouse that hangs delays the status by its bound and is not asked once more meanwhile', async () => {
  let askedCount = 0
  const hang = () => {
    askedCount += 1
    return new Promise<never>(() => undefined)
  }
  const read = createStatusReader(depsWith(hang, { warehouseMsMax: 20 }))

  assert.deepEqual(await Promise.all([read(), read()]), [withoutWarehouse, withoutWarehouse])
  assert.deepEqual(await read(), withoutWarehouse)
  assert.equal(askedCount, 1)
})

test('a status that failed is asked anew, and a statement that is refused is a failure', async () => {
  const answers = [
    new ServiceError('WAREHOUSE_UNAVAILABLE', 'away'),
    new ServiceError('WAREHOUSE_REFUSED', 'refused'),
  ]
  const read = createStatusReader(depsWith(() => Promise.reject(answers.shift() ?? new Error())))

  assert.equal((await read()).warehouse.available, false)
  await assert.rejects(read(), { code: 'WAREHOUSE_REFUSED' })
})
