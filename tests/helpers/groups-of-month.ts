// A month of events with campaigns and brands, and the reports of it that tests of groups compare.
import type { TestContext } from 'node:test'
import { jsonReport, jsonSeries } from '../../src/campaign/operations/report/print.ts'
import { jsonGroups } from '../../src/campaign/operations/report/print-groups.ts'
import { Attributor } from '../../src/attribution/attribute.ts'
import type { GroupRequest } from '../../src/contract/group-request.ts'
import type { ReportFilter } from '../../src/contract/report-filters.ts'
import { sealBatch } from '../../src/days/seal.ts'
import { sumNextSpan } from '../../src/days/sum-spans.ts'
import { createGroupsRunner } from '../../src/reports/run-groups.ts'
import { createReportRunner } from '../../src/reports/run-report.ts'
import { createSeriesReader } from '../../src/reports/series.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { withCampaigns, writeProducts } from './groups.ts'
import { createHistoryLoader, partsOf } from './history-warehouse.ts'
import { openKeptPages } from './kept-pages.ts'
import { createMonth, monthMarkets } from './month.ts'
import { aReportRequest } from './report-request.ts'
import { openTestWarehouse } from './test-warehouse.ts'

const seed = Number(process.env['SHELFTRACE_TEST_SEED'] ?? Date.now() % 1_000_000)
const markets = () => monthMarkets
const catalog = () => ({
  markets,
  publishers: () => [{ id: 10, name: 'Shop' }],
  campaigns: () => [{ id: 1001, name: 'Spring' }],
  adGroups: () => [{ id: 5002, name: 'Search' }],
})
const asker = () => ({ advertiserId: 1, keyId: 'key', signal: new AbortController().signal })
const range = {
  startDate: '2026-03-01',
  endDate: '2026-04-01',
  attributionProfile: 'IMP_1_DAY_CLK_14_DAYS',
} as const

/** Attributed, and no day of it sealed. */
export async function openGroupsOfMonth(t: TestContext) {
  t.diagnostic(`seed ${seed}`)
  const warehouse = await openTestWarehouse(t)
  await createHistoryLoader(warehouse, 0, monthMarkets).ship(
    partsOf(withCampaigns(createMonth(seed)))
  )
  await writeProducts(warehouse)
  const attributor = new Attributor({ warehouse, settleMs: 0 })
  while ((await attributor.attributeBatch()).hasMore);
  return {
    warehouse,
    ...readersOf(t, warehouse),
    sealThrough: async (atMs: number) => {
      while ((await sealBatch({ warehouse, markets, settledThroughMs: () => atMs })).hasMore);
    },
    sumSpans: async () => {
      while (await sumNextSpan({ warehouse, markets, settledMs: 0 }));
    },
  }
}

const seriesOf = (filters: readonly ReportFilter[]) =>
  ({ ...aReportRequest({ ...range, filters }), interval: 'DAY' }) as const

function readersOf(t: TestContext, warehouse: Warehouse) {
  const keptPages = openKeptPages()
  t.after(() => keptPages.close())
  const deps = { warehouse, catalog, keptPages }
  const runGroups = createGroupsRunner(deps)
  const runReport = createReportRunner(deps)
  const readSeries = createSeriesReader(deps)
  return {
    groups: async (changes: Partial<GroupRequest>) => {
      const request: GroupRequest = {
        ...range,
        filters: [],
        groupBy: ['CAMPAIGN'],
        page: 0,
        limit: 10_000,
        sortType: 'DESC',
        orderBy: 'AD_SPEND_REVENUE',
        withOrders: true,
        ...changes,
      }
      return jsonGroups(await runGroups({ ...asker(), request }), request)
    },
    rows: async (isByDay: boolean) => {
      const request = { ...aReportRequest({ ...range, filters: [] }), dateBreakdown: isByDay }
      return jsonReport(await runReport({ ...asker(), request }), request).rows
    },
    totals: async (filters: readonly ReportFilter[]) =>
      jsonSeries(await readSeries({ ...asker(), request: seriesOf(filters) })).totals,
    converted: async (convertTo: string, filters: readonly ReportFilter[] = []) => {
      const request = { ...seriesOf(filters), convertTo }
      return jsonSeries(await readSeries({ ...asker(), request }), convertTo).converted?.totals
    },
  }
}
