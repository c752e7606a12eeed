// Sums by week and by month, and under filters of ids, against the sums by day and the rows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReportFilter } from '../../src/contract/report-filters.ts'
import type { SeriesRequest } from '../../src/contract/series-request.ts'
import { intervals, intervalStart, type Interval } from '../../src/domain/interval.ts'
import { Attributor } from '../../src/attribution/attribute.ts'
import { sealBatch } from '../../src/days/seal.ts'
import { sumNextSpan } from '../../src/days/sum-spans.ts'
import { createSeriesReader, type DaySums } from '../../src/reports/series.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { createHistoryLoader, partsOf } from '../helpers/history-warehouse.ts'
import { createMonth, monthMarkets } from '../helpers/month.ts'
import { aReportRequest } from '../helpers/report-request.ts'
import { openTestWarehouse } from '../helpers/test-warehouse.ts'

const seed = Number(process.env['SHELFTRACE_TEST_SEED'] ?? Date.now() % 1_000_000)
const markets = () => monthMarkets
const catalog = () => ({ markets, publishers: () => [], campaigns: () => [], adGroups: () => [] })
const sumNames = [
  'impressions',
  'clicks',
  'loads',
  'conversions',
  'unitsSold',
  'valueNanos',
  'spendNanos',
  'orders',
] as const

/** The range cuts the first and the last of the weeks, and both months. */
const base: SeriesRequest = {
  ...aReportRequest({ startDate: '2026-03-03', endDate: '2026-04-01' }),
  attributionProfile: 'IMP_1_DAY_CLK_14_DAYS',
  interval: 'DAY',
}

function reader(warehouse: Warehouse) {
  const read = createSeriesReader({ warehouse, catalog })
  const { signal } = new AbortController()
  return async (changes: Partial<SeriesRequest>) =>
    await read({ advertiserId: 1, request: { ...base, ...changes }, signal })
}

function addUp(days: readonly DaySums[], interval: Interval): Record<string, readonly string[]> {
  const sums = new Map<string, bigint[]>()
  for (const one of days) {
    const key = `${intervalStart(one.day, interval)} ${one.currency}`
    const own = sums.get(key) ?? sumNames.map(() => 0n)
    sums.set(
      key,
      own.map((sum, index) => sum + (one[sumNames[index] ?? 'clicks'] ?? assert.fail('null')))
    )
  }
  return Object.fromEntries([...sums].map(([key, own]) => [key, own.map(String)]))
}

const questions: readonly (readonly ReportFilter[])[] = [
  [],
  [
    { field: 'CAMPAIGN_ID', values: ['1001', '7'] },
    { field: 'AD_GROUP_ID', values: ['5001', '5003'] },
    { field: 'PUBLISHER_ID', values: ['10'] },
  ],
]

test('weeks and months are the sums of their days that were asked for, orders too, from events, sealed days and spans, with filters and without', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const warehouse = await openTestWarehouse(t)
  await createHistoryLoader(warehouse, 0, monthMarkets).ship(partsOf(createMonth(seed)))
  const attributor = new Attributor({ warehouse, settleMs: 0 })
  while ((await attributor.attributeBatch()).hasMore);
  const read = reader(warehouse)
  const compare = async () => {
    for (const filters of questions) {
      const byDay = await read({ filters })
      assert.notEqual(byDay.days.length, 0)
      for (const interval of intervals) {
        const { days, totals } = await read({ filters, interval })
        assert.deepEqual(addUp(days, 'DAY'), addUp(byDay.days, interval))
        assert.deepEqual(totals, byDay.totals)
      }
    }
  }

  await compare()
  while (
    (await sealBatch({ warehouse, markets, settledThroughMs: () => Date.UTC(2026, 3, 2, 12) }))
      .hasMore
  );
  await compare()
  while (await sumNextSpan({ warehouse, markets, settledMs: 0 }));
  await compare()
})
