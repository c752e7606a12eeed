import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  groupings,
  listConvertedColumns,
  listGroupColumns,
  parseGroupRequest,
} from '../../src/contract/group-request.ts'
import { orderByColumns } from '../../src/contract/report-request.ts'

const base = { startDate: '2026-03-01', endDate: '2026-03-31', groupBy: ['CAMPAIGN'] }

function faults(changes: object): readonly string[] {
  const parsed = parseGroupRequest({ ...base, ...changes })
  return parsed.ok ? [] : parsed.messages
}

test('groups are ordered by what they cost, the dearest first, and count their orders, unless told otherwise', () => {
  assert.deepEqual(parseGroupRequest(base), {
    ok: true,
    value: {
      groupBy: ['CAMPAIGN'],
      filters: [],
      startDate: '2026-03-01',
      endDate: '2026-03-31',
      attributionProfile: 'IMP_1_DAY_CLK_14_DAYS',
      page: 0,
      limit: 10_000,
      sortType: 'DESC',
      orderBy: 'AD_SPEND_REVENUE',
      withOrders: true,
    },
  })
})

test('a report by groups names at least one grouping, and none twice', () => {
  assert.deepEqual(faults({ groupBy: undefined }), ['/groupBy is required'])
  assert.deepEqual(faults({ groupBy: [] }), ['/groupBy must have at least 1 item'])
  assert.deepEqual(faults({ groupBy: ['BRAND', 'BRAND'] }).length, 1)
  assert.deepEqual(faults({ groupBy: ['SHOP'] }).length, 1)
  assert.deepEqual(faults({ groupBy: groupings }), [])
})

test('the order is by a figure or by a column that the groups have; the fault names what would give it', () => {
  for (const orderBy of ['ORDERS', 'CLICKS', 'RETURN_ON_AD_SPEND', 'CAMPAIGN_NAME']) {
    assert.deepEqual(faults({ orderBy }), [])
  }
  assert.deepEqual(faults({ orderBy: 'BRAND' }), [
    '/orderBy must not be BRAND unless /groupBy has PRODUCT or BRAND',
  ])
  assert.deepEqual(faults({ orderBy: 'DATE' }), [
    '/orderBy must not be DATE unless /groupBy has DATE',
  ])
  assert.deepEqual(faults({ orderBy: 'BRAND', groupBy: ['BRAND'] }), [])
})

test('all groupings together have the columns of the report, and every grouping only its own', () => {
  assert.deepEqual(listGroupColumns(groupings), [...orderByColumns, 'CURRENCY', 'ORDERS'])
  assert.deepEqual(listGroupColumns(['PUBLISHER', 'DATE']).slice(0, 4), [
    'PUBLISHER_ID',
    'PUBLISHER_NAME',
    'DATE',
    'IMPRESSIONS',
  ])
})

test('dates, filters and pages have the rules of the report', () => {
  assert.deepEqual(faults({ startDate: '2026-04-01' }), ['/startDate must not be after /endDate'])
  assert.deepEqual(faults({ filters: [{ field: 'AD_GROUP_ID', values: ['x'] }] }), [
    '/filters/0/values/0 must be an id: a whole number of 32 bits',
  ])
  assert.deepEqual(faults({ page: 1_001 }), ['/page must be at most 1000'])
  assert.equal(faults({ dateBreakdown: true }).length, 1)
})

test('what is converted is never called like an amount in its own currency', () => {
  assert.deepEqual(faults({ convertTo: 'EUR' }), [])
  assert.deepEqual(faults({ convertTo: 'eur' }).length, 1)
  assert.deepEqual(faults({ convertTo: 'XYZ' }), [
    '/convertTo must be an ISO 4217 currency code such as EUR',
  ])
  assert.deepEqual(listConvertedColumns(['BRAND']), [
    'BRAND',
    'IMPRESSIONS',
    'CLICKS',
    'LOADS',
    'CONVERSIONS',
    'UNITS_SOLD',
    'CLICK_THROUGH_RATE',
    'CONVERSION_RATE',
    'CONVERTED_CONVERSION_VALUE',
    'CONVERTED_AD_SPEND_REVENUE',
    'CONVERTED_COST_PER_CLICK',
    'CONVERTED_RETURN_ON_AD_SPEND',
    'CONVERTED_CURRENCY',
    'ORDERS',
    'CONVERTED_FROM',
    'WITHOUT_RATE',
  ])
})

test('one currency is asked for by its code, or by an empty text where it is unknown, and never with a conversion', () => {
  for (const currency of ['EUR', '']) {
    const parsed = parseGroupRequest({ ...base, currency })
    assert.equal(parsed.ok && parsed.value.currency, currency)
  }
  assert.deepEqual(faults({ currency: 'eur' }).length, 1)
  assert.deepEqual(faults({ currency: 'EUR', convertTo: 'EUR' }), [
    '/currency and /convertTo must not be there together',
  ])
})
