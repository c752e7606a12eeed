import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { Conversions } from '../../src/reports/conversions.ts'
import type { ReportRequest } from '../../src/contract/report-request.ts'
import { parseGroupRequest } from '../../src/contract/group-request.ts'
import { createGroupsRunner } from '../../src/reports/run-groups.ts'
import { createReportRunner } from '../../src/reports/run-report.ts'
import { createSeriesReader } from '../../src/reports/series.ts'
import { createSummaryReader } from '../../src/reports/summary.ts'
import type { Params, Warehouse } from '../../src/warehouse/warehouse.ts'
import { openKeptPages } from '../helpers/kept-pages.ts'
import { aReportRequest } from '../helpers/report-request.ts'
import { aClick, aPurchase, aWorld, anAd } from '../helpers/seal-scenario.ts'
import type { World } from '../helpers/seal-scenario.ts'

const day2Ms = Date.UTC(2026, 2, 2, 12)
const nothing = () => []
const hourMs = 3_600_000

async function loadRate({ warehouse }: World, day: string): Promise<void> {
  await warehouse.command(`INSERT INTO rate VALUES ('USD', {day:Date}, 2, 1)`, { day })
}

function aCatalog({ markets }: World) {
  return { markets: () => markets, publishers: nothing, campaigns: nothing, adGroups: nothing }
}

/** Reads the report of open days, and counts its statements that give rows. */
function aReader(t: TestContext, world: World) {
  let streamCount = 0
  const warehouse: Warehouse = {
    ...world.warehouse,
    stream(sql, params, signal) {
      streamCount += 1
      return world.warehouse.stream(sql, params, signal)
    },
  }
  const keptPages = openKeptPages()
  t.after(() => keptPages.close())
  const run = createReportRunner({ warehouse, catalog: () => aCatalog(world), keptPages })
  return async (advertiserId = 1, changes: Partial<ReportRequest> = {}) => {
    streamCount = 0
    const { rows, unconvertedCount } = await run({
      advertiserId,
      keyId: 'test',
      signal: new AbortController().signal,
      request: aReportRequest({ endDate: '2026-03-12', ...changes }),
    })
    const figures = rows.map((row) => `${row.clicks} ${row.adSpendRevenue} ${row.conversionValue}`)
    return { figures, unconvertedCount, streamCount }
  }
}

test('amounts of open days are converted by the first statement that is known to need it', async (t) => {
  const world = await aWorld(t)
  const inDollars = anAd({ currency: 'USD', servedAdId: 'b'.repeat(32) })
  await world.loader.ship([
    aClick(anAd(), day2Ms),
    aClick(inDollars, day2Ms + hourMs),
    aPurchase({ atMs: day2Ms + 2 * hourMs, currency: 'USD', price: 10, quantity: 2 }),
  ])
  await world.attribute()
  await loadRate(world, '2026-03-02')
  const read = aReader(t, world)

  const first = await read()
  const second = await read()

  // A dollar is half a euro: 0.25 + 0.125, and 20 dollars.
  assert.deepEqual(first, {
    figures: ['2 0.375000000 10.00'],
    unconvertedCount: 0,
    streamCount: 2,
  })
  assert.deepEqual(second, { ...first, streamCount: 1 })
})

test('so are those of the report by day and of a series, and of days in which nothing needs a rate', async (t) => {
  const world = await aWorld(t)
  const inDollars = anAd({ currency: 'USD', servedAdId: 'b'.repeat(32) })
  const plain = anAd({
    servedAdId: 'c'.repeat(32),
    advertiserId: 2,
    campaignId: 21,
    adGroupId: 211,
  })
  await world.loader.ship([
    aClick(anAd(), day2Ms),
    aClick(inDollars, day2Ms + hourMs),
    aPurchase({ atMs: day2Ms + 2 * hourMs, currency: 'USD', price: 10, quantity: 2 }),
    aClick(plain, day2Ms + 3 * hourMs),
  ])
  await world.attribute()
  await loadRate(world, '2026-03-02')
  const read = aReader(t, world)
  const readSeries = createSeriesReader({ ...world, catalog: () => aCatalog(world) })
  const seriesOf = async (advertiserId: number) => {
    const request = { ...aReportRequest({ endDate: '2026-03-12' }), interval: 'DAY' as const }
    const { signal } = new AbortController()
    const { days, unconvertedCount } = await readSeries({ advertiserId, request, signal })
    const figures = days.map((day) => [
      day.day,
      day.clicks,
      day.orders,
      day.spendNanos,
      day.valueNanos,
    ])
    return { figures, unconvertedCount }
  }

  const first = await read(1, { dateBreakdown: true })
  const second = await read(1, { dateBreakdown: true })
  const other = await read(2, { dateBreakdown: true })

  const figures = ['2 0.375000000 10.00']
  assert.deepEqual(first, { figures, unconvertedCount: 0, streamCount: 2 })
  assert.deepEqual(second, { ...first, streamCount: 1 })
  assert.deepEqual(other, { figures: ['1 0.25 0.00'], unconvertedCount: 0, streamCount: 1 })
  const inSeries = {
    figures: [['2026-03-02', 2n, 1n, 375_000_000n, 10_000_000_000n]],
    unconvertedCount: 0,
  }
  assert.deepEqual(await seriesOf(1), inSeries)
  assert.deepEqual(await seriesOf(1), inSeries)
  assert.deepEqual(await seriesOf(2), {
    figures: [['2026-03-02', 1n, 0n, 250_000_000n, 0n]],
    unconvertedCount: 0,
  })
})

test('sums in one currency read its rates once, also where a second statement converts their amounts', async (t) => {
  const world = await aWorld(t)
  await world.loader.ship([aClick(anAd({ currency: 'USD' }), day2Ms)])
  await loadRate(world, '2026-03-02')
  const statements: string[] = []
  const warehouse: Warehouse = {
    ...world.warehouse,
    rows<Row>(sql: string, params?: Params) {
      statements.push(sql)
      return world.warehouse.rows<Row>(sql, params)
    },
  }
  const readSeries = createSeriesReader({ warehouse, catalog: () => aCatalog(world) })
  const request = {
    ...aReportRequest({ endDate: '2026-03-12' }),
    interval: 'DAY',
    convertTo: 'USD',
  } as const
  const { signal } = new AbortController()

  const { totals } = await readSeries({ advertiserId: 1, request, signal })

  assert.equal(totals[0]?.spendNanos, 125_000_000n)
  assert.equal(statements.filter((sql) => sql.includes('targetSpend')).length, 2)
  // Those of the days that are not sealed, and those of the target.
  assert.equal(statements.filter((sql) => sql.includes('FROM rate FINAL')).length, 2)
})

test('groups convert what the rows convert, with the same two statements', async (t) => {
  const world = await aWorld(t)
  const inDollars = anAd({ currency: 'USD', servedAdId: 'b'.repeat(32), gtin: '4006381333948' })
  await world.loader.ship([aClick(anAd(), day2Ms), aClick(inDollars, day2Ms + hourMs)])
  await loadRate(world, '2026-03-02')
  const keptPages = openKeptPages()
  t.after(() => keptPages.close())
  const run = createGroupsRunner({ ...world, catalog: () => aCatalog(world), keptPages })
  const parsed = parseGroupRequest({
    startDate: '2026-03-01',
    endDate: '2026-03-12',
    groupBy: ['CAMPAIGN'],
  })
  assert.ok(parsed.ok)
  const { signal } = new AbortController()

  for (let time = 0; time < 2; time += 1) {
    const { rows, sums } = await run({ advertiserId: 1, keyId: 'k', request: parsed.value, signal })
    assert.deepEqual(
      rows.map((row) => [row.clicks, row.adSpendRevenue]),
      [['2', '0.375000000']]
    )
    assert.equal(sums?.[0]?.spendNanos, 375_000_000n)
  }
})

test('without a rate that is young enough they are told as unconverted, and with none at once', async (t) => {
  const world = await aWorld(t)
  const inDollars = anAd({ currency: 'USD', servedAdId: 'b'.repeat(32) })
  await world.loader.ship([aClick(anAd(), day2Ms), aClick(inDollars, day2Ms + hourMs)])
  const read = aReader(t, world)

  const none = await read()
  // After the click, but within the days asked for.
  await loadRate(world, '2026-03-05')
  const tooLate = await read()

  assert.deepEqual(none, { figures: ['2 0.25 0.00'], unconvertedCount: 1, streamCount: 1 })
  assert.deepEqual(tooLate, { ...none, streamCount: 2 })
})

test('the totals of each currency say how many amounts are missing from them, in series and overviews', async (t) => {
  const world = await aWorld(t)
  world.markets.push({ id: 2, code: 'JP', currency: 'JPY', timeZone: 'Asia/Tokyo' })
  const inDollars = anAd({ currency: 'USD', servedAdId: 'b'.repeat(32) })
  const inTokyo = anAd({ currency: 'JPY', servedAdId: 'c'.repeat(32), marketId: 2 })
  await world.loader.ship([
    aClick(anAd(), day2Ms),
    aClick(inDollars, day2Ms + hourMs),
    aClick(inTokyo, day2Ms + hourMs),
  ])
  const deps = { ...world, catalog: () => aCatalog(world) }
  const request = { ...aReportRequest({ endDate: '2026-03-12' }), interval: 'DAY' as const }
  const { signal } = new AbortController()
  const missing = async () => {
    const series = await createSeriesReader(deps)({ advertiserId: 1, request, signal })
    const asked = { ...request, comparison: null, trendDays: 0, convertTo: null }
    const readSummary = createSummaryReader(deps)
    const summary = await readSummary({ advertiserIds: [1], request: asked, signal })
    return [series.totals, summary.advertisers.get(1)?.totals ?? []].map((totals) =>
      totals.map(({ currency, unconvertedCount }) => `${currency} ${unconvertedCount}`)
    )
  }

  const expected = ['EUR 1', 'JPY 0']
  assert.deepEqual(await missing(), [expected, expected])
  await world.settle()
  assert.deepEqual(await missing(), [expected, expected])
})

test('a report of one currency is one statement, whatever rates there are', async (t) => {
  const world = await aWorld(t)
  await world.loader.ship([aClick(anAd(), day2Ms)])
  await loadRate(world, '2026-03-02')
  const read = aReader(t, world)

  assert.deepEqual(await read(), { figures: ['1 0.25 0.00'], unconvertedCount: 0, streamCount: 1 })
  assert.deepEqual(await read(2), { figures: [], unconvertedCount: 0, streamCount: 1 })
})

test('an advertiser that needed conversions is asked without them again after fifty reports', async () => {
  const conversions = new Conversions()
  const ways = async (advertiserId: number, needsConversion: boolean) => {
    const found: string[] = []
    await conversions.rows({
      advertiserId,
      rates: { currencies: ['USD'], find: () => null },
      read: async (converts) => {
        found.push(converts ? 'converted' : 'without')
        return []
      },
      countUnconverted: () => (needsConversion ? 1 : 0),
    })
    return found.join(' ')
  }

  assert.equal(await ways(1, true), 'without converted')
  const later: string[] = []
  for (let report = 0; report < 52; report += 1) later.push(await ways(1, false))
  assert.equal(later.indexOf('without'), 50)
  assert.equal(await ways(2, false), 'without')
  assert.equal(await ways(2, false), 'without')
})
