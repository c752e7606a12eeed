// The overview of many advertisers against the series of each of them.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { jsonSeries } from '../../src/campaign/operations/report/print.ts'
import { printAdvertiser } from '../../src/campaign/operations/report/summary.ts'
import { Attributor } from '../../src/attribution/attribute.ts'
import { sealBatch } from '../../src/days/seal.ts'
import { sumNextSpan } from '../../src/days/sum-spans.ts'
import { addDays } from '../../src/domain/day.ts'
import { createSeriesReader } from '../../src/reports/series.ts'
import { createSummaryReader, type SummaryCall } from '../../src/reports/summary.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { createHistoryLoader, partsOf } from '../helpers/history-warehouse.ts'
import type { History } from '../helpers/history.ts'
import { openKeptPages } from '../helpers/kept-pages.ts'
import { createMonth, monthMarkets } from '../helpers/month.ts'
import { aReportRequest } from '../helpers/report-request.ts'
import { openTestWarehouse } from '../helpers/test-warehouse.ts'

const seed = Number(process.env['SHELFTRACE_TEST_SEED'] ?? Date.now() % 1_000_000)
const profiles = ['CLK_14_DAYS', 'IMP_1_DAY', 'IMP_1_DAY_CLK_14_DAYS'] as const
const markets = () => monthMarkets
const catalog = () => ({ markets, publishers: () => [], campaigns: () => [], adGroups: () => [] })
/** The last one has no events. */
const advertiserIds = [1, 2, 3, 9]
const asker = () => ({ keyId: 'key', signal: new AbortController().signal })

/** Three advertisers, so that some purchases are credited to several of them. */
function withAdvertisers(history: History): History {
  for (const { ad } of history.events) {
    Object.assign(ad, { advertiserId: ad.adGroupId - 5_000 })
  }
  return history
}

type Question = SummaryCall['request']

function readers(t: TestContext, warehouse: Warehouse) {
  const keptPages = openKeptPages()
  t.after(() => keptPages.close())
  const deps = { warehouse, catalog, keptPages }
  const readSummary = createSummaryReader(deps)
  const readSeries = createSeriesReader(deps)
  return {
    summary: async (request: Question, ids: readonly number[] = advertiserIds) =>
      await readSummary({ ...asker(), advertiserIds: ids, request }),
    series: async (advertiserId: number, range: Partial<Question>, convertTo: string | null) => {
      const request = { ...aReportRequest(range), interval: 'DAY', convertTo } as const
      const series = await readSeries({ ...asker(), advertiserId, request })
      return jsonSeries(series, convertTo)
    },
  }
}

/**
 * One for each state of the days, each in a profile of its own: without a comparison over events, in one currency over
 * events and sealed days, and without a trend over weeks and months, of which the comparison has one too.
 */
const questions: readonly Omit<Question, 'attributionProfile'>[] = [
  {
    startDate: '2026-03-10',
    endDate: '2026-04-01',
    comparison: null,
    trendDays: 28,
    convertTo: null,
  },
  {
    startDate: '2026-03-01',
    endDate: '2026-03-30',
    comparison: { startDate: '2026-02-25', endDate: '2026-03-11' },
    trendDays: 3,
    convertTo: 'EUR',
  },
  {
    startDate: '2026-03-05',
    endDate: '2026-03-27',
    comparison: { startDate: '2026-03-02', endDate: '2026-03-10' },
    trendDays: 0,
    convertTo: null,
  },
]

const daysOf = (rows: readonly { readonly DATE: string }[], from: string) =>
  rows
    .filter(({ DATE }) => DATE >= from)
    .map((row) => {
      const all: Readonly<Record<string, unknown>> = row
      const names = ['DATE', 'IMPRESSIONS', 'CLICKS', 'LOADS', 'CONVERSION_VALUE']
      const shown = [...names, 'AD_SPEND_REVENUE', 'CURRENCY', 'ORDERS']
      return Object.fromEntries(shown.map((name) => [name, all[name]]))
    })

async function sealThrough(warehouse: Warehouse, atMs: number): Promise<void> {
  while ((await sealBatch({ warehouse, markets, settledThroughMs: () => atMs })).hasMore);
}

const noSeries = { days: [], converted: undefined }

test('the overview has the figures that series.json has for each advertiser, in every profile, from events, sealed days, weeks and months', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const warehouse = await openTestWarehouse(t)
  await createHistoryLoader(warehouse, 0, monthMarkets).ship(
    partsOf(withAdvertisers(createMonth(seed)))
  )
  const attributor = new Attributor({ warehouse, settleMs: 0 })
  while ((await attributor.attributeBatch()).hasMore);
  // The dinar has none.
  await warehouse.command(`INSERT INTO rate SELECT 'JPY', toDate('2026-02-20') + number, 150 + number / 8, 1
    FROM numbers(45)`)
  const { summary, series } = readers(t, warehouse)
  const compare = async (round: number, what: string) => {
    let orders = 0
    const question = questions[round] ?? assert.fail()
    const attributionProfile = profiles[round] ?? assert.fail()
    const { convertTo, comparison, endDate, trendDays } = question
    const result = await summary({ ...question, attributionProfile })
    assert.deepEqual([...result.advertisers.keys()], advertiserIds)
    for (const [id, sums] of result.advertisers) {
      const printed = printAdvertiser(sums, convertTo)
      const whole = await series(id, { ...question, attributionProfile }, convertTo)
      const before =
        comparison === null
          ? null
          : await series(id, { ...comparison, attributionProfile }, convertTo)
      const trendFrom = addDays(endDate, 1 - trendDays)
      const trend =
        trendDays === 0
          ? noSeries
          : await series(
              id,
              {
                startDate: trendFrom < '2026-02-01' ? trendFrom : '2026-02-01',
                endDate,
                attributionProfile,
              },
              convertTo
            )
      assert.deepEqual(printed.totals, whole.totals, what)
      assert.deepEqual(printed.comparison, before?.totals ?? [], what)
      assert.deepEqual(printed.days, daysOf(trend.days, trendFrom), what)
      assert.equal(printed.firstDay, whole.firstDay)
      assert.deepEqual(
        printed.converted,
        convertTo === null
          ? undefined
          : {
              totals: whole.converted?.totals,
              comparison: before?.converted?.totals ?? null,
              days: daysOf(trend.converted?.days ?? [], trendFrom),
            }
      )
      assert.equal(result.completeThrough, whole.completeThrough)
      orders += whole.totals.reduce((sum, { ORDERS }) => sum + Number(ORDERS), 0)
    }
    assert.ok(orders > 50, 'there are purchases to compare')
  }

  await compare(0, 'open')
  await sealThrough(warehouse, Date.UTC(2026, 2, 20, 12))
  await compare(1, 'sealed in part')
  await sealThrough(warehouse, Date.UTC(2026, 3, 3, 12))
  while (await sumNextSpan({ warehouse, markets, settledMs: 0 }));
  await compare(2, 'sealed, with weeks and months')
})
