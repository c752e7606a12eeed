import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupRows } from '../../dashboard/src/group-rows.ts'
import type { JsonGroups } from '../../src/contract/report-json.ts'

type Group = JsonGroups['rows'][number]

const group = (changes: Partial<Group>): Group => ({
  CAMPAIGN_ID: '1001',
  CAMPAIGN_NAME: 'Spring',
  IMPRESSIONS: '10',
  CLICKS: '4',
  LOADS: '12',
  CONVERSIONS: '1',
  UNITS_SOLD: '2',
  CLICK_THROUGH_RATE: '0.400000',
  CONVERSION_RATE: '0.250000',
  CONVERSION_VALUE: '39.98',
  AD_SPEND_REVENUE: '1.02',
  COST_PER_CLICK: '0.255000',
  RETURN_ON_AD_SPEND: '39.1961',
  CURRENCY: 'EUR',
  ORDERS: '1',
  ...changes,
})
const autumn = { CAMPAIGN_ID: '1002', CAMPAIGN_NAME: 'Autumn' }
const answer: JsonGroups = {
  rows: [
    group({ ...autumn, CURRENCY: 'GBP' }),
    group({ CURRENCY: 'EUR' }),
    group({ CURRENCY: 'JPY', AD_SPEND_REVENUE: '160' }),
  ],
  totals: [group({}), group({ CURRENCY: 'JPY' })],
  page: 0,
  limit: 25,
  totalRows: 3,
  completeThrough: null,
  renewingDays: [],
  unconverted: 0,
}

test('amounts of several currencies have no total, those of one have', () => {
  assert.equal(groupRows(answer).totals, undefined)
  assert.equal(groupRows(answer).originals, null)
  const [one = assert.fail()] = answer.totals
  assert.equal(groupRows({ ...answer, totals: [one] }).totals, one)
})

test('a converted group has the amounts of its own currencies, of no other, and what of them has no rate', () => {
  const withoutRate = [{ CURRENCY: 'JPY', CONVERSION_VALUE: '0', AD_SPEND_REVENUE: '5' }]
  const { rows, totals, originals } = groupRows({
    ...answer,
    totalRows: 2,
    converted: {
      rows: [
        { ...group(autumn), WITHOUT_RATE: [] },
        { ...group({}), WITHOUT_RATE: withoutRate },
      ],
      totals: { ...group({ AD_SPEND_REVENUE: '3.04' }), WITHOUT_RATE: withoutRate },
    },
  })
  assert.equal(totals?.['AD_SPEND_REVENUE'], '3.04')
  const found = rows.map((row) => {
    const { others = [], withoutRate: left } = originals?.get(row) ?? {}
    return [row['CAMPAIGN_ID'], others.map(({ CURRENCY }) => CURRENCY), left]
  })
  assert.deepEqual(found, [
    ['1002', ['GBP'], []],
    ['1001', ['EUR', 'JPY'], withoutRate],
  ])
})
