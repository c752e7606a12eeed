import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { addDays, dayBounds } from '../../src/domain/day.ts'
import { Attributor } from '../../src/attribution/attribute.ts'
import { rebuildDays } from '../../src/days/rebuild.ts'
import { advanceRetention, dependencyDays, readRetention } from '../../src/days/retention.ts'
import type { CatalogNames, ReportMarket } from '../../src/catalog/catalog-names.ts'
import { readFinalDays } from '../../src/days/final-days.ts'
import { createTrafficQualityReader } from '../../src/reports/traffic-quality.ts'
import { warehouseNow } from '../../src/warehouse/instant.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { createHistoryLoader } from '../helpers/history-warehouse.ts'
import { sealDue } from '../helpers/seal-due.ts'
import { aClick, aPurchase, anAd, readFigures } from '../helpers/seal-scenario.ts'
import { openTestWarehouse } from '../helpers/test-warehouse.ts'
import { openKeptPages } from '../helpers/kept-pages.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const retentionDays = 60
const auckland: ReportMarket = { id: 1, code: 'NZ', currency: 'EUR', timeZone: 'Pacific/Auckland' }

/** The retention counts from the warehouse's day, so the scenes do too. */
async function aWorld(t: TestContext) {
  const warehouse = await openTestWarehouse(t)
  const today = (await warehouseNow(warehouse)).slice(0, 10)
  const markets = [auckland]
  const loader = createHistoryLoader(warehouse, 0, markets)
  const deps = { warehouse, markets: () => markets }
  const sealing = { ...deps, settledThroughMs: () => Date.parse(today), renewPauseMs: 0 }
  const range = { startDate: addDays(today, -200), endDate: addDays(today, -2) }
  return {
    warehouse,
    today,
    markets,
    loader,
    /** The first day that can be recomputed, and the instant at which it begins. */
    firstDay: addDays(today, dependencyDays - retentionDays),
    startMs: (day: string) => dayBounds(day, auckland.timeZone).fromMs,
    attribute: async () => {
      const attributor = new Attributor({ warehouse, settleMs: 0 })
      while ((await attributor.attributeBatch()).hasMore);
    },
    seal: () => sealDue(sealing),
    /** What was touched in the last minutes counts as touched still; this lets them pass. */
    letMinutesPass: () => warehouse.command('TRUNCATE TABLE touched_span'),
    advance: (changes: { announcedMs?: number; finalMs?: number } = {}) =>
      advanceRetention({ ...deps, retentionDays, announcedMs: 0, finalMs: 0, ...changes }),
    state: () => readRetention({ ...deps, retentionDays }),
    figures: () => readFigures(warehouse, markets, range),
    quality: async () => {
      const catalog: CatalogNames = {
        markets: () => markets,
        publishers: () => [],
        campaigns: () => [],
        adGroups: () => [],
      }
      const keptPages = openKeptPages()
      const read = createTrafficQualityReader({ warehouse, catalog: () => catalog, keptPages })
      const { signal } = new AbortController()
      const request = { ...range, page: 0, limit: 10_000 }
      const { rows } = await read({ advertiserId: 1, request, keyId: 'test', signal })
      await keptPages.close()
      return rows.map(
        (row) => `${row.date} ${row.counted} too late ${row.uncounted.get('too-late')}`
      )
    },
    counts: async () => {
      const [row] = await warehouse.rows<Record<string, number>>(
        `SELECT (SELECT count() FROM touchpoint FINAL) AS touchpoints,
          (SELECT count() FROM ad_event FINAL) AS events,
          (SELECT count() FROM delivery FINAL) AS deliveries,
          (SELECT count() FROM attribution FINAL) AS attributions,
          (SELECT count() FROM intake_event FINAL) AS intake`
      )
      return row
    },
  }
}

const day = (line: string) => line.slice(0, 10)

type World = Awaited<ReturnType<typeof aWorld>>

/** A click of an ad served 7 days before it, and exactly 14 days later the purchase. */
function aJourney(letter: string, purchasedAtMs: number) {
  const clickedAtMs = purchasedAtMs - 14 * dayMs
  const servedAtMs = clickedAtMs - 7 * dayMs
  const ad = anAd({ servedAdId: letter.repeat(32), servedAtMs, gtin: `sku-${letter}` })
  const purchase = aPurchase({
    atMs: purchasedAtMs,
    transactionId: letter,
    deliveryId: letter.repeat(32),
  })
  const lines = purchase.lines.map((line) => ({ ...line, gtin: `sku-${letter}` }))
  return [aClick(ad, clickedAtMs), { ...purchase, lines }]
}

async function anOldHistory(world: World): Promise<void> {
  const { loader, firstDay, startMs, today } = world
  await loader.ship([
    ...aJourney('1', Date.parse(addDays(today, -120))),
    ...aJourney('2', startMs(firstDay) - 1),
    ...aJourney('3', startMs(firstDay)),
    ...aJourney('4', Date.parse(addDays(today, -5))),
  ])
  await world.attribute()
  await world.seal()
  await world.letMinutesPass()
}

/** In the tables without partitions. */
async function anOldSpanAndRefusal(warehouse: Warehouse): Promise<void> {
  await warehouse.command(
    `INSERT INTO touched_span SELECT now() - toIntervalDay(130), now() - toIntervalDay(129), 1,
       toDateTime64('2020-01-01 00:00:00', 6, 'UTC')`
  )
  await warehouse.command(
    `INSERT INTO set_aside (key, set_aside_at, reason, record) SELECT 'key', now64(6) - toIntervalDay(150), 'reason',
       '{"type":"conversion","publisherId":10,"receivedAtMs":1600000000000}'`
  )
}

test('reports say the same before and after dropping, and the first day left can be rebuilt to the figure', async (t) => {
  const world = await aWorld(t)
  const { warehouse, firstDay } = world
  await anOldHistory(world)
  const before = await world.figures()
  const kept = await world.counts()
  await anOldSpanAndRefusal(warehouse)

  await Promise.all([world.advance(), world.advance()])
  await world.advance()

  const after = await world.counts()
  assert.deepEqual(await readFinalDays(warehouse), {
    announcedBefore: firstDay,
    finalBefore: firstDay,
  })
  assert.equal(before.filter((line) => line.includes('conversions 1 units 2 value 20')).length, 4)
  assert.ok((kept?.['events'] ?? 0) > (after?.['events'] ?? 0))
  assert.ok((kept?.['touchpoints'] ?? 0) > (after?.['touchpoints'] ?? 0))
  assert.ok((kept?.['deliveries'] ?? 0) > (after?.['deliveries'] ?? 0))
  assert.ok((kept?.['attributions'] ?? 0) > (after?.['attributions'] ?? 0))
  assert.deepEqual(await world.figures(), before)
  assert.deepEqual(
    await warehouse.rows(
      `SELECT (SELECT count() FROM touched_span) AS spans, (SELECT count() FROM set_aside) AS aside,
         (SELECT count() FROM intake_set_aside) AS intake`
    ),
    [{ spans: 0, aside: 0, intake: 0 }]
  )

  await warehouse.command('TRUNCATE TABLE attribution')
  const rebuilt = await rebuildDays({ warehouse, firstDay, lastDay: addDays(firstDay, 40) })
  const refused = await rebuildDays({
    warehouse,
    firstDay: addDays(firstDay, -1),
    lastDay: firstDay,
  })
  await world.attribute()
  await world.seal()

  assert.equal(rebuilt.kind, 'requested')
  assert.deepEqual(refused, { kind: 'final', finalBefore: firstDay })
  assert.deepEqual(await world.figures(), before)
  world.markets.push({ id: 2, code: 'DE', currency: 'EUR', timeZone: 'Europe/Berlin' })
  assert.deepEqual(
    (await world.figures()).slice(0, 6).map((line) => line.replace(/ (open|sealed)/u, '')),
    before.slice(0, 6).map((line) => line.replace(/ (open|sealed)/u, ''))
  )
})

test('what arrives for a final day is kept as too late and changes no figure; the next millisecond counts', async (t) => {
  const world = await aWorld(t)
  const { warehouse, firstDay, startMs, loader } = world
  await anOldHistory(world)
  await world.advance()
  const before = await world.figures()

  const startsAtMs = startMs(firstDay)
  const late = anAd({ servedAdId: 'a'.repeat(32), servedAtMs: startsAtMs - hourMs })
  const early = anAd({ servedAdId: 'b'.repeat(32), servedAtMs: startsAtMs - hourMs })
  // The day begins later in UTC, where events of unknown markets have their days.
  const utcMs = Date.parse(firstDay)
  await loader.ship([
    aClick(late, startsAtMs - 1),
    aClick(late, startsAtMs - 1),
    aClick(early, startsAtMs),
    aPurchase({ atMs: utcMs - 1, transactionId: 'late', deliveryId: 'e'.repeat(32) }),
    aPurchase({ atMs: utcMs, transactionId: 'counted', deliveryId: 'f'.repeat(32) }),
  ])
  await world.attribute()
  await world.seal()
  await world.letMinutesPass()
  await world.advance()

  const deliveries = await warehouse.rows<{ id: string; verdict: string }>(
    `SELECT transaction_id AS id, toString(verdict) AS verdict FROM delivery FINAL
     WHERE transaction_id IN ('late', 'counted') ORDER BY id`
  )
  assert.deepEqual(deliveries, [
    { id: 'counted', verdict: 'valid' },
    { id: 'late', verdict: 'too-late' },
  ])
  assert.ok((await world.quality()).includes(`${addDays(firstDay, -1)} 0 too late 1`))
  const after = await world.figures()
  assert.deepEqual(
    after.filter((line) => day(line) < firstDay),
    before.filter((line) => day(line) < firstDay)
  )
  assert.ok(
    after.some((line) => day(line) === firstDay && line.includes(' 0/0/1 conversions 1 units 2'))
  )
})

test('nothing is dropped while the sealer is behind, and the state names the day that is waited for', async (t) => {
  const world = await aWorld(t)
  const { loader, today, warehouse } = world
  await loader.ship(aJourney('1', Date.parse(addDays(today, -120))))
  await world.attribute()
  const before = await world.counts()

  await world.advance()

  assert.deepEqual(await world.counts(), before)
  assert.deepEqual(await readFinalDays(warehouse), { announcedBefore: null, finalBefore: null })
  const state = await world.state()
  assert.equal(state.finalBefore, null)
  assert.ok(state.waitsForDay !== null && state.waitsForDay < addDays(today, -120))
})

test('a day that was announced is sealed again before it is final, and only then are its events dropped', async (t) => {
  const world = await aWorld(t)
  const { firstDay, warehouse } = world
  await anOldHistory(world)
  const before = await world.counts()
  await world.advance({ announcedMs: hourMs })
  // A batch that was planned before the announcement becomes visible after it.
  const planned = createHistoryLoader(warehouse, 0)
  await warehouse.command('RENAME TABLE final_before TO final_before_away')
  await warehouse.command('CREATE TABLE final_before AS final_before_away')
  const atMs = Date.parse(addDays(firstDay, -2))
  await planned.ship([aClick(anAd({ servedAdId: 'c'.repeat(32), servedAtMs: atMs }), atMs)])
  await warehouse.command('DROP TABLE final_before')
  await warehouse.command('RENAME TABLE final_before_away TO final_before')

  await world.advance()
  const touched = await readFinalDays(warehouse)
  await world.seal()
  await world.letMinutesPass()
  await world.advance({ finalMs: hourMs })
  const waiting = await world.counts()
  await world.advance()

  assert.deepEqual(touched, { announcedBefore: firstDay, finalBefore: null })
  assert.equal((await readFinalDays(warehouse)).finalBefore, firstDay)
  assert.equal(waiting?.['events'], (before?.['events'] ?? 0) + 1)
  assert.ok(((await world.counts())?.['events'] ?? 0) < (waiting?.['events'] ?? 0))
  assert.ok((await world.figures()).some((line) => line.startsWith(addDays(firstDay, -2))))
  assert.equal((await world.state()).waitsForDay, null)
})

test('an attribution that was frozen outlives those around it', async (t) => {
  const world = await aWorld(t)
  const { warehouse, loader, today } = world
  const oldMs = Date.parse(addDays(today, -120))
  await loader.ship([...aJourney('1', oldMs), ...aJourney('5', oldMs)])
  await world.attribute()
  await warehouse.command(
    `INSERT INTO attribution SELECT * REPLACE (toUInt8(1) AS is_frozen, now64(6) AS read_at)
     FROM attribution FINAL WHERE transaction_id = '5'`
  )
  await world.seal()
  await world.letMinutesPass()

  await world.advance()
  await world.advance()

  const left = await warehouse.rows<{ id: string; frozen: number }>(
    'SELECT transaction_id AS id, is_frozen AS frozen FROM attribution FINAL'
  )
  assert.deepEqual(left, [{ id: '5', frozen: 1 }])
})
