import assert from 'node:assert/strict'
import { performance } from 'node:perf_hooks'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  addDays,
  dayBounds,
  dayOf,
  daysBetween,
  isTimeZone,
  listDays,
  parseDay,
} from '../../src/domain/day.ts'

const hourMs = 3_600_000

const zone = fc.constantFrom(
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Sao_Paulo',
  'America/St_Johns',
  'Africa/Cairo',
  'Africa/Casablanca',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Pacific/Chatham',
  'Antarctica/Troll'
)

const instant = fc.integer({ min: Date.UTC(1970, 0, 2), max: Date.UTC(2099, 0, 1) })

function isoBounds(day: string, timeZone: string): readonly [string, string] {
  const { fromMs, toMs } = dayBounds(day, timeZone)
  return [new Date(fromMs).toISOString(), new Date(toMs).toISOString()]
}

function lengthHours(day: string, timeZone: string): number {
  const { fromMs, toMs } = dayBounds(day, timeZone)
  return (toMs - fromMs) / hourMs
}

test('a date that exists is a day', () => {
  for (const text of ['2026-03-01', '2024-02-29', '2000-02-29', '0001-01-01', '9999-12-31']) {
    assert.equal(parseDay(text), text)
  }
})

test('an impossible date is refused instead of rolling over', () => {
  const texts = ['2026-02-30', '2026-02-29', '2100-02-29', '2026-13-01', '2026-00-10', '2026-04-31']
  for (const text of [...texts, '0000-00-00', '0000-01-01', '2026-01-32', '2026-01-00']) {
    assert.equal(parseDay(text), null, text)
  }
})

test('every spelling of a day but YYYY-MM-DD is refused', () => {
  const texts = [
    '2026-3-1',
    '20260301',
    '2026-03-01T25:00:00Z',
    '2026-03-01T00:00:00Z',
    '',
    'today',
  ]
  for (const text of [...texts, ' 2026-03-01', '2026-03-01\n', '2026/03/01', '+012026-03-01']) {
    assert.equal(parseDay(text), null, JSON.stringify(text))
  }
  assert.equal(parseDay('-000001-01-01'), null)
  assert.equal(parseDay('\uFF12026-03-01'), null)
})

test('a day in UTC runs from midnight to midnight', () => {
  assert.deepEqual(isoBounds('2026-03-01', 'UTC'), [
    '2026-03-01T00:00:00.000Z',
    '2026-03-02T00:00:00.000Z',
  ])
})

test('the day on which clocks go forward has 23 hours', () => {
  assert.deepEqual(isoBounds('2026-03-29', 'Europe/Berlin'), [
    '2026-03-28T23:00:00.000Z',
    '2026-03-29T22:00:00.000Z',
  ])
})

test('the day on which clocks go back has 25 hours', () => {
  assert.deepEqual(isoBounds('2026-10-25', 'Europe/Berlin'), [
    '2026-10-24T22:00:00.000Z',
    '2026-10-25T23:00:00.000Z',
  ])
  assert.equal(lengthHours('2026-11-01', 'America/New_York'), 25)
  assert.equal(lengthHours('2026-04-05', 'Australia/Lord_Howe'), 24.5)
})

test('a day whose midnight does not exist starts when the clocks change', () => {
  // In Sao Paulo 2018-11-04 began at 01:00, which is 03:00 UTC on either side of the change.
  assert.deepEqual(isoBounds('2018-11-04', 'America/Sao_Paulo'), [
    '2018-11-04T03:00:00.000Z',
    '2018-11-05T02:00:00.000Z',
  ])
  assert.deepEqual(isoBounds('2024-04-26', 'Africa/Cairo'), [
    '2024-04-25T22:00:00.000Z',
    '2024-04-26T21:00:00.000Z',
  ])
})

test('a day at whose end the last hour comes twice has both', () => {
  // Clocks in Sao Paulo went back at the midnight that would have ended 2018-02-17.
  assert.deepEqual(isoBounds('2018-02-17', 'America/Sao_Paulo'), [
    '2018-02-17T02:00:00.000Z',
    '2018-02-18T03:00:00.000Z',
  ])
  assert.equal(lengthHours('2024-10-31', 'Africa/Cairo'), 25)
})

test('a day whose midnight comes twice starts at the first', () => {
  assert.deepEqual(isoBounds('2024-11-03', 'America/Havana'), [
    '2024-11-03T04:00:00.000Z',
    '2024-11-04T05:00:00.000Z',
  ])
})

test('a day that a zone skipped is empty and its neighbours touch', () => {
  assert.deepEqual(isoBounds('2011-12-29', 'Pacific/Apia'), [
    '2011-12-29T10:00:00.000Z',
    '2011-12-30T10:00:00.000Z',
  ])
  assert.equal(lengthHours('2011-12-30', 'Pacific/Apia'), 0)
  assert.deepEqual(isoBounds('2011-12-31', 'Pacific/Apia'), [
    '2011-12-30T10:00:00.000Z',
    '2011-12-31T10:00:00.000Z',
  ])
})

// St. John's went back at 00:01 until 2011: the first minute of the day came before 59 more minutes of
// the day before. A day that has begun does not end again.
test('an hour that is sent back over midnight stays with the day that had begun', () => {
  const { fromMs } = dayBounds('2010-11-07', 'America/St_Johns')

  assert.equal(new Date(fromMs).toISOString(), '2010-11-07T02:30:00.000Z')
  assert.equal(dayOf(fromMs - 1, 'America/St_Johns'), '2010-11-06')
  assert.equal(dayOf(fromMs + 30 * 60_000, 'America/St_Johns'), '2010-11-07')
})

test('the first and the last day of the calendar have bounds', () => {
  assert.equal(lengthHours('0001-01-01', 'Asia/Tokyo'), 24)
  assert.equal(lengthHours('9999-12-31', 'America/New_York'), 24)
})

test('an instant belongs to the day that its zone shows', () => {
  const ms = Date.parse('2026-03-01T23:30:00Z')

  assert.equal(dayOf(ms, 'UTC'), '2026-03-01')
  assert.equal(dayOf(ms, 'Europe/Berlin'), '2026-03-02')
  assert.equal(dayOf(ms, 'America/Los_Angeles'), '2026-03-01')
  assert.equal(dayOf(-1, 'UTC'), '1969-12-31')
})

test('the end of a day belongs to the next', () => {
  const { toMs } = dayBounds('2026-03-29', 'Europe/Berlin')

  assert.equal(dayOf(toMs - 1, 'Europe/Berlin'), '2026-03-29')
  assert.equal(dayOf(toMs, 'Europe/Berlin'), '2026-03-30')
})

test('every instant lies within the bounds of its day', () => {
  fc.assert(
    fc.property(instant, zone, (ms, timeZone) => {
      const { fromMs, toMs } = dayBounds(dayOf(ms, timeZone), timeZone)
      assert.ok(fromMs <= ms && ms < toMs)
    })
  )
})

test('each day ends where the next one starts', () => {
  fc.assert(
    fc.property(instant, zone, (ms, timeZone) => {
      const day = dayOf(ms, timeZone)
      assert.equal(dayBounds(day, timeZone).toMs, dayBounds(addDays(day, 1), timeZone).fromMs)
    })
  )
})

test('days are counted on the calendar, across months, leap days and years', () => {
  assert.equal(addDays('2026-12-31', 1), '2027-01-01')
  assert.equal(addDays('2024-02-28', 1), '2024-02-29')
  assert.equal(addDays('2026-03-01', -1), '2026-02-28')
  assert.equal(addDays('0099-12-31', 1), '0100-01-01')
  assert.equal(daysBetween('2024-01-01', '2025-12-31'), 730)
  assert.equal(daysBetween('2026-03-02', '2026-03-01'), -1)
  assert.equal(daysBetween('2026-03-01', '2026-03-01'), 0)
})

test('adding days and counting them are inverse', () => {
  fc.assert(
    fc.property(fc.integer({ min: -100_000, max: 100_000 }), (count) => {
      assert.equal(daysBetween('2026-03-01', addDays('2026-03-01', count)), count)
    })
  )
})

test('a list of days holds both of its ends', () => {
  assert.deepEqual(listDays('2026-02-27', '2026-03-01'), ['2026-02-27', '2026-02-28', '2026-03-01'])
  assert.deepEqual(listDays('2026-03-01', '2026-03-01'), ['2026-03-01'])
  assert.deepEqual(listDays('2026-03-02', '2026-03-01'), [])
  assert.deepEqual(listDays('2026-03-02', '2020-03-01'), [])
})

test('a list of days without a sane bound is a fault of the caller', () => {
  assert.throws(() => listDays('1000-01-01', '9999-12-31'), /a list of days is bounded/)
})

test('what is no day, or leaves the calendar, is a fault of the caller', () => {
  assert.throws(() => dayBounds('2026-02-30', 'UTC'), /a day is a date/)
  assert.throws(() => addDays('9999-12-31', 1), /years 0001 to 9999/)
  assert.throws(() => addDays('0001-01-01', -1), /years 0001 to 9999/)
})

test('the names of the time zone database are time zones', () => {
  for (const name of ['Europe/Berlin', 'UTC', 'Etc/GMT+5', 'America/Argentina/ComodRivadavia']) {
    assert.equal(isTimeZone(name), true, name)
  }
})

test('offsets, blanks and invented names are no time zones', () => {
  const names = [
    '',
    ' ',
    '+01:00',
    '-0500',
    'Europe/Atlantis',
    'Europe/Berlin ',
    'CEST/Berlin',
    '../UTC',
  ]
  for (const name of [...names, 'a'.repeat(4_000), '\u0415urope/Berlin', 'UTC\0']) {
    assert.equal(isTimeZone(name), false, JSON.stringify(name))
  }
})

test('more zones than are remembered still give the right days', () => {
  const zones = Intl.supportedValuesOf('timeZone').slice(0, 200)

  for (const timeZone of zones) assert.ok(lengthHours('2026-01-15', timeZone) === 24, timeZone)

  assert.equal(lengthHours('2026-03-29', 'Europe/Berlin'), 23)
})

// A report over 731 days computes all of its bounds before its first row. Best of five, as the machine
// that runs the tests has other things to do.
test('the bounds of 731 days take less than 50 milliseconds', () => {
  const days = listDays('2024-11-01', '2026-11-01')
  let bestMs = Number.POSITIVE_INFINITY

  for (let run = 0; run < 5; run += 1) {
    const startedAtMs = performance.now()
    for (const day of days) dayBounds(day, 'Europe/Berlin')
    bestMs = Math.min(bestMs, performance.now() - startedAtMs)
  }

  assert.equal(days.length, 731)
  assert.ok(bestMs < 50, `took ${bestMs} ms`)
})
