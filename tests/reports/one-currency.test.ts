// Sums of several currencies in one, against figures computed by hand.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { jsonSeries } from '../../src/campaign/operations/report/print.ts'
import { csvOfGroups, jsonGroups } from '../../src/campaign/operations/report/print-groups.ts'
import { printAdvertiser } from '../../src/campaign/operations/report/summary.ts'
import { Attributor } from '../../src/attribution/attribute.ts'
import type { GroupRequest } from '../../src/contract/group-request.ts'
import { csvRow } from '../../src/domain/csv.ts'
import { sealBatch } from '../../src/days/seal.ts'
import { sumNextSpan } from '../../src/days/sum-spans.ts'
import { createGroupsRunner } from '../../src/reports/run-groups.ts'
import { createSeriesReader } from '../../src/reports/series.ts'
import { createSummaryReader } from '../../src/reports/summary.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { createHistoryLoader, type HistoryPart } from '../helpers/history-warehouse.ts'
import { openKeptPages } from '../helpers/kept-pages.ts'
import { aReportRequest } from '../helpers/report-request.ts'
import { aClick, anAd, aPurchase } from '../helpers/seal-scenario.ts'
import { openTestWarehouse } from '../helpers/test-warehouse.ts'

const knownMarkets = [
  { id: 1, code: 'DE', currency: 'EUR', timeZone: 'Europe/Berlin' },
  { id: 2, code: 'JP', currency: 'JPY', timeZone: 'Asia/Tokyo' },
  { id: 3, code: 'KW', currency: 'KWD', timeZone: 'Asia/Kuwait' },
  { id: 4, code: 'VN', currency: 'VND', timeZone: 'Asia/Ho_Chi_Minh' },
] as const
const markets = () => knownMarkets
const catalog = () => ({ markets, publishers: () => [], campaigns: () => [], adGroups: () => [] })

const profile = 'CLK_14_DAYS' as const
/** From a Monday, so that it holds a week of sealed days. */
const range = { startDate: '2026-03-02', endDate: '2026-03-15', attributionProfile: profile }

interface Scene {
  readonly market: (typeof knownMarkets)[number]
  /** An instant at noon of the day in UTC: everywhere the same day. */
  readonly day: string
  readonly costPerClickMicros: bigint
  readonly price?: number
}

/** A click, and a purchase of it if there is a price. */
function partsOf(
  { market, day, costPerClickMicros, price }: Scene,
  index: number
): readonly HistoryPart[] {
  const userId = `shopper-${index}`
  const atMs = Date.parse(`${day}T12:00:00Z`)
  const ad = anAd({
    servedAdId: String(index).repeat(32),
    servedAtMs: atMs - 1_000,
    marketId: market.id,
    currency: market.currency,
    userId,
    costPerClickMicros,
  })
  const bought = aPurchase({
    atMs: atMs + 60_000,
    transactionId: `t-${index}`,
    deliveryId: String(index).repeat(32),
    currency: market.currency,
    price: price ?? 0,
    quantity: 1,
  })
  return [aClick(ad, atMs), ...(price === undefined ? [] : [{ ...bought, userId }])]
}

const [germany, japan, kuwait, vietnam] = knownMarkets
// 7 March is a Saturday, which takes the rate of Friday; 14 March a Saturday as well.
const scenes: readonly Scene[] = [
  { market: germany, day: '2026-03-06', costPerClickMicros: 250_000n, price: 10 },
  { market: japan, day: '2026-03-07', costPerClickMicros: 50_000_000n, price: 2_000 },
  { market: japan, day: '2026-03-09', costPerClickMicros: 50_000_000n },
  { market: kuwait, day: '2026-03-06', costPerClickMicros: 100_000n, price: 3.333 },
  { market: vietnam, day: '2026-03-06', costPerClickMicros: 999_000_000n, price: 26_000 },
]

async function storeRates(warehouse: Warehouse): Promise<void> {
  const rates = [
    ['JPY', '2026-03-06', '160'],
    ['JPY', '2026-03-09', '161'],
    ['KWD', '2026-03-06', '0.33'],
  ] as const
  for (const [currency, day, units] of rates) {
    await warehouse.command(
      `INSERT INTO rate VALUES ({currency:String}, {day:Date}, {units:String}, 1)`,
      { currency, day, units }
    )
  }
}

const settledThroughMs = () => Date.UTC(2026, 2, 20)

async function openScenes(t: TestContext) {
  const warehouse = await openTestWarehouse(t)
  await storeRates(warehouse)
  await createHistoryLoader(warehouse, 0, knownMarkets).ship(scenes.flatMap(partsOf))
  const attributor = new Attributor({ warehouse, settleMs: 0 })
  while ((await attributor.attributeBatch()).hasMore);
  const keptPages = openKeptPages()
  t.after(() => keptPages.close())
  const deps = { warehouse, catalog, keptPages }
  const asker = { keyId: 'key', signal: new AbortController().signal }
  return {
    warehouse,
    series: async (convertTo: string, interval: 'DAY' | 'WEEK' = 'DAY') => {
      const request = { ...aReportRequest(range), interval, convertTo }
      const series = await createSeriesReader(deps)({ ...asker, advertiserId: 1, request })
      return jsonSeries(series, convertTo)
    },
    summary: async (convertTo: string) => {
      const request = { ...range, comparison: null, trendDays: 14, convertTo }
      const summary = await createSummaryReader(deps)({ ...asker, advertiserIds: [1], request })
      return printAdvertiser(summary.advertisers.get(1) ?? assert.fail(), convertTo)
    },
    groups: async (changes: Partial<GroupRequest>) => {
      const request: GroupRequest = {
        ...range,
        groupBy: ['CAMPAIGN'],
        filters: [],
        page: 0,
        limit: 100,
        sortType: 'DESC',
        orderBy: 'AD_SPEND_REVENUE',
        withOrders: true,
        ...changes,
      }
      const result = await createGroupsRunner(deps)({ ...asker, advertiserId: 1, request })
      return { json: jsonGroups(result, request), request, rows: result.rows }
    },
    seal: async () => {
      while ((await sealBatch({ warehouse, markets, settledThroughMs })).hasMore);
      while (await sumNextSpan({ warehouse, markets, settledMs: 0 }));
    },
  }
}

type Sums = NonNullable<NonNullable<Awaited<ReturnType<typeof jsonSeries>>['converted']>['totals']>

function amountsOf(sums: Sums | null | undefined) {
  if (sums === null || sums === undefined) return null
  const { AD_SPEND_REVENUE, CONVERSION_VALUE, RETURN_ON_AD_SPEND, COST_PER_CLICK } = sums
  return [AD_SPEND_REVENUE, CONVERSION_VALUE, RETURN_ON_AD_SPEND, COST_PER_CLICK, sums.CURRENCY]
}

const leftInDong = { CURRENCY: 'VND', CONVERSION_VALUE: '26000', AD_SPEND_REVENUE: '999' }

test('amounts are converted at the rate of their day, or the last one before it, once, and what has no rate is said apart', async (t) => {
  const { series, summary, seal, warehouse } = await openScenes(t)
  const compare = async () => {
    const inEuro = await series('EUR')
    // 0.25 + 50 / 160 + 50 / 161 + 0.1 / 0.33, and 10 + 2000 / 160 + 3.333 / 0.33.
    assert.deepEqual(amountsOf(inEuro.converted?.totals), [
      '1.176089309',
      '32.60',
      '27.7190',
      null,
      'EUR',
    ])
    assert.deepEqual(inEuro.converted?.totals?.WITHOUT_RATE, [leftInDong])
    assert.equal(inEuro.converted?.totals?.CLICKS, '5')
    assert.equal(inEuro.converted?.totals?.ORDERS, '4')
    const days = inEuro.converted?.days.map(({ DATE, ...sums }) => [
      DATE,
      ...(amountsOf(sums) ?? []),
    ])
    assert.deepEqual(days, [
      ['2026-03-06', '0.553030303', '20.10', '36.3452', null, 'EUR'],
      ['2026-03-07', '0.312500000', '12.50', '40.0000', '0.312500', 'EUR'],
      ['2026-03-09', '0.310559006', '0.00', '0.0000', '0.310559', 'EUR'],
    ])
    // A week has no rate; its days have.
    const weeks = (await series('EUR', 'WEEK')).converted
    assert.deepEqual(weeks?.totals, inEuro.converted?.totals)
    assert.deepEqual(
      weeks?.days.map(({ DATE, AD_SPEND_REVENUE }) => [DATE, AD_SPEND_REVENUE]),
      [
        ['2026-03-02', '0.865530303'],
        ['2026-03-09', '0.310559006'],
      ]
    )

    // 0.25 * 160 + 50 + 50 + 0.1 / 0.33 * 160, and 10 * 160 + 2000 + 3.333 / 0.33 * 160.
    const inYen = (await series('JPY')).converted?.totals
    assert.deepEqual(amountsOf(inYen), ['188.484848485', '5216', '27.6733', null, 'JPY'])
    // 0.25 * 0.33 + 50 / 160 * 0.33 + 50 / 161 * 0.33 + 0.1, and 10 * 0.33 + 2000 / 160 * 0.33 + 3.333.
    const inDinar = (await series('KWD')).converted?.totals
    assert.deepEqual(amountsOf(inDinar), ['0.388109472', '10.758', '27.7190', null, 'KWD'])

    const overview = await summary('EUR')
    assert.deepEqual(overview.converted?.totals, inEuro.converted?.totals)
    assert.deepEqual(
      overview.converted?.days.map((day) => [day.DATE, day.AD_SPEND_REVENUE, day.CONVERSION_VALUE]),
      days?.map((day) => day.slice(0, 3))
    )
  }

  await compare()
  await seal()
  const [sealed] = await warehouse.rows<{ count: number }>(
    'SELECT count() AS count FROM sealed_span'
  )
  assert.ok((sealed?.count ?? 0) > 0, 'weeks are summed')
  await compare()
})

test('an amount of which nothing has a rate is null and never 0, and in its own currency it needs none', async (t) => {
  const { series } = await openScenes(t)

  // Dollars have no rate at all: neither has anything that is to become dollars.
  const inDollars = (await series('USD')).converted?.totals
  assert.deepEqual(amountsOf(inDollars), [null, null, null, null, 'USD'])
  assert.deepEqual(
    inDollars?.WITHOUT_RATE.map(({ CURRENCY }) => CURRENCY),
    ['EUR', 'JPY', 'KWD', 'VND']
  )

  const inDong = await series('VND')
  assert.deepEqual(amountsOf(inDong.converted?.totals), ['999', '26000', '26.0260', null, 'VND'])
  // The sums by currency are the same with and without it.
  assert.deepEqual(
    inDong.totals.map(({ CURRENCY, AD_SPEND_REVENUE }) => [CURRENCY, AD_SPEND_REVENUE]),
    [
      ['EUR', '0.25'],
      ['JPY', '100'],
      ['KWD', '0.100'],
      ['VND', '999'],
    ]
  )
})

test('a group of four currencies is one row, whose file cannot be mistaken for amounts in their own', async (t) => {
  const { groups, series, seal } = await openScenes(t)
  const compare = async () => {
    const { json, rows, request } = await groups({ convertTo: 'EUR' })
    const total = (await series('EUR')).converted?.totals
    const { rows: converted = [], totals } = json.converted ?? {}
    assert.deepEqual(totals, total)
    assert.equal(json.totalRows, 1)
    assert.deepEqual(converted, [{ CAMPAIGN_ID: '1001', CAMPAIGN_NAME: '', ...total }])
    assert.deepEqual(
      json.rows.map((row) => [row.CURRENCY, row.AD_SPEND_REVENUE, row.CONVERSION_VALUE]),
      [
        ['EUR', '0.25', '10.00'],
        ['JPY', '100', '2000'],
        ['KWD', '0.100', '3.333'],
        ['VND', '999', '26000'],
      ]
    )
    const { header, cells } = csvOfGroups(request, undefined)
    const [line = []] = rows.map(cells)
    const file = Object.fromEntries(
      header.map((name, place) => [name, csvRow(line.slice(place, place + 1)).trimEnd()])
    )
    assert.deepEqual(file, {
      CAMPAIGN_ID: '1001',
      CAMPAIGN_NAME: '',
      IMPRESSIONS: '0',
      CLICKS: '5',
      LOADS: '0',
      CONVERSIONS: '4',
      UNITS_SOLD: '4',
      CLICK_THROUGH_RATE: '',
      CONVERSION_RATE: '0.800000',
      CONVERTED_CONVERSION_VALUE: '32.60',
      CONVERTED_AD_SPEND_REVENUE: '1.176089309',
      CONVERTED_COST_PER_CLICK: '',
      CONVERTED_RETURN_ON_AD_SPEND: '27.7190',
      CONVERTED_CURRENCY: 'EUR',
      ORDERS: '4',
      CONVERTED_FROM: 'EUR 0.25 / 10.00; JPY 100 / 2000; KWD 0.100 / 3.333; VND 999 / 26000',
      WITHOUT_RATE: 'VND 999 / 26000',
    })
    // By market, in the order of the converted amounts; the dong, which has no rate, comes last in either order.
    for (const sortType of ['DESC', 'ASC'] as const) {
      const byMarket = (await groups({ groupBy: ['MARKET'], convertTo: 'EUR', sortType })).json
      const known = [
        ['JP', '0.623059006'],
        ['KW', '0.303030303'],
        ['DE', '0.25'],
      ]
      assert.deepEqual(
        byMarket.converted?.rows.map((row) => [row.MARKET, row.AD_SPEND_REVENUE]),
        [...(sortType === 'DESC' ? known : known.toReversed()), ['VN', null]]
      )
    }
  }

  await compare()
  await seal()
  await compare()
  assert.equal((await groups({})).json.converted, undefined)
})

test('the header of converted groups has the sign of what is converted in every language', () => {
  const request = { ...range, groupBy: ['MARKET'], convertTo: 'EUR' } as const
  const all = { ...request, filters: [], page: 0, limit: 1, withOrders: true } as const
  const { header } = csvOfGroups({ ...all, sortType: 'ASC', orderBy: 'MARKET' }, 'de-AT')
  assert.deepEqual(header.slice(-8), [
    '≈ Conversion-Wert',
    '≈ Werbeausgaben',
    '≈ Kosten pro Klick (CPC)',
    '≈ Return on Ad Spend (ROAS)',
    '≈ Währung',
    'Bestellungen',
    'Umgerechnet aus',
    'Ohne Wechselkurs',
  ])
})
