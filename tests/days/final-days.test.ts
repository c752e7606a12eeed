import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tooLateBefore } from '../../src/days/final-days.ts'

const markets = [
  { id: 1, code: 'NZ', currency: 'NZD', timeZone: 'Pacific/Auckland' },
  { id: 2, code: 'US', currency: 'USD', timeZone: 'America/Los_Angeles' },
]
// In March Auckland is 13 hours ahead of UTC and Los Angeles 8 behind, until its clocks change.
const aucklandMs = Date.UTC(2026, 1, 28, 11)
const utcMs = Date.UTC(2026, 2, 1)
const losAngelesMs = Date.UTC(2026, 2, 1, 8)

test('while no day is final nothing is too late, however old', () => {
  const { event, conversion } = tooLateBefore(null, markets)

  assert.deepEqual([event(1, 0), event(999, 0), conversion(0)], [false, false, false])
})

test('an event is too late by the day of its market, to the millisecond; of an unknown one by that of UTC', () => {
  const { event } = tooLateBefore('2026-03-01', markets)

  for (const [marketId, startMs] of [
    [1, aucklandMs],
    [2, losAngelesMs],
    [999, utcMs],
    [0, utcMs],
  ] as const) {
    assert.deepEqual([event(marketId, startMs - 1), event(marketId, startMs)], [true, false])
  }
})

test('a conversion is too late while its day is final in any market', () => {
  const { conversion } = tooLateBefore('2026-03-01', markets)
  const withoutMarkets = tooLateBefore('2026-03-01', [])

  assert.deepEqual([conversion(losAngelesMs - 1), conversion(losAngelesMs)], [true, false])
  assert.deepEqual(
    [withoutMarkets.conversion(utcMs - 1), withoutMarkets.conversion(utcMs)],
    [true, false]
  )
})
