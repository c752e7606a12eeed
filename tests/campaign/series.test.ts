import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { test } from 'node:test'
import type { CurrencyTotals } from '../../src/reports/report.ts'
import type { SeriesCall } from '../../src/reports/series.ts'
import { bearer, startHarness } from './harness.ts'

const url = '/v2/advertisers/1/reports/spa/series.json'
const sums: CurrencyTotals = {
  unconvertedCount: 7,
  currency: 'EUR',
  impressions: 3n,
  clicks: 2n,
  loads: 4n,
  conversions: 1n,
  orders: 1n,
  unitsSold: 5n,
  valueNanos: 30_100_000_000n,
  spendNanos: 500_000_000n,
}

test('sums are printed as a report prints its figures, ratios over zero are null, and filters reach the reader', async (t) => {
  const calls: SeriesCall[] = []
  const { app } = startHarness({
    readSeries: (call) => {
      calls.push(call)
      const days = [
        { ...sums, day: '2026-03-01', currency: 'JPY', clicks: 0n, spendNanos: 0n, orders: null },
      ]
      return Promise.resolve({
        days,
        totals: [sums],
        completeThrough: '2026-03-01',
        firstDay: '2026-02-03',
        renewingDays: ['2026-03-01'],
        unconvertedCount: 7,
      })
    },
  })
  t.after(() => app.close())
  const filters = [{ field: 'BRAND', values: ['Acme'] }]
  const payload = { startDate: '2026-03-01', endDate: '2026-03-02', filters }

  const response = await app.inject({ method: 'POST', url, headers: bearer('K1'), payload })

  assert.deepEqual(response.json(), {
    days: [
      {
        DATE: '2026-03-01',
        IMPRESSIONS: '3',
        CLICKS: '0',
        LOADS: '4',
        CONVERSIONS: '1',
        UNITS_SOLD: '5',
        CLICK_THROUGH_RATE: '0.000000',
        CONVERSION_RATE: null,
        CONVERSION_VALUE: '30.100000000',
        AD_SPEND_REVENUE: '0',
        COST_PER_CLICK: null,
        RETURN_ON_AD_SPEND: null,
        CURRENCY: 'JPY',
        ORDERS: null,
      },
    ],
    totals: [
      {
        IMPRESSIONS: '3',
        CLICKS: '2',
        LOADS: '4',
        CONVERSIONS: '1',
        UNITS_SOLD: '5',
        CLICK_THROUGH_RATE: '0.666667',
        CONVERSION_RATE: '0.500000',
        CONVERSION_VALUE: '30.10',
        AD_SPEND_REVENUE: '0.50',
        COST_PER_CLICK: '0.250000',
        RETURN_ON_AD_SPEND: '60.2000',
        CURRENCY: 'EUR',
        ORDERS: '1',
        UNCONVERTED: '7',
      },
    ],
    completeThrough: '2026-03-01',
    firstDay: '2026-02-03',
    renewingDays: ['2026-03-01'],
    unconverted: 7,
  })
  assert.deepEqual([calls[0]?.advertiserId, calls[0]?.request.filters], [1, filters])
})

test('a question that breaks a rule of reports is told the rule, and a key for another advertiser nothing', async (t) => {
  const { app } = startHarness()
  t.after(() => app.close())
  const payload = { startDate: '2026-03-02', endDate: '2026-03-01' }

  const wrong = await app.inject({ method: 'POST', url, headers: bearer('K1'), payload })
  const foreign = await app.inject({ method: 'POST', url, headers: bearer('K2'), payload })

  assert.deepEqual(wrong.json(), { messages: ['/startDate must not be after /endDate'] })
  assert.deepEqual([wrong.statusCode, foreign.statusCode], [422, 403])
})

test('series share the slots of reports: a key that has them all taken is asked to come back', async (t) => {
  const gate = new EventEmitter()
  const opened = once(gate, 'open')
  const entered = once(gate, 'entered')
  let readCount = 0
  const { app } = startHarness({
    reportsPerKeyMax: 1,
    readSeries: async () => {
      readCount += 1
      gate.emit('entered')
      await opened
      return {
        days: [],
        totals: [],
        completeThrough: null,
        firstDay: null,
        renewingDays: [],
        unconvertedCount: 0,
      }
    },
  })
  t.after(() => app.close())
  const ask = async (startDate: string) => {
    const payload = { startDate, endDate: '2026-03-02' }
    return await app.inject({ method: 'POST', url, headers: bearer('K1'), payload })
  }

  const [first, equal] = [ask('2026-03-01'), ask('2026-03-01')]
  await entered
  const second = await ask('2026-03-02')
  gate.emit('open')

  assert.deepEqual([second.statusCode, (await first).statusCode], [429, 200])
  // A colleague's equal question is the same one.
  const { statusCode, body } = await equal
  assert.deepEqual([statusCode, body], [200, (await first).body])
  assert.equal(readCount, 1)
  assert.equal((await ask('2026-03-02')).statusCode, 200)
})
