import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseReportRequest } from '../../src/contract/report-request.ts'
import { inCurrency, parseView, periodBefore, tableRequestOf } from '../../dashboard/src/view.ts'
import fc from 'fast-check'

const today = '2026-11-28'

test('an empty address is the last 28 days, by spend, the most first', () => {
  const view = parseView(new URLSearchParams(), today)

  assert.deepEqual([view.startDate, view.endDate], ['2026-11-01', today])
  assert.deepEqual([view.orderBy, view.isDescending, view.page], ['AD_SPEND_REVENUE', true, 0])
})

test('whatever stands in an address, the service is asked a question that it takes', () => {
  const name = fc.constantFrom(
    'from',
    'to',
    'profile',
    'sort',
    'order',
    'page',
    'size',
    'columns',
    'title',
    'market'
  )
  const value = fc.oneof(
    fc.string(),
    fc.constantFrom(
      '2026-02-30',
      '2026-01-01',
      '1900-01-01',
      '-1',
      '1e9',
      'CURRENCY',
      'GTIN',
      'DATE',
      '__proto__'
    )
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value)), (pairs) => {
      const request = tableRequestOf(parseView(new URLSearchParams(pairs), today))
      assert.deepEqual(parseReportRequest(structuredClone(request)).ok, true)
    })
  )
})

test('the period before is as long and ends the day before', () => {
  const before = periodBefore({ startDate: '2026-03-01', endDate: '2026-03-31' })

  assert.deepEqual(before, { startDate: '2026-01-29', endDate: '2026-02-28' })
})

test('rows are kept to the markets of the currency unless a market is chosen', () => {
  const view = parseView(new URLSearchParams(), today)
  const chosen = parseView(new URLSearchParams('market=GB'), today)

  const field = 'MARKET'
  assert.deepEqual(tableRequestOf(inCurrency(view, ['DE', 'AT'])).filters, [
    { field, values: ['DE', 'AT'] },
  ])
  assert.deepEqual(tableRequestOf(inCurrency(chosen, ['DE'])).filters, [{ field, values: ['GB'] }])
})

test('an address beyond the last page that the interface has shows the last one', () => {
  for (const [text, page] of [
    ['1000', 1_000],
    ['1001', 1_000],
    ['99999999999', 1_000],
    ['-1', 0],
    ['1.5', 0],
    ['x', 0],
  ] as const) {
    assert.equal(parseView(new URLSearchParams({ page: text }), today).page, page, text)
  }
})
