import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSummaryRequest, summaryLimits } from '../../src/contract/summary-request.ts'

const base = { startDate: '2026-03-01', endDate: '2026-03-31' }

function faults(changes: object): readonly string[] {
  const parsed = parseSummaryRequest({ ...base, ...changes })
  return parsed.ok ? [] : parsed.messages
}

test('an overview is of all that the key may read, without days, comparison or other currency, unless told otherwise', () => {
  assert.deepEqual(parseSummaryRequest(base), {
    ok: true,
    value: {
      ...base,
      advertiserIds: null,
      attributionProfile: 'IMP_1_DAY_CLK_14_DAYS',
      comparison: null,
      trendDays: 0,
      convertTo: null,
      after: 0,
      limit: 200,
    },
  })
})

const many = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

test('a list of advertisers names each once, and no more than a page has', () => {
  assert.deepEqual(faults({ advertiserIds: many(summaryLimits.advertisersMax) }), [])
  assert.deepEqual(faults({ advertiserIds: many(summaryLimits.advertisersMax + 1) }), [
    '/advertiserIds must have at most 200 items',
  ])
  assert.equal(faults({ advertiserIds: [1, 1] }).length, 1)
  assert.equal(faults({ advertiserIds: [] }).length, 1)
  assert.deepEqual(faults({ limit: 201 }), ['/limit must be at most 200'])
})

test('days of a trend are bounded, and both periods keep the rules of reports', () => {
  assert.deepEqual(faults({ trendDays: summaryLimits.trendDaysMax }), [])
  assert.deepEqual(faults({ trendDays: summaryLimits.trendDaysMax + 1 }), [
    '/trendDays must be at most 62',
  ])
  assert.deepEqual(faults({ startDate: '2026-04-01' }), ['/startDate must not be after /endDate'])
  assert.deepEqual(faults({ comparison: { startDate: '2026-02-02', endDate: '2026-02-01' } }), [
    '/comparison/startDate must not be after /comparison/endDate',
  ])
  assert.deepEqual(faults({ comparison: { startDate: '2023-02-02', endDate: '2026-02-01' } }), [
    '/comparison/endDate must be at most 731 days from /comparison/startDate, both included',
  ])
})

test('the currency to convert to is one of ISO 4217', () => {
  assert.deepEqual(faults({ convertTo: 'KWD' }), [])
  for (const convertTo of ['XXX', 'eur', 'EURO', '']) {
    assert.deepEqual(faults({ convertTo }), [
      '/convertTo must be an ISO 4217 currency code such as EUR',
    ])
  }
})
