// The orders of groups: each group its own, the total each order once, and none where the attributions are dropped.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { GroupRequest } from '../../src/contract/group-request.ts'
import { createGroupsRunner } from '../../src/reports/run-groups.ts'
import { createSeriesReader } from '../../src/reports/series.ts'
import { openKeptPages } from '../helpers/kept-pages.ts'
import { aClick, aPurchase, aWorld, anAd, type World } from '../helpers/seal-scenario.ts'

const newYork = { id: 2, code: 'US', currency: 'EUR', timeZone: 'America/New_York' }
/** 3 March in Berlin, still 2 March in New York. */
const boughtAtMs = Date.UTC(2026, 2, 2, 23, 30)
const coffee = '4006381333931'
const tea = '4006381333948'

const base: GroupRequest = {
  groupBy: ['CAMPAIGN'],
  filters: [],
  startDate: '2026-03-01',
  endDate: '2026-03-12',
  attributionProfile: 'CLK_14_DAYS',
  page: 0,
  limit: 100,
  sortType: 'ASC',
  orderBy: 'ORDERS',
  withOrders: true,
}

const nothing = () => []
const line = (gtin: string) => ({ gtin, groupId: '', brand: '', price: 10, quantity: 1 })

/** One order of two lines: the first is credited to campaign 1002 in New York, the second to 1001 in Berlin. */
async function twoCampaigns(
  t: TestContext,
  markets: readonly (typeof newYork)[] = [newYork]
): Promise<World> {
  const world = await aWorld(t)
  world.markets.push(...markets)
  const atMs = boughtAtMs - 7_200_000
  const here = anAd({ servedAtMs: atMs, gtin: coffee })
  const there = anAd({
    servedAdId: 'b'.repeat(32),
    servedAtMs: atMs,
    gtin: tea,
    marketId: 2,
    campaignId: 1002,
  })
  await world.loader.ship([
    aClick(here, atMs),
    aClick(there, atMs),
    { ...aPurchase({ atMs: boughtAtMs }), lines: [line(tea), line(coffee)] },
  ])
  return world
}

function namesOf({ markets }: World) {
  return () => ({
    markets: () => markets,
    publishers: nothing,
    campaigns: nothing,
    adGroups: nothing,
  })
}

function reader(t: TestContext, world: World) {
  const keptPages = openKeptPages()
  t.after(() => keptPages.close())
  const { warehouse } = world
  const run = createGroupsRunner({ warehouse, catalog: namesOf(world), keptPages })
  return async (changes: Partial<GroupRequest> = {}) => {
    const request = { ...base, ...changes }
    const { signal } = new AbortController()
    const { rows, sums = [] } = await run({ advertiserId: 1, keyId: 'key', request, signal })
    return [
      ...rows.map((row) => {
        const parts = [row.campaignId || '', row.gtin, row.date ?? ''].filter((part) => part !== '')
        return `${parts.join(' ')} ${row.orders}/${row.conversions}`
      }),
      ...sums.map((sum) => `all ${sum.orders}/${sum.conversions}`),
    ]
  }
}

test('an order in two groups is one of each, and one of the total', async (t) => {
  const world = await twoCampaigns(t)
  await world.attribute()
  const read = reader(t, world)

  const compare = async () => {
    assert.deepEqual(await read(), ['1001 1/1', '1002 1/1', 'all 1/2'])
    assert.deepEqual(await read({ groupBy: ['PRODUCT'] }), [
      `${coffee} 1/1`,
      `${tea} 1/1`,
      'all 1/2',
    ])
    assert.deepEqual(await read({ groupBy: ['MARKET'] }), [' 1/1', ' 1/1', 'all 1/2'])
    // Both lines are of one publisher, where the order counts once, on the day of its first line.
    assert.deepEqual(await read({ groupBy: ['PUBLISHER'] }), [' 1/2', 'all 1/2'])
    assert.deepEqual(await read({ groupBy: ['PUBLISHER', 'DATE'], orderBy: 'DATE' }), [
      '2026-03-02 1/1',
      '2026-03-03 0/1',
      'all 1/2',
    ])
    const filters = [{ field: 'CAMPAIGN_ID', values: ['1001'] }] as const
    assert.deepEqual(await read({ filters }), ['1001 1/1', 'all 1/1'])
  }
  await compare()
  await world.settle()
  await compare()
})

test('an order of a group counts on the day of its first line alone, as in series.json: the days of a group add up', async (t) => {
  const world = await twoCampaigns(t)
  await world.attribute()
  const read = reader(t, world)
  const readSeries = createSeriesReader({ warehouse: world.warehouse, catalog: namesOf(world) })

  const compare = async () => {
    const byDay = await read({ groupBy: ['DATE'], orderBy: 'DATE' })
    const ofPublisher = await read({ groupBy: ['PUBLISHER', 'DATE'], orderBy: 'DATE' })
    const request = {
      ...base,
      orderBy: 'DATE',
      dateBreakdown: true,
      interval: 'DAY',
    } as const
    const { signal } = new AbortController()
    const series = await readSeries({ advertiserId: 1, request, signal })

    assert.deepEqual(byDay, ['2026-03-02 1/1', '2026-03-03 0/1', 'all 1/2'])
    assert.deepEqual(ofPublisher, byDay)
    assert.deepEqual(
      series.days.map(({ day, orders, conversions }) => `${day} ${orders}/${conversions}`),
      byDay.slice(0, -1)
    )
  }
  await compare()
  await world.settle()
  await compare()
})

test('a range counts the orders of its days alone', async (t) => {
  const world = await twoCampaigns(t)
  await world.settle()
  const read = reader(t, world)

  assert.deepEqual(await read({ startDate: '2026-03-03' }), ['1001 1/1', 'all 0/1'])
  assert.deepEqual(await read({ endDate: '2026-03-02' }), ['1001 0/0', '1002 1/1', 'all 1/1'])
})

test('orders are null where the attributions are dropped, and where nobody asked for them', async (t) => {
  const world = await twoCampaigns(t)
  await world.settle()
  const read = reader(t, world)
  const unasked = await read({ withOrders: false, orderBy: 'GTIN', groupBy: ['PRODUCT'] })
  await world.warehouse.command(
    `INSERT INTO final_before (day, state, written_at) VALUES ('2026-03-03', 'final', now64(6))`
  )

  assert.deepEqual(unasked, [`${coffee} null/1`, `${tea} null/1`, 'all null/2'])
  assert.deepEqual(await read(), ['1001 null/1', '1002 null/1', 'all null/2'])
  assert.deepEqual(await read({ startDate: '2026-03-03' }), ['1001 1/1', 'all 0/1'])
  assert.deepEqual(await read({ groupBy: ['CAMPAIGN', 'DATE'], orderBy: 'DATE' }), [
    '1001 2026-03-02 null/0',
    '1002 2026-03-02 null/1',
    '1001 2026-03-03 1/1',
    'all null/2',
  ])
})

for (const [what, markets, other] of [
  ['in two currencies', [{ ...newYork, currency: 'USD' }], 'USD'],
  ['partly in a market that the catalog does not have', [], ''],
] as const) {
  test(`rows kept to one currency have the totals of series.json for it, with an order ${what}`, async (t) => {
    const world = await twoCampaigns(t, markets)
    await world.attribute()
    const read = reader(t, world)
    const readSeries = createSeriesReader({ warehouse: world.warehouse, catalog: namesOf(world) })

    const compare = async () => {
      const request = { ...base, orderBy: 'DATE', dateBreakdown: true, interval: 'DAY' } as const
      const { signal } = new AbortController()
      const { totals } = await readSeries({ advertiserId: 1, request, signal })
      const ofTotal = (code: string) => {
        const sums = totals.find(({ currency }) => currency === code)
        return `all ${sums?.orders}/${sums?.conversions}`
      }
      // The first line of the order stands in the other currency.
      assert.deepEqual([ofTotal('EUR'), ofTotal(other)], ['all 0/1', 'all 1/1'])
      assert.deepEqual(await read({ currency: 'EUR' }), ['1001 1/1', ofTotal('EUR')])
      assert.deepEqual(await read({ currency: other }), ['1002 1/1', ofTotal(other)])
      assert.deepEqual(await read({ currency: 'CHF' }), [])
    }
    await compare()
    await world.settle()
    await compare()
  })
}
