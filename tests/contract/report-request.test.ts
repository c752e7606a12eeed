import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { orderByColumns, parseReportRequest } from '../../src/contract/report-request.ts'

type Body = Readonly<Record<string, unknown>>

function aRequest(changes: Body = {}): Body {
  return { startDate: '2026-03-01', endDate: '2026-03-31', ...changes }
}

function faults(body: unknown): readonly string[] {
  const parsed = parseReportRequest(body)
  return parsed.ok ? [] : parsed.messages
}

function filterValuesOf(values: readonly unknown[]): readonly string[] {
  const parsed = parseReportRequest(aRequest({ filters: [{ field: 'GTIN', values }] }))
  assert.ok(parsed.ok)
  return parsed.value.filters[0]?.values ?? []
}

const elementRule = 'must be a string, a finite number, or an object whose value is one'

test('what is left out gets its default', () => {
  assert.deepEqual(parseReportRequest(aRequest()), {
    ok: true,
    value: {
      filters: [],
      startDate: '2026-03-01',
      endDate: '2026-03-31',
      attributionProfile: 'IMP_1_DAY_CLK_14_DAYS',
      page: 0,
      limit: 10000,
      sortType: 'ASC',
      dateBreakdown: false,
      orderBy: 'GTIN',
    },
  })
})

test('what is given is kept', () => {
  const given = {
    ...aRequest(),
    filters: [{ field: 'BRAND', values: ['Acme'] }],
    attributionProfile: 'CLK_14_DAYS',
    page: 3,
    limit: 50,
    sortType: 'DESC',
    dateBreakdown: true,
    orderBy: 'DATE',
  }

  assert.deepEqual(parseReportRequest(given), { ok: true, value: given })
})

test('both dates are required and exist in the calendar', () => {
  assert.deepEqual(faults({}), ['/startDate is required', '/endDate is required'])
  const impossible = ['2026-02-30', '2026-02-29', '2100-02-29', '2026-13-01', '2026-00-10']
  const misspelled = [
    '2026-3-1',
    '20260301',
    '2026-03-01T25:00:00Z',
    '0000-00-00',
    '',
    ' 2026-03-01',
  ]
  for (const startDate of [...impossible, ...misspelled]) {
    assert.deepEqual(faults(aRequest({ startDate })), [
      '/startDate must be a date such as 2026-03-01',
    ])
  }
  assert.deepEqual(faults(aRequest({ endDate: null })), ['/endDate must be string'])
  assert.deepEqual(faults(aRequest({ startDate: '2024-02-29', endDate: '2024-02-29' })), [])
})

test('a start after the end is refused', () => {
  assert.deepEqual(faults(aRequest({ startDate: '2026-04-01' })), [
    '/startDate must not be after /endDate',
  ])
})

test('731 days are taken and 732 are not', () => {
  const startDate = '2024-01-01'
  assert.deepEqual(faults(aRequest({ startDate, endDate: '2025-12-31' })), [])
  assert.deepEqual(faults(aRequest({ startDate, endDate: '2026-01-01' })), [
    '/endDate must be at most 731 days from /startDate, both included',
  ])
  assert.equal(faults(aRequest({ startDate: '1000-01-01', endDate: '9999-12-31' })).length, 1)
})

test('page and limit stay in their bounds and are never null', () => {
  for (const page of [0, 1000]) assert.deepEqual(faults(aRequest({ page })), [])
  for (const limit of [1, 10000]) assert.deepEqual(faults(aRequest({ limit })), [])
  assert.deepEqual(faults(aRequest({ page: -1 })), ['/page must be at least 0'])
  assert.deepEqual(faults(aRequest({ page: 1001 })), ['/page must be at most 1000'])
  assert.deepEqual(faults(aRequest({ page: 1e308 })), ['/page must be at most 1000'])
  assert.deepEqual(faults(aRequest({ limit: 0 })), ['/limit must be at least 1'])
  assert.deepEqual(faults(aRequest({ limit: 10001 })), ['/limit must be at most 10000'])
  for (const value of [null, '1', true, 1.5, [1]]) {
    assert.deepEqual(faults(aRequest({ page: value })), ['/page must be integer'])
    assert.deepEqual(faults(aRequest({ limit: value })), ['/limit must be integer'])
  }
})

test('dateBreakdown is a boolean', () => {
  for (const dateBreakdown of [null, 'true', 1, 'week']) {
    assert.deepEqual(faults(aRequest({ dateBreakdown })), ['/dateBreakdown must be boolean'])
  }
})

test('every column of the list can order, DATE only with a breakdown', () => {
  for (const orderBy of orderByColumns) {
    assert.deepEqual(faults(aRequest({ orderBy, dateBreakdown: true })), [])
  }
  assert.deepEqual(faults(aRequest({ orderBy: 'DATE' })), [
    '/orderBy must not be DATE unless /dateBreakdown is true',
  ])
  assert.deepEqual(faults(aRequest({ orderBy: 'DATE', dateBreakdown: false })).length, 1)
})

test('names outside the lists are refused, those of every object too', () => {
  const strangers = [
    'gtin',
    'constructor',
    '__proto__',
    'toString',
    '',
    'DATE; DROP TABLE x',
    null,
    1,
  ]
  for (const name of strangers) {
    assert.match(faults(aRequest({ orderBy: name }))[0] ?? '', /^\/orderBy must be one of: GTIN, /)
    assert.deepEqual(faults(aRequest({ sortType: name })), ['/sortType must be one of: ASC, DESC'])
    assert.deepEqual(faults(aRequest({ attributionProfile: name })), [
      '/attributionProfile must be one of: IMP_1_DAY_CLK_14_DAYS, IMP_1_DAY, CLK_14_DAYS',
    ])
    assert.deepEqual(faults(aRequest({ filters: [{ field: name, values: [] }] })), [
      '/filters/0/field must be one of: GTIN, PRODUCT_TITLE, BRAND, MARKET',
    ])
  }
})

test('a filter without field or values is refused, one with empty values is kept', () => {
  assert.deepEqual(faults(aRequest({ filters: [{}, { field: 'GTIN' }, { values: [] }] })), [
    '/filters/0/field is required',
    '/filters/0/values is required',
    '/filters/1/values is required',
    '/filters/2/field is required',
  ])
  assert.deepEqual(filterValuesOf([]), [])
})

test('filters is a list of objects', () => {
  assert.deepEqual(faults(aRequest({ filters: { brand: 'x' } })), ['/filters must be array'])
  assert.deepEqual(faults(aRequest({ filters: null })), ['/filters must be array'])
  assert.deepEqual(faults(aRequest({ filters: [null] })), ['/filters/0 must be object'])
  assert.deepEqual(faults(aRequest({ filters: [{ field: 'GTIN', values: 'x' }] })), [
    '/filters/0/values must be array',
  ])
})

test('a value is a string, a number, or an object with a value that is one', () => {
  const values = ['Acme', ' Tea', 4006381333931, 1.5, -0, { value: 'x' }, { value: 7, other: [] }]

  assert.deepEqual(filterValuesOf(values), ['Acme', ' Tea', '4006381333931', '1.5', '0', 'x', '7'])
})

test('a value of any other shape is refused', () => {
  const inherited = { constructor: 'x', ['__proto__']: { value: 'x' } }
  const nested = [{ value: { value: 'x' } }, { value: null }, { value: ['x'] }]
  const others = [null, true, [], {}, { values: 'x' }, Number.POSITIVE_INFINITY]
  for (const element of [...others, ...nested, inherited]) {
    assert.deepEqual(faults(aRequest({ filters: [{ field: 'GTIN', values: ['x', element] }] })), [
      `/filters/0/values/1 ${elementRule}`,
    ])
  }
})

test('a value that the warehouse could not hold is refused', () => {
  for (const hostile of ['\ud800', 'a\0b', { value: '\udc00' }]) {
    assert.deepEqual(faults(aRequest({ filters: [{ field: 'GTIN', values: [hostile] }] })), [
      '/filters/0/values/0 must be text without lone surrogates or U+0000',
    ])
  }
})

test('hostile text in a value is only text', () => {
  const values = ["' OR 1=1 --", "\\' OR 1=1 --", '{x:String}', '=1+1']

  assert.deepEqual(filterValuesOf(values), values)
})

test('100 filters and 10,000 values are taken and not one more', () => {
  const filter = { field: 'GTIN', values: ['x'] }
  const filters = (count: number) => Array.from({ length: count }, () => filter)
  assert.deepEqual(faults(aRequest({ filters: filters(100) })), [])
  assert.deepEqual(faults(aRequest({ filters: filters(101) })), [
    '/filters must have at most 100 items',
  ])

  const values = Array.from({ length: 9_999 }, () => 'x')
  const many = { field: 'GTIN', values }
  assert.deepEqual(faults(aRequest({ filters: [many, filter] })), [])
  assert.deepEqual(faults(aRequest({ filters: [many, filter, filter] })), [
    '/filters must have at most 10000 values together',
  ])
})

test('at most 20 faults are told', () => {
  const values = Array.from({ length: 1_000 }, () => null)

  assert.equal(faults(aRequest({ filters: [{ field: 'GTIN', values }] })).length, 20)
})

test('every fault of the meaning is told at once', () => {
  const body = aRequest({
    startDate: '2026-05-01',
    orderBy: 'DATE',
    filters: [{ field: 'GTIN', values: [''] }],
  })

  assert.equal(faults(body).length, 3)
})

test('no value makes the parser throw', () => {
  fc.assert(
    fc.property(fc.anything(), fc.array(fc.anything()), (value, values) => {
      parseReportRequest(value)
      parseReportRequest(aRequest({ filters: [{ field: 'GTIN', values }, value], page: value }))
    })
  )
})

test('an empty or blank filter text is refused for every field, as nobody can tell what it means', () => {
  for (const field of ['GTIN', 'PRODUCT_TITLE', 'BRAND', 'MARKET']) {
    for (const value of ['', ' ', '\t\n', '\u00a0', { value: '' }]) {
      assert.deepEqual(faults(aRequest({ filters: [{ field, values: ['x', value] }] })), [
        '/filters/0/values/1 must not be empty or blank; leave the filter out to filter nothing',
      ])
    }
  }
})
