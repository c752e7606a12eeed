import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import type { ReportRequest } from '../../src/contract/report-request.ts'
import { sumNextSpan } from '../../src/days/sum-spans.ts'
import { readReportDays } from '../../src/days/sealed-days.ts'
import { coverWithSpans, readSpans } from '../../src/days/sealed-spans.ts'
import { createSeriesReader } from '../../src/reports/series.ts'
import { migrate } from '../../src/warehouse/migrate.ts'
import { aClick, aPurchase, aWorld, anAd } from '../helpers/seal-scenario.ts'
import type { World } from '../helpers/seal-scenario.ts'

const newYork = { id: 2, code: 'US', currency: 'EUR', timeZone: 'America/New_York' }
/** 3 March in Berlin, still 2 March in New York. */
const boughtAtMs = Date.UTC(2026, 2, 2, 23, 30)
const coffee = '4006381333931'
const tea = '4006381333948'

const asked: ReportRequest = {
  filters: [],
  startDate: '2026-03-01',
  endDate: '2026-03-12',
  attributionProfile: 'CLK_14_DAYS',
  page: 0,
  limit: 10,
  sortType: 'ASC',
  dateBreakdown: false,
  orderBy: 'GTIN',
}

/** `day orders/conversions`, and last the total. */
async function orders({ warehouse, markets }: World, changes: Partial<ReportRequest> = {}) {
  const catalog = {
    markets: () => markets,
    publishers: () => [],
    campaigns: () => [],
    adGroups: () => [],
  }
  const read = createSeriesReader({ warehouse, catalog: () => catalog })
  const { signal } = new AbortController()
  const { days, totals } = await read({
    advertiserId: 1,
    request: { ...asked, interval: 'DAY', ...changes },
    signal,
  })
  return [
    ...days.map((one) => `${one.day} ${one.orders}/${one.conversions}`),
    ...totals.map((one) => `all ${one.orders}/${one.conversions}`),
  ]
}

function line(gtin: string) {
  return { gtin, groupId: '', brand: '', price: 10, quantity: 1 }
}

/** One order of two lines: the first is credited in New York, the second in Berlin. */
async function twoMarkets(t: TestContext): Promise<World> {
  const world = await aWorld(t)
  world.markets.push(newYork)
  const atMs = boughtAtMs - 7_200_000
  const here = anAd({ servedAtMs: atMs, gtin: coffee })
  const there = anAd({ servedAdId: 'b'.repeat(32), servedAtMs: atMs, gtin: tea, marketId: 2 })
  await world.loader.ship([
    aClick(here, atMs),
    aClick(there, atMs),
    { ...aPurchase({ atMs: boughtAtMs }), lines: [line(tea), line(coffee)] },
  ])
  return world
}

test('an order counts once, on the day and in the market of its first credited line, on open days and on sealed ones', async (t) => {
  const world = await twoMarkets(t)
  await world.attribute()
  const open = await orders(world)
  await world.settle()

  assert.deepEqual(open, ['2026-03-02 1/1', '2026-03-03 0/1', 'all 1/2'])
  assert.deepEqual(await orders(world), open)
  // A range holds the orders of its days and no others.
  assert.deepEqual(await orders(world, { startDate: '2026-03-03' }), ['2026-03-03 0/1', 'all 0/1'])
})

test('with filters an order counts where its first line stands that passes them', async (t) => {
  const world = await twoMarkets(t)
  await world.settle()
  const withFilter = (field: 'MARKET' | 'GTIN' | 'BRAND', value: string) =>
    orders(world, { filters: [{ field, values: [value] }] })

  // The click of 2 March makes a row of that day.
  const inBerlin = ['2026-03-02 0/0', '2026-03-03 1/1', 'all 1/1']
  assert.deepEqual(await withFilter('MARKET', 'DE'), inBerlin)
  assert.deepEqual(await withFilter('GTIN', coffee), inBerlin)
  assert.deepEqual(await withFilter('MARKET', 'US'), ['2026-03-02 1/1', 'all 1/1'])
  assert.deepEqual(await withFilter('BRAND', 'Acme'), [])
})

test('with filters there are no orders of days whose attributions are dropped', async (t) => {
  const world = await twoMarkets(t)
  await world.settle()
  await world.warehouse.command(
    `INSERT INTO final_before (day, state, written_at) VALUES ('2026-03-03', 'final', now64(6))`
  )
  const filters = [{ field: 'GTIN', values: [coffee, tea] }] as const

  assert.deepEqual(await orders(world, { filters }), [
    '2026-03-02 null/1',
    '2026-03-03 0/1',
    'all null/2',
  ])
  assert.deepEqual(await orders(world), ['2026-03-02 1/1', '2026-03-03 0/1', 'all 1/2'])
})

const added = [
  ...['product_day', 'product_span'].flatMap((table) =>
    ['click_orders', 'view_orders', 'best_orders'].map((column) => [table, column] as const)
  ),
  ['sealed_day', 'rollup_version'] as const,
  ['sealed_span', 'rollup_version'] as const,
]

/** As the program of before the orders left it. */
async function takeBack({ warehouse }: World): Promise<void> {
  for (const [table, column] of added) {
    await warehouse.command(`ALTER TABLE ${table} DROP COLUMN ${column}`)
  }
  await forget(warehouse)
}

async function forget(warehouse: World['warehouse']): Promise<void> {
  await warehouse.command(`DELETE FROM migration WHERE name = '0012-orders.sql'`)
}

async function sumAll(world: World): Promise<void> {
  while (await sumNextSpan({ ...world, markets: () => world.markets, settledMs: 0 }));
}

/** One a market: the unknown ones have no events, so none of their days is sealed. */
async function countSpans({ warehouse, markets }: World): Promise<number> {
  const { startDate, endDate } = asked
  const days = await readReportDays(warehouse, markets, { startDate, endDate })
  const stored = await readSpans(warehouse, { first: startDate, last: endDate })
  return coverWithSpans(days.seals, stored).spans.length
}

test('days that were sealed before orders were counted have none until they are sealed again; final days never have', async (t) => {
  const world = await twoMarkets(t)
  await world.settle()
  await sumAll(world)
  await takeBack(world)
  assert.deepEqual(await migrate(world.warehouse), ['0012-orders.sql'])
  await forget(world.warehouse)
  assert.deepEqual(await migrate(world.warehouse), ['0012-orders.sql'])

  assert.deepEqual(await orders(world), ['2026-03-02 null/1', '2026-03-03 null/1', 'all null/2'])
  assert.equal(await countSpans(world), 2)
  await world.warehouse.command(
    `INSERT INTO final_before (day, state, written_at) VALUES ('2026-03-03', 'final', now64(6))`
  )
  await world.settle()
  assert.deepEqual(await orders(world), ['2026-03-02 null/1', '2026-03-03 0/1', 'all null/2'])
  await sumAll(world)
  assert.equal(await countSpans(world), 2)
})

test('what a node that still runs the program of before seals and sums is done again', async (t) => {
  const world = await twoMarkets(t)
  await world.settle()
  await world.warehouse.command(
    `INSERT INTO product_day SELECT * REPLACE (revision + 1 AS revision, 0 AS click_orders) FROM product_day`
  )
  await world.warehouse.command(
    `INSERT INTO sealed_day SELECT * REPLACE (revision + 1 AS revision, addMicroseconds(read_at, 1) AS read_at, 0 AS rollup_version) FROM sealed_day`
  )
  const before = await orders(world)
  await world.settle()
  await sumAll(world)
  await world.warehouse.command(
    `INSERT INTO sealed_span SELECT * REPLACE (revision + 1 AS revision, addMicroseconds(read_at, 1) AS read_at, 0 AS rollup_version) FROM sealed_span`
  )

  assert.deepEqual(before, ['2026-03-02 null/1', '2026-03-03 null/1', 'all null/2'])
  assert.deepEqual(await orders(world), ['2026-03-02 1/1', '2026-03-03 0/1', 'all 1/2'])
  assert.equal(await countSpans(world), 0)
  await sumAll(world)
  assert.equal(await countSpans(world), 2)
})
