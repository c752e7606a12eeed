import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { jsonReport, jsonSeries } from '../../src/campaign/operations/report/print.ts'
import type { ReportRequest } from '../../src/contract/report-request.ts'
import { dayOf } from '../../src/domain/day.ts'
import { parseDecimal } from '../../src/domain/money.ts'
import { Attributor } from '../../src/attribution/attribute.ts'
import { sealBatch } from '../../src/days/seal.ts'
import { sumNextSpan } from '../../src/days/sum-spans.ts'
import type { ReportMarket } from '../../src/catalog/catalog-names.ts'
import { KeptPages } from '../../src/reports/kept-pages.ts'
import { createReportRunner } from '../../src/reports/run-report.ts'
import { createSeriesReader } from '../../src/reports/series.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { createHistoryLoader, partsOf } from '../helpers/history-warehouse.ts'
import type { HistoryAd } from '../helpers/history.ts'
import { createMonth, monthMarkets } from '../helpers/month.ts'
import { referenceReport, type ReferenceRow } from '../helpers/reference-attribution.ts'
import { anAd } from '../helpers/seal-scenario.ts'
import { openTestWarehouse } from '../helpers/test-warehouse.ts'
import { aReportRequest } from '../helpers/report-request.ts'

const seed = Number(process.env['SHELFTRACE_TEST_SEED'] ?? Date.now() % 1_000_000)
const profiles = ['CLK_14_DAYS', 'IMP_1_DAY', 'IMP_1_DAY_CLK_14_DAYS'] as const
const counts = ['IMPRESSIONS', 'CLICKS', 'UNITS_SOLD'] as const
const amounts = ['CONVERSION_VALUE', 'AD_SPEND_REVENUE'] as const

const march = aReportRequest({ endDate: '2026-04-01' })

type Row = Readonly<Record<string, string | null>>

/** What an advertiser reads of a warehouse: the rows of all pages, the totals of each, and the series. */
function openReader(t: TestContext, warehouse: Warehouse, markets: readonly ReportMarket[]) {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-kept-'))
  const keptPages = new KeptPages({ folder, clock: Date.now })
  t.after(() => keptPages.close())
  const names = {
    markets: () => markets,
    publishers: () => [],
    campaigns: () => [],
    adGroups: () => [],
  }
  const run = createReportRunner({ warehouse, catalog: () => names, keptPages })
  const readSeries = createSeriesReader({ warehouse, catalog: () => names })
  const { signal } = new AbortController()
  return {
    async readPages(request: ReportRequest) {
      const rows: Row[] = []
      const totals: Row[] = []
      for (let page = 0; ; page += 1) {
        const asked = { ...request, page }
        const result = await run({ advertiserId: 1, request: asked, keyId: 'test', signal })
        const report = jsonReport(result, asked)
        rows.push(...report.rows)
        totals.push(...report.totals)
        if (rows.length >= report.totalRows) return { rows, totals }
      }
    },
    readSeries: async (request: ReportRequest) =>
      jsonSeries(
        await readSeries({ advertiserId: 1, request: { ...request, interval: 'DAY' }, signal })
      ),
  }
}

/** Per currency the sum of each figure, in nanos. */
function sumUp(rows: readonly Row[]) {
  const sums: Record<string, Record<string, bigint>> = {}
  for (const row of rows) {
    const own = (sums[row['CURRENCY'] ?? ''] ??= {})
    for (const name of [...counts, ...amounts]) {
      own[name] = (own[name] ?? 0n) + (parseDecimal(row[name] ?? '', 9) ?? assert.fail(name))
    }
  }
  return sums
}

const settledThroughMs = () => Date.UTC(2026, 3, 2, 12)

async function seal(warehouse: Warehouse, markets: readonly ReportMarket[]): Promise<void> {
  while ((await sealBatch({ warehouse, markets: () => markets, settledThroughMs })).hasMore);
}

test('totals of reports and series are the sums of their rows and of the events, in every profile, by day and not, from events, sealed days, weeks and months', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const warehouse = await openTestWarehouse(t)
  const month = createMonth(seed)
  const markets = monthMarkets
  await createHistoryLoader(warehouse, 0, markets).ship(partsOf(month))
  const attributor = new Attributor({ warehouse, settleMs: 0 })
  while ((await attributor.attributeBatch()).hasMore);
  const reader = openReader(t, warehouse, markets)
  const expected = (profile: (typeof profiles)[number]) => {
    const rows = markets.map(({ id, currency, timeZone }) => ({
      currency,
      rows: referenceReport(month, {
        profile,
        advertiserId: 1,
        dayOf: (_market, ms) => dayOf(ms, timeZone),
        fromDay: march.startDate,
        toDay: march.endDate,
        dateBreakdown: false,
        isShown: (ad: HistoryAd) => ad.marketId === id,
      }),
    }))
    return sumReference(rows)
  }
  // Over the three rounds each profile is read by day and not, and in one page and in many.
  const compare = async (what: string, round: number) => {
    for (const [index, attributionProfile] of profiles.entries()) {
      const sums = expected(attributionProfile)
      const request = { ...march, attributionProfile }
      const series = await reader.readSeries(request)
      const dateBreakdown = (index + round) % 2 === 0
      const limit = index === round ? 97 : 10_000
      const { rows, totals } = await reader.readPages({ ...request, dateBreakdown, limit })
      assert.deepEqual(sumUp(rows), sums, `rows, ${what}`)
      assert.deepEqual(sumUp(totals), sums, `totals, ${what}`)
      assert.deepEqual(sumUp(series.totals), sums, `totals of the series, ${what}`)
      assert.deepEqual(sumUp(series.days), sums, `days of the series, ${what}`)
    }
  }

  await compare('open', 0)
  await seal(warehouse, markets)
  await compare('sealed', 1)
  while (await sumNextSpan({ warehouse, markets: () => markets, settledMs: 0 }));
  await compare('in weeks and months', 2)
})

interface Reference {
  readonly currency: string
  readonly rows: readonly ReferenceRow[]
}

function sumReference(reports: readonly Reference[]) {
  const printed = reports.map(({ currency, rows }) =>
    rows.map((row) => ({
      CURRENCY: currency,
      IMPRESSIONS: String(row.impressions),
      CLICKS: String(row.clicks),
      UNITS_SOLD: String(row.unitsSold),
      CONVERSION_VALUE: decimal(row.conversionValueNanos),
      AD_SPEND_REVENUE: decimal(row.adSpendNanos),
    }))
  )
  return sumUp(printed.flat())
}

function decimal(nanos: bigint): string {
  const digits = String(nanos).padStart(10, '0')
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`
}

const berlin = monthMarkets[0]

const spendOf = (rows: readonly Row[]) => rows.map((row) => row['AD_SPEND_REVENUE'])

test('2,000 views at 4.00 a thousand on as many products cost 8.00 in every total', async (t) => {
  const warehouse = await openTestWarehouse(t)
  const loader = createHistoryLoader(warehouse, 0, [berlin])
  const atMs = Date.UTC(2026, 2, 10, 12)
  await loader.ship(
    Array.from({ length: 2_000 }, (_, index) => {
      const ad = anAd({
        servedAdId: index.toString(16).padStart(32, '0'),
        servedAtMs: atMs,
        gtin: `sku-${index}`,
        costPerMilleMicros: 4_000_000n,
      })
      return { ad, kind: 'impression', receivedAtMs: atMs, userAgent: '', prefetch: false }
    })
  )
  const reader = openReader(t, warehouse, [berlin])
  const request = { ...march, limit: 1_000 }
  const compare = async () => {
    const series = await reader.readSeries(request)
    const { rows, totals } = await reader.readPages(request)
    assert.deepEqual(new Set(spendOf(rows)), new Set(['0.004000000']))
    assert.deepEqual(spendOf(totals), ['4.00', '4.00'])
    assert.equal(sumUp(rows)['EUR']?.['AD_SPEND_REVENUE'], 8_000_000_000n)
    assert.deepEqual([spendOf(series.totals), spendOf(series.days)], [['8.00'], ['8.00']])
  }

  await compare()
  await seal(warehouse, [berlin])
  await compare()
})
