// An engine that mixes the values of two statements: whatever is asked, it answers for advertiser 1.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SeriesRequest } from '../../src/contract/series-request.ts'
import { createAttributionsLister } from '../../src/reports/attributions.ts'
import type { CatalogNames } from '../../src/catalog/catalog-names.ts'
import { createReportRunner } from '../../src/reports/run-report.ts'
import { createGroupsRunner } from '../../src/reports/run-groups.ts'
import { createSeriesReader } from '../../src/reports/series.ts'
import { createSummaryReader } from '../../src/reports/summary.ts'
import { createTrafficQualityReader } from '../../src/reports/traffic-quality.ts'
import type { Params, Warehouse } from '../../src/warehouse/warehouse.ts'
import { openKeptPages } from '../helpers/kept-pages.ts'
import { aClick, anAd, aPurchase, aWorld } from '../helpers/seal-scenario.ts'

const request: SeriesRequest = {
  interval: 'DAY',
  filters: [],
  startDate: '2026-03-01',
  endDate: '2026-03-05',
  attributionProfile: 'CLK_14_DAYS',
  page: 0,
  limit: 10,
  sortType: 'ASC',
  dateBreakdown: true,
  orderBy: 'GTIN',
}

function mixed(warehouse: Warehouse, isMixed: (sql: string) => boolean): Warehouse {
  const mix = (sql: string, params: Params = {}) => {
    if (!isMixed(sql)) return params
    if ('advertiserIds' in params) return { ...params, advertiserIds: [1] }
    return 'advertiserId' in params ? { ...params, advertiserId: 1 } : params
  }
  return {
    ...warehouse,
    rows: async (sql, params) => await warehouse.rows(sql, mix(sql, params)),
    stream: (sql, params, signal) => warehouse.stream(sql, mix(sql, params), signal),
  }
}

test('an answer that was bound to another advertiser is a failure and no report, whichever is asked for', async (t) => {
  const world = await aWorld(t)
  const ad = anAd()
  const [clickedAtMs, boughtAtMs] = [ad.servedAtMs + 1_000, ad.servedAtMs + 60_000]
  await world.loader.ship([aClick(ad, clickedAtMs), aPurchase({ atMs: boughtAtMs })])
  await world.attribute()
  const keptPages = openKeptPages()
  t.after(() => keptPages.close())
  const catalog: CatalogNames = {
    markets: () => world.markets,
    publishers: () => [],
    campaigns: () => [],
    adGroups: () => [],
  }
  const readers = (isMixed: (sql: string) => boolean) => {
    const warehouse = mixed(world.warehouse, isMixed)
    const deps = { warehouse, catalog: () => catalog, keptPages }
    const byCampaign = { ...request, groupBy: ['CAMPAIGN'], withOrders: true } as const
    const filtered = { ...request, filters: [{ field: 'MARKET', values: ['DE'] }] } as const
    return [
      createReportRunner(deps),
      createAttributionsLister(deps),
      createTrafficQualityReader(deps),
      createSeriesReader(deps),
      (call: Parameters<ReturnType<typeof createSeriesReader>>[0]) =>
        createSeriesReader(deps)({ ...call, request: filtered }),
      async (call: Omit<Parameters<ReturnType<typeof createGroupsRunner>>[0], 'request'>) =>
        await createGroupsRunner(deps)({ ...call, request: byCampaign }),
    ].map((read) => async (advertiserId: number) => {
      const { signal } = new AbortController()
      return await read({ advertiserId, request, keyId: 'key', signal })
    })
  }

  for (const read of readers(() => true)) {
    const own = await read(1)
    const found = 'rows' in own ? own.rows : 'days' in own ? own.days : []
    assert.notEqual(found.length, 0)
    await assert.rejects(read(2), /answers for the advertiser that was asked for/)
  }
  await assert.rejects(
    createSummaryReader({
      warehouse: mixed(world.warehouse, () => true),
      catalog: () => catalog,
    })({
      advertiserIds: [2, 3],
      request: { ...request, comparison: null, trendDays: 0, convertTo: null },
      signal: new AbortController().signal,
    }),
    /answers for the advertisers that were asked for/
  )
  const [, , , , filteredSeries] = readers((sql) => sql.includes('argMin(l.market_id'))
  assert.ok(filteredSeries !== undefined)
  await assert.rejects(filteredSeries(2), /answers for the advertiser that was asked for/)
})
