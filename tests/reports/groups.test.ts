// A report by groups against the rows of the report, which it adds up, and against the sums that series.json has under
// filters which name a group.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupings, listGroupColumns, type Grouping } from '../../src/contract/group-request.ts'
import { addUp, filtersOf, type Row } from '../helpers/groups.ts'
import { openGroupsOfMonth } from '../helpers/groups-of-month.ts'

const combinations: readonly (readonly Grouping[])[] = [
  ...groupings.map((grouping) => [grouping]),
  ['CAMPAIGN', 'DATE'],
  ['PRODUCT', 'MARKET', 'AD_GROUP'],
  ['BRAND', 'PUBLISHER'],
  [...groupings],
]

test('groups are the sums of the rows of the report, and their totals the sums of the groups, by every grouping, from events, sealed days, weeks and months', async (t) => {
  const read = await openGroupsOfMonth(t)
  const compare = async (round: number) => {
    const rows = { byDay: await read.rows(true), whole: await read.rows(false) }
    for (const groupBy of combinations.filter((_, index) => index % 3 === round)) {
      const { rows: groups, totals, totalRows } = await read.groups({ groupBy })
      const expected = addUp(groupBy.includes('DATE') ? rows.byDay : rows.whole, groupBy)
      const what = groupBy.join(' ')
      assert.deepEqual(addUp(groups, groupBy), expected, what)
      assert.equal(groups.length, Object.keys(expected).length, `each group once: ${what}`)
      assert.equal(totalRows, groups.length)
      assert.deepEqual(addUp(totals, []), addUp(groups, []), `totals: ${what}`)
      assert.deepEqual(Object.keys(groups[0] ?? {}), listGroupColumns(groupBy))
    }
  }
  const compareOrders = async () => {
    const series = await read.totals([])
    const all = series.map(({ UNCONVERTED: _missing, ...sums }) => sums)
    for (const groupBy of [['BRAND'], ['CAMPAIGN'], ['AD_GROUP', 'MARKET']] as const) {
      const { rows: groups, totals } = await read.groups({ groupBy, orderBy: 'ORDERS' })
      assert.deepEqual(totals, all, 'the totals are those of series.json, orders too')
      for (const row of groups.slice(0, 3)) {
        const filters = filtersOf(row, groupBy)
        if (filters === null) continue
        const named = (await read.totals(filters)).find((one) => one.CURRENCY === row['CURRENCY'])
        assert.notEqual(row['ORDERS'], '0')
        assert.equal(row['ORDERS'], named?.ORDERS, JSON.stringify(row))
      }
    }
  }

  const comparePages = async () => {
    const whole = await read.groups({ groupBy: ['PRODUCT'], orderBy: 'PRODUCT_TITLE' })
    const rows: Row[] = []
    for (let page = 0; rows.length < whole.totalRows; page += 1) {
      const part = await read.groups({
        groupBy: ['PRODUCT'],
        orderBy: 'PRODUCT_TITLE',
        limit: 25,
        page,
      })
      assert.deepEqual(part.totals, whole.totals, 'a page has the totals of all')
      rows.push(...part.rows)
    }
    assert.deepEqual(rows, whole.rows)
  }

  await compare(0)
  await comparePages()
  await compareOrders()
  await read.sealThrough(Date.UTC(2026, 3, 2, 12))
  await compare(1)
  await read.sumSpans()
  await compare(2)
})
