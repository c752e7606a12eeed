import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GroupRow } from '../../src/reports/groups-rows.ts'
import type { GroupsCall } from '../../src/reports/run-groups.ts'
import { aRow, bearer, startHarness } from './harness.ts'

const path = '/v2/advertisers/1/reports/spa/groups'
const payload = { startDate: '2026-03-01', endDate: '2026-03-02', groupBy: ['CAMPAIGN'] }
const aGroup = (changes: Partial<GroupRow> = {}): GroupRow => ({
  ...aRow(),
  orders: '1',
  ...changes,
})

function start(rows: readonly GroupRow[]) {
  const calls: GroupsCall[] = []
  const harness = startHarness({
    runGroups: (call) => {
      calls.push(call)
      return Promise.resolve({
        totalRows: 3,
        completeThrough: '2026-03-01',
        renewingDays: ['2026-03-01'],
        unconvertedCount: 2,
        rows,
        sums: [
          {
            currency: 'EUR',
            impressions: 30n,
            clicks: 0n,
            loads: 36n,
            conversions: 3n,
            unitsSold: 9n,
            valueNanos: 90_300_000_000n,
            spendNanos: 1_500_000_000n,
            orders: 2n,
          },
        ],
      })
    },
  })
  return { ...harness, calls }
}

const figures = {
  IMPRESSIONS: '10',
  CLICKS: '2',
  LOADS: '12',
  CONVERSIONS: '1',
  UNITS_SOLD: '3',
  CLICK_THROUGH_RATE: '0.200000',
  CONVERSION_RATE: '0.500000',
  CONVERSION_VALUE: '30.10',
  AD_SPEND_REVENUE: '0.50',
  COST_PER_CLICK: '0.250000',
  RETURN_ON_AD_SPEND: '60.2000',
  CURRENCY: 'EUR',
}

test('groups are answered with the columns that they have, and with totals of all pages', async (t) => {
  const { app, calls } = start([aGroup(), aGroup({ orders: null })])
  t.after(() => app.close())

  const url = `${path}.json`
  const response = await app.inject({ method: 'POST', url, headers: bearer('K1'), payload })

  const campaign = { CAMPAIGN_ID: '1001', CAMPAIGN_NAME: 'Spring', ...figures }
  assert.deepEqual(response.json(), {
    rows: [
      { ...campaign, ORDERS: '1' },
      { ...campaign, ORDERS: null },
    ],
    totals: [
      {
        IMPRESSIONS: '30',
        CLICKS: '0',
        LOADS: '36',
        CONVERSIONS: '3',
        UNITS_SOLD: '9',
        CLICK_THROUGH_RATE: '0.000000',
        CONVERSION_RATE: null,
        CONVERSION_VALUE: '90.30',
        AD_SPEND_REVENUE: '1.50',
        COST_PER_CLICK: null,
        RETURN_ON_AD_SPEND: '60.2000',
        CURRENCY: 'EUR',
        ORDERS: '2',
      },
    ],
    page: 0,
    limit: 10_000,
    totalRows: 3,
    completeThrough: '2026-03-01',
    renewingDays: ['2026-03-01'],
    unconverted: 2,
  })
  assert.equal(response.headers['x-total-rows'], '3')
  assert.deepEqual([calls[0]?.advertiserId, calls[0]?.request.groupBy], [1, ['CAMPAIGN']])
})

test('the CSV has the same columns, labels in the language asked for, and nothing where orders are unknown', async (t) => {
  const { app } = start([aGroup({ campaignName: '=1+1', orders: null })])
  t.after(() => app.close())

  const url = `${path}.csv?locale=de-DE`
  const response = await app.inject({ method: 'POST', url, headers: bearer('K1'), payload })

  const [header, line] = response.body.split('\r\n')
  assert.match(header ?? '', /^Kampagnen-ID,Kampagnenname,Impressionen,.*,Währung,Bestellungen$/)
  assert.equal(line, `1001,'=1+1,10,2,12,1,3,0.200000,0.500000,30.10,0.50,0.250000,60.2000,EUR,`)
  assert.match(
    String(response.headers['content-disposition']),
    /spa-product-groups-advertiser-1-2026-03-01-to-2026-03-02\.csv/
  )
})

test('a question that breaks a rule, and a key for another advertiser, are refused', async (t) => {
  const { app } = start([])
  t.after(() => app.close())
  for (const url of [`${path}.json`, `${path}.csv`]) {
    const wrong = { ...payload, orderBy: 'BRAND' }
    const refused = await app.inject({
      method: 'POST',
      url,
      headers: bearer('K1'),
      payload: wrong,
    })
    const foreign = await app.inject({ method: 'POST', url, headers: bearer('K2'), payload })

    assert.deepEqual(refused.json(), {
      messages: ['/orderBy must not be BRAND unless /groupBy has PRODUCT or BRAND'],
    })
    assert.deepEqual([refused.statusCode, foreign.statusCode], [422, 403])
  }
})

test('values of a filter are asked for like a report: with its scope, its rules and for the own advertiser', async (t) => {
  const { app, calls } = start([aGroup()])
  t.after(() => app.close())
  const ask = async (key: string, query: string) => {
    const url = `/v2/advertisers/1/reports/spa/values?${query}`
    const response = await app.inject({ method: 'GET', url, headers: bearer(key) })
    return [response.statusCode, response.json()] as const
  }
  const range = 'startDate=2026-03-01&endDate=2026-03-02'

  assert.deepEqual(await ask('K1', `${range}&field=CAMPAIGN_ID&q=spr`), [
    200,
    { values: [{ value: '1001', name: 'Spring', of: '' }], hasMore: true },
  ])
  assert.deepEqual(calls[0]?.condition?.params, { sought: 'spr' })
  assert.equal((await ask('K2', `${range}&field=BRAND`))[0], 403)
  for (const query of [
    range,
    `${range}&field=PRICE`,
    'field=BRAND',
    `${range}&field=BRAND&q=${'a'.repeat(201)}`,
  ]) {
    assert.equal((await ask('K1', query))[0], 422, query)
  }
})
