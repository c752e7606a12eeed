import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseReportRequest } from '../../src/contract/report-request.ts'
import { baseOf, inCurrency, parseView, tableRequestOf } from '../../dashboard/src/view.ts'
import fc from 'fast-check'

const market = { newest: '2026-11-28', lastWhole: '2026-11-27', lastWholeOf: new Map() }

test('an empty address is the last 28 whole days, by spend, the most first', () => {
  const view = parseView(new URLSearchParams(), market)

  assert.deepEqual([view.startDate, view.endDate], ['2026-10-31', '2026-11-27'])
  assert.deepEqual([view.orderBy, view.isDescending, view.page], ['AD_SPEND_REVENUE', true, 0])
})

test('whatever stands in an address, the service is asked a question that it takes', () => {
  const name = fc.constantFrom(
    'from',
    'to',
    'period',
    'base',
    'today',
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
      'last-year',
      'included',
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
      const view = parseView(new URLSearchParams(pairs), market)
      const request = tableRequestOf(view)
      for (const days of [{}, baseOf(view) ?? {}]) {
        assert.deepEqual(parseReportRequest(structuredClone({ ...request, ...days })).ok, true)
      }
    })
  )
})

test('rows are kept to the markets of the currency unless a market is chosen', () => {
  const view = parseView(new URLSearchParams(), market)
  const chosen = parseView(new URLSearchParams('market=GB'), market)

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
    assert.equal(parseView(new URLSearchParams({ page: text }), market).page, page, text)
  }
})
