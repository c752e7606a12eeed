import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { addDays, daysBetween } from '../../src/domain/day.ts'
import { marketDaysAt } from '../../dashboard/src/market-days.ts'
import {
  daysOfPeriod,
  isPeriod,
  movePeriod,
  periodNames,
  sameWeekdaysLastYear,
  type MarketDays,
  type PeriodName,
} from '../../dashboard/src/periods.ts'
import { baseOf } from '../../dashboard/src/bases.ts'
import { parseView } from '../../dashboard/src/view.ts'

// A Saturday. It is over nowhere.
const market: MarketDays = {
  newest: '2026-11-28',
  lastWhole: '2026-11-27',
  lastWholeOf: new Map(),
}

function show(name: PeriodName, includesToday = false, at = market): string {
  const { startDate, endDate } = daysOfPeriod({ name, includesToday }, at)
  return `${startDate} ${endDate}`
}

test('a period by name ends with the last whole day, or with today where that is asked for', () => {
  for (const [name, whole, running] of [
    ['today', '2026-11-28 2026-11-28', '2026-11-28 2026-11-28'],
    ['yesterday', '2026-11-27 2026-11-27', '2026-11-27 2026-11-27'],
    ['last-7', '2026-11-21 2026-11-27', '2026-11-22 2026-11-28'],
    ['last-28', '2026-10-31 2026-11-27', '2026-11-01 2026-11-28'],
    ['week', '2026-11-23 2026-11-27', '2026-11-23 2026-11-28'],
    ['month', '2026-11-01 2026-11-27', '2026-11-01 2026-11-28'],
    ['quarter', '2026-10-01 2026-11-27', '2026-10-01 2026-11-28'],
    ['year', '2026-01-01 2026-11-27', '2026-01-01 2026-11-28'],
    ['last-month', '2026-10-01 2026-10-31', '2026-10-01 2026-10-31'],
    ['last-year', '2025-01-01 2025-12-31', '2025-01-01 2025-12-31'],
  ] as const) {
    assert.deepEqual([show(name), show(name, true)], [whole, running], name)
  }
})

test('a week, month, quarter or year that begins today shows today, since it has no whole day', () => {
  const newYear = { ...market, newest: '2024-01-01', lastWhole: '2023-12-31' }

  for (const name of ['week', 'month', 'quarter', 'year'] as const) {
    assert.equal(show(name, false, newYear), '2024-01-01 2024-01-01', name)
  }
})

// In Tokyo it is the 29th while the 28th is still running in Berlin: each market's running day is shown.
test('today is the running days of all markets', () => {
  assert.equal(show('today', false, { ...market, newest: '2026-11-29' }), '2026-11-28 2026-11-29')
})

test('whatever the clocks show, a period by name is a range of days up to the newest one', () => {
  const day = fc.integer({ min: 0, max: 36_000 }).map((count) => addDays('1999-12-31', count))
  fc.assert(
    fc.property(
      day,
      fc.integer({ min: 1, max: 2 }),
      fc.boolean(),
      (lastWhole, ahead, includesToday) => {
        const at = { ...market, lastWhole, newest: addDays(lastWhole, ahead) }
        for (const name of periodNames) {
          const { startDate, endDate } = daysOfPeriod({ name, includesToday }, at)
          assert.ok(startDate <= endDate && endDate <= at.newest && isPeriod(startDate, endDate))
          // A leap year, and the first day of the next one where a market is ahead.
          assert.ok(daysBetween(startDate, endDate) <= 366)
        }
      }
    ),
    { examples: [['2060-12-30', 2, true]] }
  )
})

test('periods move by their own length, and those of the calendar by calendar months', () => {
  for (const [days, name, before] of [
    ['2026-03-01 2026-03-10', null, '2026-02-19 2026-02-28'],
    ['2026-03-01 2026-03-31', null, '2026-02-01 2026-02-28'],
    ['2026-02-01 2026-02-28', null, '2026-01-01 2026-01-31'],
    ['2026-01-01 2026-12-31', null, '2025-01-01 2025-12-31'],
    ['2026-07-01 2026-09-30', null, '2026-04-01 2026-06-30'],
    ['2026-11-23 2026-11-25', 'week', '2026-11-16 2026-11-18'],
    ['2026-11-01 2026-11-27', 'month', '2026-10-01 2026-10-27'],
    ['2026-03-01 2026-03-30', 'month', '2026-02-01 2026-02-28'],
    ['2026-01-01 2026-11-27', 'year', '2025-01-01 2025-11-27'],
    ['2026-11-01 2026-11-28', 'last-28', '2026-10-04 2026-10-31'],
  ] as const) {
    const [startDate = '', endDate = ''] = days.split(' ')
    const moved = movePeriod({ startDate, endDate }, name, -1)
    assert.equal(`${moved.startDate} ${moved.endDate}`, before, days)
  }
})

test('the same weekdays last year are 52 weeks earlier', () => {
  const { startDate } = sameWeekdaysLastYear({ startDate: '2026-11-28', endDate: '2026-11-28' })

  assert.equal(startDate, '2025-11-29')
  assert.equal(new Date(startDate).getUTCDay(), new Date('2026-11-28').getUTCDay())
})

function view(query: string) {
  return parseView(new URLSearchParams(query), market)
}

test('the days that figures are compared with are those before, those of last year, or none', () => {
  assert.deepEqual(baseOf(view('period=last-7')), {
    startDate: '2026-11-14',
    endDate: '2026-11-20',
  })
  assert.equal(baseOf(view('period=last-7&base=last-year'))?.startDate, '2025-11-22')
  assert.equal(baseOf(view('period=last-7&base=none')), null)
  assert.equal(baseOf(view('from=1970-01-01&to=1970-01-02')), null)
})

const berlin = { code: 'DE', currency: 'EUR', timeZone: 'Europe/Berlin' }
const tokyo = { code: 'JP', currency: 'JPY', timeZone: 'Asia/Tokyo' }

test('the days of figures are those of the markets that the advertiser has access to', () => {
  const markets = [
    { id: 1, ...berlin },
    { id: 2, ...tokyo },
    { id: 3, code: 'WS', currency: 'WST', timeZone: 'Pacific/Apia' },
  ]
  const publishers = [{ id: 10, name: 'Shop', marketIds: [1, 2] }]
  // 17:40 in Berlin, 1:40 of the next day in Tokyo.
  const days = marketDaysAt({ markets, publishers }, new Date('2026-11-28T16:40:00Z'))

  assert.deepEqual([days.newest, days.lastWhole], ['2026-11-29', '2026-11-27'])
  assert.deepEqual(Object.fromEntries(days.lastWholeOf), { EUR: '2026-11-27', JPY: '2026-11-28' })
})

test('without access all markets tell the day, and without a market the reader', () => {
  const at = new Date('2026-11-28T16:40:00Z')
  const all = marketDaysAt({ markets: [{ id: 2, ...tokyo }], publishers: [] }, at)
  const none = marketDaysAt({ markets: [], publishers: [] }, at)

  assert.equal(all.newest, '2026-11-29')
  assert.equal(daysBetween(none.lastWhole, none.newest), 1)
})
