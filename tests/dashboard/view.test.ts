import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupings, listGroupColumns, parseGroupRequest } from '../../src/contract/group-request.ts'
import { columnsOfTab } from '../../dashboard/src/columns.ts'
import {
  defaultOrder,
  filterNames,
  levelsOf,
  noFilters,
  tabNames,
  tabs,
} from '../../dashboard/src/groups.ts'
import { withQuery } from '../../dashboard/src/router.ts'
import { baseOf } from '../../dashboard/src/bases.ts'
import {
  inCurrency,
  parseView,
  seriesQuestionOf,
  tableRequestOf,
} from '../../dashboard/src/view.ts'
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
    'base-from',
    'base-to',
    'today',
    'profile',
    'sort',
    'order',
    'currency',
    'page',
    'size',
    'columns',
    'by',
    'group',
    ...filterNames
  )
  const value = fc.oneof(
    fc.string(),
    fc.constantFrom(
      '2026-02-30',
      'last-year',
      'chosen',
      'included',
      '2026-01-01',
      '1900-01-01',
      '-1',
      '1e9',
      'CURRENCY',
      'GTIN',
      'DATE',
      'ORDERS',
      'all-EUR',
      'all-XXX',
      ...tabNames,
      '__proto__'
    )
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value)), (pairs) => {
      const view = parseView(new URLSearchParams(pairs), market)
      const request = tableRequestOf(view)
      for (const days of [{}, baseOf(view) ?? {}]) {
        assert.deepEqual(parseGroupRequest(structuredClone({ ...request, ...days })).ok, true)
      }
    })
  )
})

test('rows are kept to one currency under the filters of the totals, so that both count the same orders', () => {
  const view = parseView(new URLSearchParams('market=GB&market=DE&campaign=7'), market)

  for (const currency of ['EUR', '']) {
    const request = tableRequestOf(inCurrency(view, currency))
    assert.deepEqual(request.filters, seriesQuestionOf(view).filters)
    assert.equal(request.currency, currency)
    assert.deepEqual(parseGroupRequest(structuredClone(request)).ok, true)
  }
})

test('an address without a tab is that of campaigns, and a filter has each of its values once', () => {
  const view = parseView(new URLSearchParams('brand=A&brand=B&brand=A&campaign=spring'), market)

  assert.deepEqual(view.filters, { ...noFilters, brand: ['A', 'B'] })
  assert.deepEqual(tableRequestOf(view).groupBy, ['CAMPAIGN'])
})

test('an address without a tab that is sorted by a column which campaigns lack is that of all rows', () => {
  for (const [text, tab, orderBy] of [
    ['sort=GTIN', 'rows', 'GTIN'],
    ['sort=PUBLISHER_NAME&size=10&page=1000', 'rows', 'PUBLISHER_NAME'],
    ['sort=CLICKS', 'campaigns', 'CLICKS'],
    ['sort=CAMPAIGN_ID', 'campaigns', 'CAMPAIGN_ID'],
    ['sort=CURRENCY', 'campaigns', defaultOrder],
    ['sort=NONSENSE', 'campaigns', defaultOrder],
    ['group=brands&sort=GTIN', 'brands', defaultOrder],
    ['group=nonsense&sort=GTIN', 'rows', 'GTIN'],
  ] as const) {
    const view = parseView(new URLSearchParams(text), market)
    assert.deepEqual([view.tab, view.orderBy], [tab, orderBy], text)
  }
})

test('every tab has the columns that its groups have, the name first, and shows no other by itself', () => {
  for (const name of tabNames) {
    const { groupBy } = tabs[name]
    const [first] = columnsOfTab(name)
    assert.deepEqual(columnsOfTab(name).toSorted(), listGroupColumns(groupBy).toSorted(), name)
    assert.equal(first, tabs[name].name)
    const view = parseView(new URLSearchParams({ group: name }), market)
    assert.equal(new Set(view.columns).size, view.columns.length)
    assert.ok(view.columns.every((column) => columnsOfTab(name).includes(column)))
    assert.ok(groupBy.every((grouping) => groupings.includes(grouping)))
  }
})

test('the way back up is that of the filters of one value, from the widest', () => {
  const filters = { ...noFilters, 'ad-group': ['5'], campaign: ['7'], brand: ['A', 'B'] }

  assert.deepEqual(
    levelsOf(filters).map(({ filter, from, to }) => `${filter} ${from} ${to}`),
    ['campaign campaigns ad-groups', 'ad-group ad-groups products']
  )
})

test('several values stand under one name of the address, and none take it away', () => {
  const query = new URLSearchParams('brand=A&page=2&title=x')

  assert.equal(
    withQuery(query, { brand: ['B', 'C, D'], page: null, title: [] }).toString(),
    'brand=B&brand=C%2C+D'
  )
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
