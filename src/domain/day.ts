// Calendar days are ISO texts ('2026-03-01', years 0001 to 9999). A market's day is an interval of
// instants in its time zone. It is computed here and bound as instants: SQL never sees a time zone.
import { assert } from '../lib/assert.ts'

/** Instants in milliseconds since 1970 UTC; the start belongs to the day, the end to the next one. */
export interface DayBounds {
  readonly fromMs: number
  readonly toMs: number
}

const secondMs = 1_000
const dayMs = 86_400_000

/**
 * No offset of any zone in the tz database reaches 16 h (the widest are Manila's -15:56 and Metlakatla's
 * +15:14 local mean times), so a day starts within 16 h of the same midnight in UTC.
 */
const offsetMsMax = 16 * 3_600_000

/** The tz database names about 420 zones and an installation uses a handful; 128 never thrash. */
const formatterCountMax = 128

/** Reports span at most 731 days, a retention rarely more than some years: this is 27 years. */
const listedDaysMax = 10_000

/** The longest name in the tz database has 32 letters. */
const timeZoneLengthMax = 64

/** A formatter depends on the zone's name only, so callers can share it. */
const formatters = new Map<string, Intl.DateTimeFormat>()

/** The text itself if it is an existing date, spelled YYYY-MM-DD, from year 0001 on; else null. */
export function parseDay(text: string): string | null {
  if (!/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text) || text.startsWith('0000')) return null
  const atMs = Date.parse(`${text}T00:00:00Z`)
  // V8 reads 30 February as 2 March; only a date that survives the way back is one.
  return !Number.isNaN(atMs) && printDay(atMs) === text ? text : null
}

/**
 * The instants of a day in a time zone. The days of a zone are consecutive and never overlap, whatever
 * its clocks do: a day starts when they first show it or a later one. So a day whose midnight is skipped
 * starts at the change, a day that is skipped whole is empty, and an hour that a change after midnight
 * sends back to the day before stays with the day that had begun. The zone must be one by `isTimeZone`.
 */
export function dayBounds(day: string, timeZone: string): DayBounds {
  const utcMidnightMs = toUtcMidnightMs(day)
  const nextMidnightMs = utcMidnightMs + dayMs
  const offsetBeforeMs = offsetMs(utcMidnightMs - offsetMsMax, timeZone)
  // The common case: no clock change near the day, so two offsets are enough.
  if (offsetBeforeMs === offsetMs(nextMidnightMs + offsetMsMax, timeZone)) {
    return { fromMs: utcMidnightMs - offsetBeforeMs, toMs: nextMidnightMs - offsetBeforeMs }
  }
  return {
    fromMs: dayStartMs(utcMidnightMs, timeZone),
    toMs: dayStartMs(nextMidnightMs, timeZone),
  }
}

/** The day whose bounds hold the instant: `dayBounds(dayOf(ms, zone), zone)` always contains `ms`. */
export function dayOf(ms: number, timeZone: string): string {
  const localMs = ms + offsetMs(ms, timeZone)
  let midnightMs = Math.floor(localMs / dayMs) * dayMs
  // Clocks that went back over midnight show the day before; the next day has begun all the same.
  while (dayStartMs(midnightMs + dayMs, timeZone) <= ms) midnightMs += dayMs
  return printDay(midnightMs)
}

/** Calendar arithmetic without time zones. The result must be in the years 0001 to 9999. */
export function addDays(day: string, count: number): string {
  const text = printDay(toUtcMidnightMs(day) + count * dayMs)
  assert(parseDay(text) !== null, 'a day lies in the years 0001 to 9999')
  return text
}

/** `end` - `start` in days: 0 for the same day, negative when the end comes first. */
export function daysBetween(start: string, end: string): number {
  return (toUtcMidnightMs(end) - toUtcMidnightMs(start)) / dayMs
}

/** All days from `start` to `end`, both included, in order; none when the end comes first. */
export function listDays(start: string, end: string): readonly string[] {
  const count = daysBetween(start, end) + 1
  assert(count <= listedDaysMax, 'a list of days is bounded')
  const startMs = toUtcMidnightMs(start)
  return Array.from({ length: Math.max(count, 0) }, (_, index) => printDay(startMs + index * dayMs))
}

/**
 * Whether the runtime knows the zone by this name, in any case (`Europe/Berlin`, `UTC`, `Etc/GMT+5`).
 * A bare offset such as `+01:00` is not a zone: Node 22 accepts it and Node 20 does not.
 */
export function isTimeZone(name: string): boolean {
  if (name.length > timeZoneLengthMax || !/^[A-Za-z]/.test(name)) return false
  try {
    formatterOf(name)
    return true
  } catch {
    // The constructor has one way to say that a name is unknown: a RangeError.
    return false
  }
}

/**
 * The first instant at which the zone's clocks show the date of `utcMidnightMs` or a later one. Offsets
 * are read on both sides of every possible answer. Where they agree, the answer is plain arithmetic;
 * where they differ, the change lies between and is found by halving, on a few days a year.
 */
function dayStartMs(utcMidnightMs: number, timeZone: string): number {
  const lowMs = utcMidnightMs - offsetMsMax
  const highMs = utcMidnightMs + offsetMsMax
  const offsetBeforeMs = offsetMs(lowMs, timeZone)
  const offsetAfterMs = offsetMs(highMs, timeZone)
  const startBeforeMs = utcMidnightMs - offsetBeforeMs
  if (offsetBeforeMs === offsetAfterMs) return startBeforeMs
  const changeMs = findChangeMs(lowMs, highMs, timeZone)
  if (startBeforeMs < changeMs) return startBeforeMs
  return Math.max(changeMs, utcMidnightMs - offsetAfterMs)
}

/** The first instant in (`lowMs`, `highMs`] with another offset than at `lowMs`; a whole second, like all. */
function findChangeMs(lowMs: number, highMs: number, timeZone: string): number {
  const offsetBeforeMs = offsetMs(lowMs, timeZone)
  let beforeMs = lowMs
  let afterMs = highMs
  while (afterMs - beforeMs > secondMs) {
    const middleMs = beforeMs + Math.floor((afterMs - beforeMs) / (2 * secondMs)) * secondMs
    if (offsetMs(middleMs, timeZone) === offsetBeforeMs) beforeMs = middleMs
    else afterMs = middleMs
  }
  return afterMs
}

/** Local time minus UTC. `longOffset` prints `GMT`, `GMT-03:00`, or `GMT-07:52:58` before standard time. */
function offsetMs(ms: number, timeZone: string): number {
  const text = formatterOf(timeZone).format(ms)
  const [, sign, hours, minutes, seconds = '0'] =
    /GMT([+-])([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?$/.exec(text) ?? []
  if (sign === undefined) return 0
  const size = (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) * secondMs
  return sign === '-' ? -size : size
}

/** Making a formatter costs about a hundred times as much as using one. */
function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const known = formatters.get(timeZone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone,
    day: 'numeric',
    timeZoneName: 'longOffset',
  })
  if (formatters.size >= formatterCountMax) formatters.clear()
  formatters.set(timeZone, made)
  return made
}

function toUtcMidnightMs(day: string): number {
  assert(parseDay(day) !== null, 'a day is a date as parseDay gives it')
  return Date.parse(`${day}T00:00:00Z`)
}

function printDay(utcMs: number): string {
  return new Date(utcMs).toISOString().slice(0, 10)
}
