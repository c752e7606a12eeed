import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AttributionRow, AttributionsCall } from '../../src/reports/attributions.ts'
import { bearer, startHarness } from './harness.ts'
import type { Harness } from './harness.ts'

const base = '/v2/advertisers/1/attributions'
const range = 'startDate=2026-03-01&endDate=2026-03-31'

function aRow(changes: Partial<AttributionRow> = {}): AttributionRow {
  return {
    date: '2026-03-04',
    purchasedAtMs: Date.UTC(2026, 2, 4, 11),
    market: 'DE',
    publisherId: 10,
    publisherName: 'Example Shop',
    transactionId: '=cmd()',
    line: 1,
    purchasedGtin: '4006381333931',
    campaignId: 1001,
    adGroupId: 5001,
    advertisedGtin: '04006381333931',
    rule: 'in-group',
    touchedAtMs: Date.UTC(2026, 2, 4, 10, 59, 59, 999),
    units: '2',
    conversionValue: '19.98',
    currency: 'EUR',
    servedAdId: '3f2504e04f8941d39a0c0305e82c3301',
    ...changes,
  }
}

interface Started extends Harness {
  readonly lists: AttributionsCall[]
}

function start(rows: readonly AttributionRow[] = [aRow()], unconvertedCount = 0): Started {
  const lists: AttributionsCall[] = []
  const harness = startHarness({
    listAttributions: (call) => {
      lists.push(call)
      const totals = { totalRows: rows.length, completeThrough: null, unconvertedCount }
      return Promise.resolve({ ...totals, rows })
    },
  })
  return { ...harness, lists }
}

const get = ({ app }: Harness, url: string, key = 'K1') =>
  app.inject({ method: 'GET', url, headers: bearer(key) })

test('the list is a CSV file with a telling name, its totals in the headers, and text that no spreadsheet runs', async () => {
  const harness = start(
    [
      aRow(),
      aRow({ rule: 'direct', touchedAtMs: Date.UTC(2026, 2, 2, 11), conversionValue: '', line: 2 }),
      aRow({ rule: 'view', transactionId: 'a,"b', publisherName: '' }),
    ],
    1
  )

  const { statusCode, headers, body } = await get(harness, `${base}?${range}`)

  assert.equal(statusCode, 200)
  assert.equal(headers['content-type'], 'text/csv; charset=utf-8')
  assert.equal(
    headers['content-disposition'],
    'attachment; filename="attributions-advertiser-1-2026-03-01-to-2026-03-31.csv"'
  )
  assert.deepEqual([headers['x-total-rows'], headers['x-unconverted']], ['3', '1'])
  assert.deepEqual(body.split('\r\n'), [
    'DATE,PURCHASED_AT,MARKET,PUBLISHER_ID,PUBLISHER_NAME,TRANSACTION_ID,LINE,PURCHASED_GTIN,CAMPAIGN_ID,AD_GROUP_ID,ADVERTISED_GTIN,RULE,TOUCHED_AT,SECONDS_TO_PURCHASE,UNITS,CONVERSION_VALUE,CURRENCY,SERVED_AD_ID',
    "2026-03-04,2026-03-04T11:00:00.000Z,DE,10,Example Shop,'=cmd(),1,4006381333931,1001,5001,04006381333931,IN_GROUP_CLICK,2026-03-04T10:59:59.999Z,0.001,2,19.98,EUR,3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    "2026-03-04,2026-03-04T11:00:00.000Z,DE,10,Example Shop,'=cmd(),2,4006381333931,1001,5001,04006381333931,DIRECT_CLICK,2026-03-02T11:00:00.000Z,172800.000,2,,EUR,3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    '2026-03-04,2026-03-04T11:00:00.000Z,DE,10,,"a,""b",1,4006381333931,1001,5001,04006381333931,VIEW,2026-03-04T10:59:59.999Z,0.001,2,19.98,EUR,3f2504e0-4f89-41d3-9a0c-0305e82c3301',
    '',
  ])
})

test('a list without rows has a header line, and defaults and bounds of days are filled in', async () => {
  const harness = start([])

  const { body } = await get(harness, `${base}?startDate=0001-01-01&endDate=0002-01-01`)
  await get(harness, `${base}?${range}&attributionProfile=IMP_1_DAY&page=2&limit=7`)
  await get(harness, `${base}?${range}&sortType=DESC&publisherId=10&rule=VIEW&transactionId=a%20b`)

  assert.equal(body.split('\r\n').length, 2)
  assert.deepEqual(
    harness.lists.map(({ advertiserId, request, keyId }) => [advertiserId, keyId, request]),
    [
      [
        1,
        'key_1',
        {
          startDate: '2019-12-01',
          endDate: '2019-12-01',
          attributionProfile: 'IMP_1_DAY_CLK_14_DAYS',
          page: 0,
          limit: 10_000,
          sortType: 'ASC',
        },
      ],
      [
        1,
        'key_1',
        {
          startDate: '2026-03-01',
          endDate: '2026-03-31',
          attributionProfile: 'IMP_1_DAY',
          page: 2,
          limit: 7,
          sortType: 'ASC',
        },
      ],
      [
        1,
        'key_1',
        {
          startDate: '2026-03-01',
          endDate: '2026-03-31',
          attributionProfile: 'IMP_1_DAY_CLK_14_DAYS',
          page: 0,
          limit: 10_000,
          sortType: 'DESC',
          publisherId: 10,
          rule: 'VIEW',
          transactionId: 'a b',
        },
      ],
    ]
  )
})

for (const [query, messages] of [
  ['', ['startDate is required', 'endDate is required']],
  ['startDate=2026-02-30&endDate=2026-03-01', ['startDate must be a date such as 2026-03-01']],
  ['startDate=2026-03-02&endDate=2026-03-01', ['startDate must not be after endDate']],
  [
    'startDate=2024-01-01&endDate=2026-01-01',
    ['endDate must be at most 731 days from startDate, both included'],
  ],
  [`${range}&page=-1`, ['page must be an integer from 0 to 1000']],
  [`${range}&page=1.0`, ['page must be an integer from 0 to 1000']],
  [`${range}&limit=0`, ['limit must be an integer from 1 to 10000']],
  [`${range}&limit=10001`, ['limit must be an integer from 1 to 10000']],
  [`${range}&limit=5&limit=5`, ['limit must be given once']],
  [
    `${range}&attributionProfile=clk`,
    ['attributionProfile must be one of: IMP_1_DAY_CLK_14_DAYS, IMP_1_DAY, CLK_14_DAYS'],
  ],
] as const) {
  test(`a list of ?${query} is refused by its rule`, async () => {
    const { statusCode, json } = await get(start(), `${base}?${query}`)

    assert.deepEqual([statusCode, json()], [422, { messages }])
  })
}

for (const path of ['attributions', 'attributions/10/T1'] as const) {
  test(`${path}: 401 without a key, 403 for the advertiser of others before 404 for none, 404 before 422`, async () => {
    const harness = start()

    const statuses = await Promise.all(
      [
        [`/v2/advertisers/1/${path}`, 'nobody'],
        [`/v2/advertisers/2/${path}`, 'K1'],
        [`/v2/advertisers/99/${path}`, 'K1'],
        [`/v2/advertisers/1/${path}`, 'metrics'],
        [`/v2/advertisers/99/${path}`, 'all'],
      ].map(async ([url = '', key]) => (await get(harness, url, key)).statusCode)
    )

    assert.deepEqual(statuses, [401, 403, 403, 403, 404])
  })
}

test('a list that fails lets its slot go', async () => {
  const harness = startHarness({
    reportsPerKeyMax: 1,
    listAttributions: () => Promise.reject(new Error('broken')),
  })

  const statuses = [
    (await get(harness, `${base}?${range}`)).statusCode,
    (await get(harness, `${base}?${range}`)).statusCode,
  ]

  assert.deepEqual(statuses, [500, 500])
})

for (const path of ['10/T1', 'x/T1', '10/%00', '010/T1']) {
  test(`${path} is 404 where nothing of it is credited to the advertiser`, async () => {
    const { statusCode, json } = await get(start(), `${base}/${path}`)

    assert.deepEqual(
      [statusCode, json()],
      [404, { messages: ['No such purchase is credited to this advertiser.'] }]
    )
  })
}

test('days of which only the report is kept are refused with the first day that is listed', async () => {
  const harness = startHarness({
    reportsPerKeyMax: 1,
    listAttributions: () => Promise.resolve({ finalBefore: '2026-04-01' }),
  })

  const first = await get(harness, `${base}?${range}`)
  const second = await get(harness, `${base}?${range}`)

  const messages = [
    'startDate must not be before 2026-04-01: of older days only the report is kept',
  ]
  assert.deepEqual([first.statusCode, first.json()], [422, { messages }])
  assert.equal(second.statusCode, 422, 'the slot is free again')
})
