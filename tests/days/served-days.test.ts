import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dayRowsParams, dayRowsSql } from '../../src/days/day-rows.ts'
import { openRowsSql } from '../../src/days/open-rows.ts'
import { noRates } from '../../src/days/rates.ts'
import { aClick, aWorld, anAd } from '../helpers/seal-scenario.ts'

// A year of history must not make a report of today slower. Parts are of a month, so an event of another month that
// is read shows that its month was not left out.
test('the events of a day are read from the months in which their ads were served, and from no other', async (t) => {
  const world = await aWorld(t)
  const months = ['2025-12', '2026-01', '2026-02', '2026-03', '2026-04']
  const clicks = months.map((month, index) => {
    const servedAtMs = Date.parse(`${month}-20T12:00:00Z`)
    return aClick(anAd({ servedAdId: String(index).repeat(32), servedAtMs }), servedAtMs + 1_000)
  })
  for (const click of clicks) await world.loader.ship([click])
  const [market] = world.markets
  assert.ok(market)
  const params = {
    advertiserId: 1,
    ...dayRowsParams([{ market, days: ['2026-03-20'] }], noRates),
  }
  const profile = 'IMP_1_DAY_CLK_14_DAYS'
  const statements = [
    openRowsSql({ profile, condition: '1', shifts: null, withOrders: true }),
    dayRowsSql({ advertisers: 'one', profiles: [profile], condition: '1' }),
    dayRowsSql({ advertisers: 'all', profiles: [profile], condition: '1' }),
  ]

  for (const sql of statements) {
    const select = sql.slice(sql.indexOf('SELECT'))
    const read = await world.warehouse.rows<{ table: string; rows: number }>(
      `EXPLAIN ESTIMATE ${select}`,
      params
    )
    const events = read.filter(({ table }) => table === 'ad_event')
    assert.deepEqual(
      events.map(({ rows }) => rows),
      [1]
    )
  }
})
