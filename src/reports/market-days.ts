// Days of a market, as the engine's SQL needs them: instants, never zone names. ClickHouse's own
// zone functions are kept out, since they differ in silence (`toDate(toTimeZone(t, column))` is UTC).

import { dayBounds } from '../domain/day.ts'

/** A run of days of equal length: day n of it begins at `fromMs + n * dayMs`; `toMs` is its end. */
export interface DayRun {
  readonly fromMs: number
  readonly toMs: number
  readonly dayMs: number
  /** Days since 1970-01-01 of the first day of the run. */
  readonly firstDay: number
}

const dayMs = 86_400_000

/** The instants of the days (in order) in the zone; clock changes and gaps start new runs. */
export function buildDayRuns(days: readonly string[], timeZone: string): readonly DayRun[] {
  const runs: DayRun[] = []
  for (const day of days) {
    const { fromMs, toMs } = dayBounds(day, timeZone)
    const lengthMs = toMs - fromMs
    // A day that a zone left out has no instants.
    if (lengthMs === 0) continue
    const last = runs.at(-1)
    const dayNumber = Date.parse(day) / dayMs
    if (last !== undefined && follows(last, dayNumber, { fromMs, lengthMs })) {
      runs[runs.length - 1] = { ...last, toMs }
    } else {
      runs.push({ fromMs, toMs, dayMs: lengthMs, firstDay: dayNumber })
    }
  }
  return runs
}

function follows(
  run: DayRun,
  dayNumber: number,
  day: { readonly fromMs: number; readonly lengthMs: number }
): boolean {
  const position = dayNumber - run.firstDay
  return (
    run.toMs === day.fromMs &&
    run.dayMs === day.lengthMs &&
    run.fromMs + position * run.dayMs === day.fromMs
  )
}
