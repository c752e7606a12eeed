// Ads of two publishers under one id: whoever learns an id can mint a token with it under their own key.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { emptySnapshot } from '../../src/catalog/snapshot.ts'
import { createExplainer } from '../../src/attribution/explain/explain.ts'
import { createIntakeReader } from '../../src/reports/intake.ts'
import { createServedAdReader } from '../../src/reports/served-ad.ts'
import { createTrafficQualityReader } from '../../src/reports/traffic-quality.ts'
import { knownMigrations, migrate, splitStatements } from '../../src/warehouse/migrate.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { createHistoryLoader } from '../helpers/history-warehouse.ts'
import type { HistoryAd } from '../helpers/history.ts'
import { openKeptPages } from '../helpers/kept-pages.ts'
import { aClick, aPurchase, aWorld, anAd } from '../helpers/seal-scenario.ts'
import type { World } from '../helpers/seal-scenario.ts'
import { aWarehouseFolder } from '../helpers/warehouse-folder.ts'
import { withoutColumn } from '../helpers/former-program.ts'

const hourMs = 3_600_000
const servedAtMs = Date.UTC(2026, 2, 2, 12)
const { signal } = new AbortController()

const own = anAd({ servedAtMs })
const thief = anAd({
  servedAtMs,
  publisherId: 20,
  siteId: 201,
  userId: 'nobody',
  costPerClickMicros: 1_000_000n,
})

/** The click of the other publisher comes first, so it would have taken the place of the shopper's. */
async function aWorldOfBoth(t: Parameters<typeof aWorld>[0]): Promise<World> {
  const world = await aWorld(t)
  await world.loader.ship([aClick(thief, servedAtMs + 1), aClick(own, servedAtMs + 2)])
  // Repeats of either still are repeats.
  await world.loader.ship([aClick(own, servedAtMs + 3), aClick(thief, servedAtMs + 4)])
  await world.loader.ship([aPurchase({ atMs: servedAtMs + hourMs })])
  await world.attribute()
  return world
}

test('ads of two publishers under one id each count for their own publisher, on open days and on sealed ones', async (t) => {
  const world = await aWorldOfBoth(t)

  const open = await world.figures()
  await world.warehouse.command('OPTIMIZE TABLE ad_event FINAL')
  const merged = await world.figures()
  await world.settle()
  const sealed = await world.figures()

  const figures = [
    '2026-03-02 0/0/1 conversions 1 units 2 value 20 spend 0.25',
    '2026-03-02 0/0/1 conversions 0 units 0 value 0 spend 1',
  ].toSorted()
  assert.deepEqual(
    open.toSorted(),
    figures.map((line) => `${line} open`)
  )
  assert.deepEqual(merged, open)
  assert.deepEqual(
    sealed.toSorted(),
    figures.map((line) => `${line} sealed`)
  )
})

test('traffic quality, the intake, the reading of a link and the explanation tell ads of two publishers under one id apart', async (t) => {
  const { warehouse, markets } = await aWorldOfBoth(t)
  const keptPages = openKeptPages()
  t.after(() => keptPages.close())
  const names = { publishers: () => [], campaigns: () => [], adGroups: () => [] }
  const readQuality = createTrafficQualityReader({
    warehouse,
    catalog: () => ({ ...names, markets: () => markets }),
    keptPages,
  })
  const range = { startDate: '2026-03-02', endDate: '2026-03-02' }
  const request = { ...range, page: 0, limit: 10 }
  const quality = await readQuality({ advertiserId: 1, keyId: 'test', signal, request })
  const explained = await createExplainer({
    warehouse,
    settleMs: 0,
    catalog: () => emptySnapshot,
    crowdMax: 5_000,
  })({
    publisherId: 10,
    transactionId: 't-1',
  })

  assert.deepEqual(
    quality.rows
      .map(({ publisherId, kind, counted }) => [publisherId, kind, counted] as const)
      .toSorted(([one], [other]) => one - other),
    [
      [10, 'CLICK', 1],
      [20, 'CLICK', 1],
    ]
  )
  assert.equal(
    explained?.lines[0]?.credits.CLK_14_DAYS?.touchedAt,
    new Date(servedAtMs + 2).toISOString()
  )
  for (const [ad, receivedAtMs, purchases] of [
    [own, servedAtMs + 2, 1],
    [thief, servedAtMs + 1, 0],
  ] as const) {
    const { publisherId, siteId, marketId } = ad
    const intake = await createIntakeReader(warehouse)({
      ...range,
      publisherId,
      siteIds: [siteId],
      marketIds: [marketId],
      signal,
    })
    const reading = await createServedAdReader(warehouse)(ad)

    assert.equal(intake.days[0]?.clicks.counted, 1)
    assert.deepEqual(reading.events, [
      { kind: 'click', verdict: 'counted', receivedAt: new Date(receivedAtMs).toISOString() },
    ])
    assert.equal(reading.creditedPurchases, purchases)
  }
})

const migration = '0016-publisher-in-event-key.sql'

/** `publisher receipt`, of what counts. */
async function readEvents(warehouse: Warehouse, { servedAdId }: HistoryAd) {
  const rows = await warehouse.rows<{ publisherId: number; atMs: number }>(
    `SELECT publisher_id AS publisherId, toUnixTimestamp64Milli(received_at) AS atMs
     FROM ad_event FINAL WHERE served_ad_id = unhex({servedAdId:String}) ORDER BY publisher_id`,
    { servedAdId }
  )
  return rows.map(({ publisherId, atMs }) => [publisherId, atMs])
}

async function readSince(warehouse: Warehouse): Promise<number> {
  const [row] = await warehouse.rows<{ ms: number; count: number }>(
    `SELECT toUnixTimestamp64Milli(max(publisher_since)) AS ms, count() AS count FROM ad_event_key_rule`
  )
  assert.equal(row?.count, 1)
  return row.ms
}

test('repeats that come across the upgrade count once, and ads served an hour after it are told apart by publisher', async (t) => {
  const folder = aWarehouseFolder(t)
  const before = folder.open()
  const files = await knownMigrations()
  await migrate(
    before,
    files.filter((file) => file < migration)
  )
  const nowMs = Date.now()
  const old = anAd({ servedAtMs: nowMs - hourMs })
  const ahead = anAd({ servedAdId: 'b'.repeat(32), servedAtMs: nowMs + 240_000 })
  const former = createHistoryLoader(withoutColumn(before, 'data_centre_list'), 0)
  await former.ship([aClick(old, nowMs - 20), aClick(ahead, nowMs)])
  await before.close()

  const warehouse = folder.open()
  await migrate(warehouse)
  const loader = createHistoryLoader(warehouse, 0)
  await loader.ship([aClick(old, nowMs - 30), aClick(ahead, nowMs + 10)])
  await loader.ship([aClick(old, nowMs + 10)])
  const sinceMs = await readSince(warehouse)
  const fresh = anAd({ servedAdId: 'c'.repeat(32), servedAtMs: sinceMs })
  const twin = { ...fresh, publisherId: 20 }
  await loader.ship([aClick(twin, sinceMs), aClick(fresh, sinceMs + 1), aClick(twin, sinceMs + 2)])
  const parted = await Promise.all([old, ahead, fresh].map((ad) => readEvents(warehouse, ad)))
  await warehouse.command('OPTIMIZE TABLE ad_event FINAL')
  const merged = await Promise.all([old, ahead, fresh].map((ad) => readEvents(warehouse, ad)))

  assert.ok(sinceMs >= nowMs + hourMs)
  assert.deepEqual(parted, [
    [[10, nowMs - 30]],
    [[10, nowMs]],
    [
      [10, sinceMs + 1],
      [20, sinceMs],
    ],
  ])
  assert.deepEqual(merged, parted)
})

test('the upgrade may be cut off after any statement and run again, and the first run decides from when on', async (t) => {
  const warehouse = aWarehouseFolder(t).open()
  const files = await knownMigrations()
  await migrate(
    warehouse,
    files.filter((file) => file < migration)
  )
  const nowMs = Date.now()
  const ad = anAd({ servedAtMs: nowMs })
  const loader = createHistoryLoader(withoutColumn(warehouse, 'data_centre_list'), 0)
  await loader.ship([aClick(ad, nowMs + 50)])
  const url = new URL(`../../src/warehouse/migrations/${migration}`, import.meta.url)
  const statements = splitStatements(await readFile(url, 'utf8'))
  const instants = new Set<number>()

  for (const [index] of statements.entries()) {
    for (const statement of statements.slice(0, index + 1)) await warehouse.command(statement)
    // The program of before goes on shipping meanwhile.
    await loader.ship([aClick(ad, nowMs + 40 - index)])
    if (index > 0) instants.add(await readSince(warehouse))
  }
  assert.ok((await migrate(warehouse)).includes(migration))
  await loader.ship([aClick(ad, nowMs + 60)])

  assert.equal(instants.size, 1)
  assert.deepEqual(await readEvents(warehouse, ad), [[10, nowMs + 41 - statements.length]])
})

test('in a new installation ads are told apart by publisher from the first on, also after a restart', async (t) => {
  const folder = aWarehouseFolder(t)
  const first = folder.open()
  await migrate(first)
  await createHistoryLoader(first, 0).ship([aClick(thief, servedAtMs)])
  await first.close()
  const warehouse = folder.open()
  await createHistoryLoader(warehouse, 0).ship([aClick(own, servedAtMs + 1)])

  assert.equal(await readSince(warehouse), 0)
  assert.deepEqual(await readEvents(warehouse, own), [
    [10, servedAtMs + 1],
    [20, servedAtMs],
  ])
})
