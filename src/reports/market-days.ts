// Days of a market, as the engine's SQL needs them: instants, never zone names. ClickHouse's own
// zone functions are kept out, since they differ in silence (`toDate(toTimeZone(t, column))` is UTC).

import { dayBounds, listDays } from '../domain/day.ts'

/** A run of days of equal length: day n of it begins at `fromMs + n * dayMs`. */
export interface DayRun {
  readonly fromMs: number
  readonly dayMs: number
  /** Days since 1970-01-01 of the first day of the run. */
  readonly firstDay: number
}

export interface MarketDays {
  readonly fromMs: number
  readonly toMs: number
  readonly runs: readonly DayRun[]
}

const dayMs = 86_400_000

/** The instants of the range (both days included) in the zone; clock changes start new runs. */
export function buildMarketDays(start: string, end: string, timeZone: string): MarketDays {
  const runs: DayRun[] = []
  let previous: DayRun | undefined
  let previousToMs = Number.NaN
  for (const day of listDays(start, end)) {
    const { fromMs, toMs } = dayBounds(day, timeZone)
    const lengthMs = toMs - fromMs
    // A day that a zone left out has no instants.
    if (lengthMs === 0) continue
    if (previous === undefined || previous.dayMs !== lengthMs || !follows(previous, day, fromMs)) {
      previous = { fromMs, dayMs: lengthMs, firstDay: Date.parse(day) / dayMs }
      runs.push(previous)
    }
    previousToMs = toMs
  }
  const fromMs = runs[0]?.fromMs ?? 0
  return { fromMs, toMs: runs.length === 0 ? 0 : previousToMs, runs }
}

function follows(run: DayRun, day: string, fromMs: number): boolean {
  const position = Date.parse(day) / dayMs - run.firstDay
  return run.fromMs + position * run.dayMs === fromMs
}
