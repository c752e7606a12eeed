import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { test, type TestContext } from 'node:test'
import type { CurrencyTotals } from '../../src/reports/report.ts'
import type { SummaryCall, SummaryResult } from '../../src/reports/summary.ts'
import { bearer, startHarness } from './harness.ts'

const url = '/v2/reports/spa/summary.json'
const payload = { startDate: '2026-03-01', endDate: '2026-03-02' }
const sums: CurrencyTotals = {
  unconvertedCount: 2,
  currency: 'JPY',
  impressions: 3n,
  clicks: 2n,
  loads: 4n,
  conversions: 1n,
  orders: 1n,
  unitsSold: 5n,
  valueNanos: 3_000_000_000_000n,
  spendNanos: 500_000_000_000n,
  converted: {
    valueNanos: 18_750_000_000n,
    spendNanos: 3_125_000_000n,
    withoutRate: { valueNanos: 0n, spendNanos: 0n },
  },
}
const coverage = { completeThrough: '2026-03-01', renewingDays: [], unconvertedCount: 0 }

function start(t: TestContext) {
  const calls: SummaryCall[] = []
  const { app } = startHarness({
    readSummary: (call) => {
      calls.push(call)
      const one = {
        totals: [sums],
        comparison: [],
        days: [{ ...sums, day: '2026-03-02' }],
        firstDay: '2026-02-03',
      }
      const advertisers = new Map(call.advertiserIds.map((id) => [id, one]))
      return Promise.resolve({ ...coverage, advertisers })
    },
  })
  t.after(() => app.close())
  const ask = async (key: string, changes: object = {}) =>
    await app.inject({
      method: 'POST',
      url,
      headers: bearer(key),
      payload: { ...payload, ...changes },
    })
  return { ask, calls }
}

test('an overview has the figures of each advertiser, and those in one currency apart', async (t) => {
  const { ask, calls } = start(t)

  const response = await ask('K1', { convertTo: 'EUR', trendDays: 2 })

  const figures = { IMPRESSIONS: '3', CLICKS: '2', LOADS: '4', ORDERS: '1' }
  const more = {
    ...figures,
    CONVERSIONS: '1',
    UNITS_SOLD: '5',
    CLICK_THROUGH_RATE: '0.666667',
    CONVERSION_RATE: '0.500000',
    RETURN_ON_AD_SPEND: '6.0000',
  }
  const own = { CONVERSION_VALUE: '3000', AD_SPEND_REVENUE: '500', CURRENCY: 'JPY' }
  const inEuro = {
    CONVERSION_VALUE: '18.75',
    AD_SPEND_REVENUE: '3.125000000',
    CURRENCY: 'EUR',
  }
  assert.deepEqual(response.json(), {
    advertisers: [
      {
        id: 1,
        name: 'Acme',
        totals: [{ ...more, ...own, COST_PER_CLICK: '250.000000', UNCONVERTED: '2' }],
        comparison: [],
        days: [{ DATE: '2026-03-02', ...figures, ...own }],
        firstDay: '2026-02-03',
        converted: {
          totals: { ...more, ...inEuro, COST_PER_CLICK: '1.562500', WITHOUT_RATE: [] },
          comparison: null,
          days: [{ DATE: '2026-03-02', ...figures, ...inEuro }],
        },
      },
    ],
    completeThrough: '2026-03-01',
    renewingDays: [],
    unconverted: 0,
  })
  assert.deepEqual(calls[0]?.advertiserIds, [1])
  assert.equal(calls[0].request.convertTo, 'EUR')
})

test('a key sees the advertisers that it is for and no other: listed ones are refused, whether they exist or not', async (t) => {
  const { ask, calls } = start(t)

  const foreign = await ask('K1', { advertiserIds: [1, 2] })
  const missing = await ask('K1', { advertiserIds: [999] })
  const unknown = await ask('all', { advertiserIds: [1, 999] })
  const own = await ask('K1', { advertiserIds: [1] })

  assert.deepEqual([foreign.statusCode, missing.statusCode], [403, 403])
  assert.equal(foreign.body, missing.body)
  assert.equal(foreign.headers['shelftrace-error-code'], 'PARTY_FORBIDDEN')
  assert.equal(unknown.statusCode, 422)
  assert.deepEqual(unknown.json(), {
    messages: ['/advertiserIds must name advertisers of the catalog'],
  })
  assert.equal(own.statusCode, 200)
  assert.deepEqual(
    calls.map(({ advertiserIds }) => advertiserIds),
    [[1]]
  )
  assert.equal((await ask('metrics')).statusCode, 403)
})

test('pages have each advertiser once, by id, and the last one says that it is the last', async (t) => {
  const { ask } = start(t)
  const whole = (await ask('all')).json<{ advertisers: { id: number }[]; next?: number }>()
  assert.ok(whole.advertisers.length > 1)
  assert.equal(whole.next, undefined)

  const ids: number[] = []
  for (let after: number | undefined, page = 0; page <= whole.advertisers.length; page += 1) {
    const response = await ask('all', { limit: 1, ...(after !== undefined && { after }) })
    const answer = response.json<typeof whole>()
    ids.push(...answer.advertisers.map(({ id }) => id))
    after = answer.next
    if (after === undefined) break
  }

  assert.deepEqual(
    ids,
    whole.advertisers.map(({ id }) => id)
  )
})

test('an overview takes a place like a report', async (t) => {
  const gate = new EventEmitter()
  const opened = once(gate, 'open')
  const entered = once(gate, 'entered')
  const result: SummaryResult = { ...coverage, advertisers: new Map() }
  const { app } = startHarness({
    reportsPerKeyMax: 1,
    reportWaitMsMax: 1,
    readSummary: async () => {
      gate.emit('entered')
      await opened
      return result
    },
  })
  t.after(() => app.close())
  const ask = async (changes = {}) =>
    await app.inject({
      method: 'POST',
      url,
      headers: bearer('K1'),
      payload: { ...payload, ...changes },
    })

  const first = ask()
  await entered
  const second = await ask({ trendDays: 1 })
  gate.emit('open')

  assert.deepEqual([second.statusCode, (await first).statusCode], [429, 200])
})
