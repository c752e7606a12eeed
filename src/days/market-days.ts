// Days of a market as SQL needs them: instants, never names of zones. ClickHouse's own zone functions are not
// used, because they can be silently wrong (`toDate(toTimeZone(t, column))` is in UTC).

import { dayBounds } from '../domain/day.ts'
import type { Params } from '../warehouse/warehouse.ts'
import type { ReportMarket } from '../catalog/catalog-names.ts'

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

/** Stands for every market that the catalog does not know: days in UTC, no currency. */
export const unknownMarket: ReportMarket = { id: 0, code: '0', currency: '-', timeZone: 'UTC' }

/** The units that are sealed by day: each market, and all unknown markets together. */
export function listUnits(markets: readonly ReportMarket[]): readonly ReportMarket[] {
  return [...markets, unknownMarket]
}

/** Names a day of a unit in maps and sets. */
export function dayKey(unit: number, day: string): string {
  return `${unit} ${day}`
}

export interface DayRange {
  readonly first: string
  readonly last: string
}

/** From the first to the last of some days; both are '' if there are none. */
export function rangeOfDays(days: readonly string[]): DayRange {
  const sorted = days.toSorted()
  return { first: sorted[0] ?? '', last: sorted.at(-1) ?? '' }
}

/** A market and the days of it that are asked for, in order. */
export interface MarketDays {
  readonly market: ReportMarket
  readonly days: readonly string[]
}

/** The market, or the one that stands for all that the catalog does not know. */
const unitOf = `transform(market_id, {marketIds:Array(Int32)}, {marketIds:Array(Int32)}, toInt32(0))`

/** By the unit or by the market: those that are not listed are unknown, and have none. */
export function currencyOf(unit: 'market_id' | 'r.unit'): string {
  return `transform(${unit}, {marketIds:Array(Int32)}, {marketCurrencies:Array(String)}, '-')`
}

/** How the parameters of the days are named: two sets of days may stand in one statement. */
type RunsName = 'run' | 'asked'

export interface Placing {
  readonly instant: 'happened_at' | 'received_at'
  readonly runs: RunsName
}

/** Adds `unit`, `day` and `market_currency` to rows, and keeps only what lies in the days bound. */
export function placeInDaysSql(rows: string, { instant, runs }: Placing): string {
  return `
  SELECT r.*, toDate(toInt32(d.first_day + intDiv(r.instant_ms - d.from_ms, d.day_ms))) AS day,
    ${currencyOf('r.unit')} AS market_currency
  FROM (
    SELECT *, ${unitOf} AS unit, toUnixTimestamp64Milli(${instant}) AS instant_ms FROM (${rows})
  ) AS r
  ASOF INNER JOIN (
    SELECT run.1 AS unit, run.2 AS from_ms, run.3 AS to_ms, run.4 AS day_ms, run.5 AS first_day
    FROM (
      SELECT arrayJoin(arrayZip(
        {${runs}Units:Array(Int32)}, {${runs}FromMs:Array(Int64)}, {${runs}ToMs:Array(Int64)},
        {${runs}DayMs:Array(Int64)}, {${runs}FirstDays:Array(Int32)}
      )) AS run
    )
  ) AS d ON d.unit = r.unit AND r.instant_ms >= d.from_ms
  WHERE r.instant_ms < d.to_ms`
}

export interface MarketRuns {
  readonly market: ReportMarket
  readonly runs: readonly DayRun[]
}

export function runsOf(asked: readonly MarketDays[]): readonly MarketRuns[] {
  return asked.map(({ market, days }) => ({ market, runs: buildDayRuns(days, market.timeZone) }))
}

/** The parameters that `placeInDaysSql` binds. */
export function placeParams(asked: readonly MarketRuns[], name: RunsName): Params {
  const runs = asked.flatMap((one) => one.runs.map((run) => ({ run, unit: one.market.id })))
  return {
    marketIds: asked.map(({ market }) => market.id),
    marketCurrencies: asked.map(({ market }) => market.currency),
    [`${name}Units`]: runs.map(({ unit }) => unit),
    [`${name}FromMs`]: runs.map(({ run }) => run.fromMs),
    [`${name}ToMs`]: runs.map(({ run }) => run.toMs),
    [`${name}DayMs`]: runs.map(({ run }) => run.dayMs),
    [`${name}FirstDays`]: runs.map(({ run }) => run.firstDay),
  }
}

/** The parameters that `withAskedDaySql` and `inAskedRange` bind. At least one of the days has an instant. */
export function askedDaysParams(asked: readonly MarketDays[]): Params {
  const withRuns = runsOf(asked)
  const runs = withRuns.flatMap((one) => one.runs)
  return {
    ...placeParams(withRuns, 'asked'),
    askedFirstMs: Math.min(...runs.map(({ fromMs }) => fromMs)),
    askedEndMs: Math.max(...runs.map(({ toMs }) => toMs)),
  }
}

/** A condition on rows with `received_at` that can be applied where the rows are read. */
export const inAskedRange = `toUnixTimestamp64Milli(received_at) >= {askedFirstMs:Int64}
  AND toUnixTimestamp64Milli(received_at) < {askedEndMs:Int64}`

/**
 * Adds `unit`, `day` and `market_currency` to rows with `market_id`, and keeps only those in the days asked for.
 * These days are bound apart from the days that are read from events.
 */
export function withAskedDaySql(rows: string): string {
  return placeInDaysSql(rows, { instant: 'received_at', runs: 'asked' })
}
