// A report by groups against the rows of the report, which it adds up, and against the sums that series.json has under
// filters which name a group.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { jsonReport, jsonSeries } from '../../src/campaign/operations/report/print.ts'
import { jsonGroups } from '../../src/campaign/operations/report/print-groups.ts'
import {
  groupings,
  listGroupColumns,
  type Grouping,
  type GroupRequest,
} from '../../src/contract/group-request.ts'
import type { ReportFilter } from '../../src/contract/report-filters.ts'
import { Attributor } from '../../src/attribution/attribute.ts'
import { sealBatch } from '../../src/days/seal.ts'
import { sumNextSpan } from '../../src/days/sum-spans.ts'
import { createGroupsRunner } from '../../src/reports/run-groups.ts'
import { createReportRunner } from '../../src/reports/run-report.ts'
import { createSeriesReader } from '../../src/reports/series.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { createHistoryLoader, partsOf } from '../helpers/history-warehouse.ts'
import { addUp, filtersOf, withCampaigns, writeProducts, type Row } from '../helpers/groups.ts'
import { openKeptPages } from '../helpers/kept-pages.ts'
import { createMonth, monthMarkets } from '../helpers/month.ts'
import { aReportRequest } from '../helpers/report-request.ts'
import { openTestWarehouse } from '../helpers/test-warehouse.ts'

const seed = Number(process.env['SHELFTRACE_TEST_SEED'] ?? Date.now() % 1_000_000)
const markets = () => monthMarkets
const profile = 'IMP_1_DAY_CLK_14_DAYS' as const
const range = {
  startDate: '2026-03-01',
  endDate: '2026-04-01',
  attributionProfile: profile,
} as const

const catalog = () => ({
  markets,
  publishers: () => [{ id: 10, name: 'Shop' }],
  campaigns: () => [{ id: 1001, name: 'Spring' }],
  adGroups: () => [{ id: 5002, name: 'Search' }],
})
const asker = () => ({ advertiserId: 1, keyId: 'key', signal: new AbortController().signal })

function reader(t: TestContext, warehouse: Warehouse) {
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
    rows: async (isByDay: boolean, filters: readonly ReportFilter[] = []) => {
      const request = { ...aReportRequest({ ...range, filters }), dateBreakdown: isByDay }
      return jsonReport(await runReport({ ...asker(), request }), request).rows
    },
    totals: async (filters: readonly ReportFilter[]) => {
      const request = { ...aReportRequest({ ...range, filters }), interval: 'DAY' } as const
      return jsonSeries(await readSeries({ ...asker(), request })).totals
    },
  }
}

const combinations: readonly (readonly Grouping[])[] = [
  ...groupings.map((grouping) => [grouping]),
  ['CAMPAIGN', 'DATE'],
  ['PRODUCT', 'MARKET', 'AD_GROUP'],
  ['BRAND', 'PUBLISHER'],
  [...groupings],
]

test('groups are the sums of the rows of the report, and their totals the sums of the groups, by every grouping, from events, sealed days, weeks and months', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const warehouse = await openTestWarehouse(t)
  await createHistoryLoader(warehouse, 0, monthMarkets).ship(
    partsOf(withCampaigns(createMonth(seed)))
  )
  await writeProducts(warehouse)
  const attributor = new Attributor({ warehouse, settleMs: 0 })
  while ((await attributor.attributeBatch()).hasMore);
  const read = reader(t, warehouse)
  const compare = async (round: number) => {
    const rows = { byDay: await read.rows(true), whole: await read.rows(false) }
    for (const groupBy of combinations.filter((_, index) => index % 3 === round)) {
      const { rows: groups, totals, totalRows } = await read.groups({ groupBy })
      const expected = addUp(groupBy.includes('DATE') ? rows.byDay : rows.whole, groupBy)
      const what = groupBy.join(' ')
      assert.deepEqual(addUp(groups, groupBy), expected, what)
      assert.equal(groups.length, Object.keys(expected).length, `each group once: ${what}`)
      assert.equal(totalRows, groups.length)
      assert.deepEqual(addUp(totals, []), addUp(groups, []), `totals: ${what}`)
      assert.deepEqual(Object.keys(groups[0] ?? {}), listGroupColumns(groupBy))
    }
  }
  const compareOrders = async () => {
    const all = await read.totals([])
    for (const groupBy of [['BRAND'], ['CAMPAIGN'], ['AD_GROUP', 'MARKET']] as const) {
      const { rows: groups, totals } = await read.groups({ groupBy, orderBy: 'ORDERS' })
      assert.deepEqual(totals, all, 'the totals are those of series.json, orders too')
      for (const row of groups.slice(0, 3)) {
        const filters = filtersOf(row, groupBy)
        if (filters === null) continue
        const named = (await read.totals(filters)).find((one) => one.CURRENCY === row['CURRENCY'])
        assert.notEqual(row['ORDERS'], '0')
        assert.equal(row['ORDERS'], named?.ORDERS, JSON.stringify(row))
      }
    }
  }

  const comparePages = async () => {
    const whole = await read.groups({ groupBy: ['PRODUCT'], orderBy: 'PRODUCT_TITLE' })
    const rows: Row[] = []
    for (let page = 0; rows.length < whole.totalRows; page += 1) {
      const part = await read.groups({
        groupBy: ['PRODUCT'],
        orderBy: 'PRODUCT_TITLE',
        limit: 25,
        page,
      })
      assert.deepEqual(part.totals, whole.totals, 'a page has the totals of all')
      rows.push(...part.rows)
    }
    assert.deepEqual(rows, whole.rows)
  }

  await compare(0)
  await comparePages()
  await compareOrders()
  while (
    (await sealBatch({ warehouse, markets, settledThroughMs: () => Date.UTC(2026, 3, 2, 12) }))
      .hasMore
  );
  await compare(1)
  while (await sumNextSpan({ warehouse, markets, settledMs: 0 }));
  await compare(2)
})
