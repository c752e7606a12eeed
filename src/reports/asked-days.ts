// Gives rows the day of their market, for questions that ask for some days of all markets at once.

import type { Params } from '../warehouse/warehouse.ts'
import type { MarketDays } from './day-rows.ts'
import { buildDayRuns } from './market-days.ts'

/** What `withAskedDaySql` binds. At least one of the days has an instant. */
export function askedDaysParams(asked: readonly MarketDays[]): Params {
  const runs = asked.flatMap(({ market, days }) =>
    buildDayRuns(days, market.timeZone).map((run) => ({ run, unit: market.id }))
  )
  return {
    unitIds: asked.map(({ market }) => market.id),
    unitCurrencies: asked.map(({ market }) => market.currency),
    askedFromMs: Math.min(...runs.map(({ run }) => run.fromMs)),
    askedToMs: Math.max(...runs.map(({ run }) => run.toMs)),
    askedUnits: runs.map(({ unit }) => unit),
    askedRunFromMs: runs.map(({ run }) => run.fromMs),
    askedRunToMs: runs.map(({ run }) => run.toMs),
    askedDayMs: runs.map(({ run }) => run.dayMs),
    askedFirstDays: runs.map(({ run }) => run.firstDay),
  }
}

/** Of rows with `market_id` and `received_at`: may be applied where the rows are read. */
export const inAskedSpan = `toUnixTimestamp64Milli(received_at) >= {askedFromMs:Int64}
  AND toUnixTimestamp64Milli(received_at) < {askedToMs:Int64}`

/** Adds `unit`, `day` and `market_currency`, and keeps only what lies in the days asked for. */
export function withAskedDaySql(rows: string): string {
  return `
  SELECT r.*, toDate(toInt32(d.first_day + intDiv(r.received_ms - d.from_ms, d.day_ms))) AS day,
    transform(r.unit, {unitIds:Array(Int32)}, {unitCurrencies:Array(String)}, '-') AS market_currency
  FROM (
    SELECT *, toUnixTimestamp64Milli(received_at) AS received_ms,
      transform(market_id, {unitIds:Array(Int32)}, {unitIds:Array(Int32)}, toInt32(0)) AS unit
    FROM (${rows})
  ) AS r
  ASOF INNER JOIN (
    SELECT run.1 AS unit, run.2 AS from_ms, run.3 AS to_ms, run.4 AS day_ms, run.5 AS first_day
    FROM (
      SELECT arrayJoin(arrayZip(
        {askedUnits:Array(Int32)}, {askedRunFromMs:Array(Int64)}, {askedRunToMs:Array(Int64)},
        {askedDayMs:Array(Int64)}, {askedFirstDays:Array(Int32)}
      )) AS run
    )
  ) AS d ON d.unit = r.unit AND r.received_ms >= d.from_ms
  WHERE r.received_ms < d.to_ms`
}
