import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dayShiftParams, dayNumberSql, marketShifts, shiftsOf } from '../../src/days/day-shifts.ts'
import { buildDayRuns, runsOf, unknownMarket } from '../../src/days/market-days.ts'
import { dayBounds, listDays } from '../../src/domain/day.ts'
import { openTestWarehouse } from '../helpers/test-warehouse.ts'

const dayMs = 86_400_000

// Changes of an hour and of half an hour, at midnight, over midnight, two in a month, of a whole day, and none.
const zonesAndDays = [
  ['Europe/Berlin', '2026-01-01', '2027-12-31'],
  ['America/New_York', '2026-01-01', '2026-12-31'],
  ['Australia/Lord_Howe', '2026-01-01', '2026-12-31'],
  ['America/Sao_Paulo', '2018-01-01', '2019-03-31'],
  ['America/Havana', '2026-01-01', '2026-12-31'],
  ['Africa/Casablanca', '2026-01-01', '2026-12-31'],
  ['Pacific/Apia', '2011-12-01', '2012-01-31'],
  ['Asia/Kathmandu', '2026-01-01', '2026-12-31'],
  ['Pacific/Kiritimati', '2026-03-10', '2026-03-10'],
] as const

test('the first and the last millisecond of each day, and its middle, fall into the day', () => {
  for (const [timeZone, first, last] of zonesAndDays) {
    const days = listDays(first, last)
    const shifts = shiftsOf(buildDayRuns(days, timeZone))
    for (const day of days) {
      const { fromMs, toMs } = dayBounds(day, timeZone)
      if (fromMs === toMs) continue
      for (const atMs of [fromMs, Math.floor((fromMs + toMs) / 2), toMs - 3_600_000, toMs - 1]) {
        const { shiftMs } = shifts.findLast((shift) => shift.fromMs <= atMs) ?? { shiftMs: NaN }
        const found = Math.floor((atMs + shiftMs) / dayMs)
        assert.equal(found, Date.parse(day) / dayMs, `${timeZone} ${day} ${atMs}`)
      }
    }
  }
})

function countOf(timeZone: string, first: string, last: string): number {
  return shiftsOf(buildDayRuns(listDays(first, last), timeZone)).length
}

test('a zone needs one shift for days without a clock change, and one more for each change', () => {
  assert.equal(countOf('Europe/Berlin', '2026-04-01', '2026-10-24'), 1)
  assert.equal(countOf('Europe/Berlin', '2026-03-29', '2026-03-29'), 1)
  assert.equal(countOf('Europe/Berlin', '2026-10-25', '2026-10-25'), 2)
  assert.equal(countOf('Europe/Berlin', '2026-01-01', '2026-12-31'), 3)
  assert.equal(countOf('Europe/Berlin', '2025-01-01', '2026-12-31'), 5)
  assert.equal(countOf('UTC', '2025-01-01', '2026-12-31'), 1)
})

test('ClickHouse finds the same days for markets of different zones in one statement', async (t) => {
  const warehouse = await openTestWarehouse(t)
  const days = listDays('2026-03-01', '2026-11-30')
  const markets = ['Europe/Berlin', 'UTC', 'America/New_York', 'Australia/Lord_Howe'].map(
    (timeZone, index) => ({ id: index + 1, code: `M${index}`, currency: 'EUR', timeZone })
  )
  const asked = [...markets, unknownMarket].map((market) => ({ market, days }))
  const shifts = marketShifts(runsOf(asked))
  const instants = asked.flatMap(({ market }) =>
    days.flatMap((day) => {
      const { fromMs, toMs } = dayBounds(day, market.timeZone)
      return [fromMs, toMs - 1].map((atMs) => ({ marketId: market.id, atMs, day }))
    })
  )

  const rows = await warehouse.rows<{ day: string }>(
    `SELECT toString(toDate(${dayNumberSql('at', shifts)})) AS day
    FROM (
      SELECT arrayJoin(arrayZip({marketOf:Array(Int32)}, {atMs:Array(Int64)})) AS pair,
        pair.1 AS market_id, pair.2 AS at
    )`,
    {
      marketIds: asked.map(({ market }) => market.id),
      ...dayShiftParams(asked, shifts),
      // The last market stands for those that the catalog does not know.
      marketOf: instants.map(({ marketId }) => (marketId === unknownMarket.id ? 99 : marketId)),
      atMs: instants.map(({ atMs }) => atMs),
    }
  )

  assert.equal(rows.length, instants.length)
  assert.deepEqual(
    rows.map(({ day }) => day),
    instants.map(({ day }) => day)
  )
})
