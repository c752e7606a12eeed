import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ReportRequest } from '../../src/contract/report-request.ts'
import { dayOf } from '../../src/domain/day.ts'
import { gtinKey } from '../../src/domain/gtin.ts'
import { parseDecimal } from '../../src/domain/money.ts'
import type { CatalogNames } from '../../src/catalog/catalog-names.ts'
import { KeptPages } from '../../src/reports/kept-pages.ts'
import type { ReportRow } from '../../src/reports/report.ts'
import { Attributor } from '../../src/attribution/attribute.ts'
import { rebuildDays } from '../../src/days/rebuild.ts'
import { sealBatch } from '../../src/days/seal.ts'
import { sumNextSpan } from '../../src/days/sum-spans.ts'
import type { History, HistoryAd } from '../helpers/history.ts'
import { createReportRunner } from '../../src/reports/run-report.ts'
import type { CurrencySums, CurrencyTotals } from '../../src/reports/report.ts'
import { createSeriesReader } from '../../src/reports/series.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { compareAttribution } from '../helpers/compare-attribution.ts'
import { referenceReport } from '../helpers/reference-attribution.ts'
import type { ReferenceRow, ReportOptions } from '../helpers/reference-attribution.ts'
import { compiledEarly, openTestWarehouse } from '../helpers/test-warehouse.ts'

const seed = Number(process.env['SHELFTRACE_TEST_SEED'] ?? Date.now() % 1_000_000)
/** Each run draws others; a report of each of their advertisers is read four times. */
const historyCount = 15
/** How many of them are also read as series, with and without a filter. */
const seriesCount = 3
const profiles = ['CLK_14_DAYS', 'IMP_1_DAY', 'IMP_1_DAY_CLK_14_DAYS'] as const

// One zone ahead of UTC and one behind, both with a clock change inside the histories' weeks.
const zones = new Map([
  [1, 'Europe/Berlin'],
  [2, 'America/New_York'],
])

const catalog: CatalogNames = {
  markets: () =>
    [...zones].map(([id, timeZone]) => ({ id, code: `M${id}`, currency: 'EUR', timeZone })),
  publishers: () => [],
  campaigns: () => [],
  adGroups: () => [],
}

const baseRequest: ReportRequest = {
  filters: [],
  startDate: '2026-01-01',
  endDate: '2026-06-30',
  attributionProfile: 'IMP_1_DAY_CLK_14_DAYS',
  page: 0,
  limit: 10_000,
  sortType: 'ASC',
  dateBreakdown: false,
  orderBy: 'GTIN',
}

test('every figure of every report equals the recomputation from the events: from open days, from sealed ones, from weeks and months, and after all that is derived was deleted and rebuilt', async (t) => {
  const warehouse = await openTestWarehouse(t, compiledEarly)
  const { histories, differences } = await compareAttribution({
    warehouse,
    seed,
    historyCount,
    crowdMax: 5_000,
  })
  assert.deepEqual(differences, [])
  const open = await compareReports(warehouse, histories)
  await sealAll(warehouse)
  const [sealed] = await warehouse.rows<{ count: number }>(
    'SELECT count() AS count FROM sealed_day'
  )
  const rolledUp = await compareReports(warehouse, histories)
  while (await sumNextSpan({ warehouse, markets: () => catalog.markets(), settledMs: 0 }));
  const inSpans = await compareReports(warehouse, histories)
  await warehouse.command('TRUNCATE TABLE attribution')
  await warehouse.command('TRUNCATE TABLE product_day')
  await warehouse.command('TRUNCATE TABLE sealed_day')
  await rebuildDays({ warehouse, firstDay: '2025-12-01', lastDay: '2026-12-31' })
  const attributor = new Attributor({ warehouse, settleMs: 0, crowdMax: 5_000 })
  while ((await attributor.attributeBatch()).hasMore);
  await sealAll(warehouse)
  const rebuilt = await compareReports(warehouse, histories)

  t.diagnostic(`seed ${seed}: ${open} rows, ${sealed?.count} sealed market days`)
  assert.ok(open > 40, 'the histories give rows to compare')
  assert.ok((sealed?.count ?? 0) > 100, 'days were sealed')
  assert.deepEqual([rolledUp, inSpans, rebuilt], [open, open, open])
})

async function sealAll(warehouse: Warehouse): Promise<void> {
  const deps = {
    warehouse,
    markets: () => catalog.markets(),
    settledThroughMs: () => Date.UTC(2026, 4, 1),
  }
  while ((await sealBatch(deps)).hasMore);
}

/** Compares every report with the recomputation; the number of rows compared. */
async function compareReports(warehouse: Warehouse, histories: readonly History[]) {
  let rowCount = 0
  for (const [index, history] of histories.entries()) {
    const profile = profiles[index % profiles.length]!
    const dateBreakdown = index % 2 === 0
    // A range that cuts through the history finds days counted on the wrong side of midnight.
    const range =
      index % 4 < 2
        ? { startDate: '2026-01-01', endDate: '2026-06-30' }
        : { startDate: '2026-03-08', endDate: '2026-03-29' }
    for (const advertiserId of [history.publisherId * 10 + 1, history.publisherId * 10 + 2]) {
      const request = { ...baseRequest, ...range, attributionProfile: profile, dateBreakdown }
      const actual = await readReport(warehouse, advertiserId, request)
      const options: ReportOptions = {
        profile,
        advertiserId,
        dayOf: (marketId, ms) => dayOf(ms, zones.get(marketId) ?? 'UTC'),
        fromDay: range.startDate,
        toDay: range.endDate,
        dateBreakdown,
      }
      const expected = referenceReport(history, options)

      assert.deepEqual(actual.map(figuresOf).toSorted(), expected.map(expectedFigures).toSorted())
      if (index < seriesCount) await compareSeries(warehouse, request, { history, options })
      rowCount += actual.length
    }
  }
  return rowCount
}

async function readReport(
  warehouse: Warehouse,
  advertiserId: number,
  request: ReportRequest
): Promise<readonly ReportRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-kept-'))
  const keptPages = new KeptPages({ folder, clock: Date.now })
  const runReport = createReportRunner({ warehouse, catalog: () => catalog, keptPages })
  const signal = new AbortController().signal
  const result = await runReport({ advertiserId, request, keyId: 'test', signal })
  assert.equal(result.totalRows, result.rows.length)
  await keptPages.close()
  return result.rows
}

interface Recomputed {
  readonly history: History
  readonly options: ReportOptions
}

/** The series must be the sums of both reports' rows, and its orders those of the recomputation. */
async function compareSeries(
  warehouse: Warehouse,
  request: ReportRequest,
  { history, options }: Recomputed
) {
  const { advertiserId } = options
  const readSeries = createSeriesReader({ warehouse, catalog: () => catalog })
  const { signal } = new AbortController()
  const ask = async (filters: ReportRequest['filters']) => {
    const asked = { ...request, filters }
    const series = await readSeries({
      advertiserId,
      request: { ...asked, interval: 'DAY' },
      signal,
    })
    const byDay = await readReport(warehouse, advertiserId, { ...asked, dateBreakdown: true })
    const whole = await readReport(warehouse, advertiserId, { ...asked, dateBreakdown: false })
    const isShown = (ad: HistoryAd) => filters.length === 0 || ad.marketId === 1
    const rows = referenceReport(history, { ...options, isShown, dateBreakdown: true })
    const days = [...new Set(rows.map(({ day }) => day ?? ''))].toSorted()

    assert.deepEqual(series.days.map(withoutOrders), sumUp(byDay))
    assert.deepEqual(series.totals.map(withoutCounts), sumUp(whole))
    assert.equal(
      series.totals.reduce((sum, { unconvertedCount }) => sum + unconvertedCount, 0),
      series.unconvertedCount
    )
    assert.deepEqual(
      series.days.map((sums) => [sums.day, sums.orders]),
      days.map((day) => [day, countOrders(rows.filter((row) => row.day === day))])
    )
    assert.deepEqual(
      series.totals.map((sums) => sums.orders),
      rows.length === 0 ? [] : [countOrders(rows)]
    )
  }
  await ask([])
  await ask([{ field: 'MARKET', values: ['M1'] }])
}

function countOrders(rows: readonly ReferenceRow[]): bigint {
  return BigInt(rows.reduce((sum, row) => sum + row.orders, 0))
}

function withoutOrders({ orders: _orders, ...sums }: CurrencySums) {
  return sums
}

function withoutCounts({ unconvertedCount: _missing, ...sums }: CurrencyTotals) {
  return withoutOrders(sums)
}

function sumUp(rows: readonly ReportRow[]) {
  const sums = new Map<string, Omit<CurrencySums, 'orders'>>()
  for (const row of rows) {
    const key = `${row.date} ${row.currency}`
    const known = sums.get(key)
    sums.set(key, {
      ...(row.date === null ? {} : { day: row.date }),
      currency: row.currency,
      impressions: (known?.impressions ?? 0n) + BigInt(row.impressions),
      clicks: (known?.clicks ?? 0n) + BigInt(row.clicks),
      loads: (known?.loads ?? 0n) + BigInt(row.loads),
      conversions: (known?.conversions ?? 0n) + BigInt(row.conversions),
      unitsSold: (known?.unitsSold ?? 0n) + BigInt(row.unitsSold),
      valueNanos: (known?.valueNanos ?? 0n) + (parseDecimal(row.conversionValue, 9) ?? 0n),
      spendNanos: (known?.spendNanos ?? 0n) + (parseDecimal(row.adSpendRevenue, 9) ?? 0n),
    })
  }
  return [...sums].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, sum]) => sum)
}

function figuresOf(row: ReportRow): string {
  return [
    gtinKey(row.gtin),
    row.market,
    row.publisherId,
    row.campaignId,
    row.adGroupId,
    row.date,
    row.loads,
    row.impressions,
    row.clicks,
    row.conversions,
    row.unitsSold,
    parseDecimal(row.conversionValue, 9),
    parseDecimal(row.adSpendRevenue, 9),
  ].join(' | ')
}

function expectedFigures(row: ReferenceRow): string {
  return [
    row.gtinKey,
    `M${row.marketId}`,
    row.publisherId,
    row.campaignId,
    row.adGroupId,
    row.day,
    row.loads,
    row.impressions,
    row.clicks,
    row.conversions,
    row.unitsSold,
    row.conversionValueNanos,
    row.adSpendNanos,
  ].join(' | ')
}
