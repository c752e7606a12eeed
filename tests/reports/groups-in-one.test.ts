// Groups whose amounts are added up in one currency, against the same groups by currency and against the converted sums
// of series.json.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Grouping, GroupOrder } from '../../src/contract/group-request.ts'
import type { JsonGroups } from '../../src/contract/report-json.ts'
import { addUp, filtersOf, keyOf, type Row } from '../helpers/groups.ts'
import { openGroupsOfMonth } from '../helpers/groups-of-month.ts'

/** The yen has a rate from 8 March on, the dinar none. */
async function openWorld(t: TestContext) {
  const world = await openGroupsOfMonth(t)
  await world.warehouse
    .command(`INSERT INTO rate SELECT 'JPY', toDate('2026-03-08') + number, 150 + number / 7, 1
    FROM numbers(30)`)
  return world
}

const combinations: readonly (readonly Grouping[])[] = [
  ['CAMPAIGN'],
  ['PRODUCT'],
  ['BRAND', 'PUBLISHER'],
  ['AD_GROUP', 'MARKET'],
  ['DATE'],
  ['PRODUCT', 'MARKET', 'AD_GROUP', 'DATE'],
]

type Converted = NonNullable<JsonGroups['converted']>['rows'][number]

function textsOf({ WITHOUT_RATE: _without, ...texts }: Converted): Row {
  return texts
}

const ordersOf = (rows: readonly Row[]) => rows.reduce((sum, row) => sum + Number(row['ORDERS']), 0)

test('a group is one row in one currency: the sums are those of series.json, and its own currencies stay as they are', async (t) => {
  const { groups, converted, sealThrough, sumSpans } = await openWorld(t)
  const compare = async (round: number) => {
    for (const convertTo of ['EUR', 'KWD']) {
      const all = await converted(convertTo)
      for (const groupBy of combinations.filter((_, index) => index % 3 === round)) {
        const what = `${groupBy.join(' ')} in ${convertTo}`
        const plain = await groups({ groupBy })
        const one = await groups({ groupBy, convertTo })
        const { rows = [], totals } = one.converted ?? {}
        assert.deepEqual(totals, all, what)
        assert.deepEqual(addUp(one.rows, groupBy), addUp(plain.rows, groupBy), what)
        assert.equal(ordersOf(one.rows), ordersOf(plain.rows), what)
        assert.deepEqual(one.totals, plain.totals, what)
        assert.equal(one.totalRows, rows.length, what)
        const keys = rows.map((row) => keyOf(textsOf(row), groupBy))
        assert.equal(new Set(keys).size, rows.length, `each group once: ${what}`)
      }
    }
    for (const groupBy of [['CAMPAIGN'], ['AD_GROUP'], ['BRAND']] as const) {
      const { rows = [] } = (await groups({ groupBy, convertTo: 'EUR' })).converted ?? {}
      for (const row of rows.slice(0, 2)) {
        const filters = filtersOf(textsOf(row), groupBy)
        if (filters === null) continue
        const named = await converted('EUR', filters)
        const figures = Object.fromEntries(
          Object.keys(named ?? {}).map((name) => [
            name,
            Object.entries(row).find(([own]) => own === name)?.[1],
          ])
        )
        assert.deepEqual(figures, named, JSON.stringify(row))
      }
    }
  }

  await compare(0)
  await sealThrough(Date.UTC(2026, 2, 20, 12))
  await compare(1)
  await sealThrough(Date.UTC(2026, 3, 2, 12))
  await sumSpans()
  await compare(2)
})

test('groups are put in order and paged by their converted amounts, those that nobody knows last', async (t) => {
  const { groups } = await openWorld(t)
  const question = { groupBy: ['PRODUCT', 'MARKET'], convertTo: 'EUR', withOrders: false } as const
  const orders: readonly GroupOrder[] = [
    'AD_SPEND_REVENUE',
    'CONVERSION_VALUE',
    'COST_PER_CLICK',
    'RETURN_ON_AD_SPEND',
  ]
  for (const orderBy of orders) {
    for (const sortType of ['ASC', 'DESC'] as const) {
      const whole = (await groups({ ...question, orderBy, sortType })).converted?.rows ?? []
      const figures = whole.map((row) => textsOf(row)[orderBy] ?? null)
      const known = figures.filter((figure) => typeof figure === 'string').map(Number)
      assert.ok(known.length > 10 && known.length < figures.length, `${orderBy}: known and unknown`)
      assert.deepEqual(
        figures.slice(known.length).filter((figure) => figure !== null),
        [],
        orderBy
      )
      const direction = sortType === 'ASC' ? 1 : -1
      const sorted = known.toSorted((one, other) => direction * (one - other))
      assert.deepEqual(known, sorted, `${orderBy} ${sortType}`)
    }
  }
  const whole = await groups(question)
  const rows: unknown[] = []
  for (let page = 0; rows.length < whole.totalRows; page += 1) {
    const part = await groups({ ...question, limit: 20, page })
    assert.ok((part.converted?.rows.length ?? 0) <= 20)
    assert.deepEqual(
      part.converted?.totals,
      whole.converted?.totals,
      'a page has the totals of all'
    )
    rows.push(...(part.converted?.rows ?? assert.fail()))
  }
  assert.deepEqual(rows, whole.converted?.rows)
})
