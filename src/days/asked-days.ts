// For questions that ask for some days of all markets at once, beside those that are read from events.

import type { Params } from '../warehouse/warehouse.ts'
import { placeInDaysSql, placeParams, runsOf } from './market-days.ts'
import type { MarketDays } from './market-days.ts'

/** What `withAskedDaySql` and `inAskedSpan` bind. At least one of the days has an instant. */
export function askedDaysParams(asked: readonly MarketDays[]): Params {
  const withRuns = runsOf(asked)
  const runs = withRuns.flatMap((one) => one.runs)
  return {
    ...placeParams(withRuns, 'asked'),
    spanFromMs: Math.min(...runs.map(({ fromMs }) => fromMs)),
    spanToMs: Math.max(...runs.map(({ toMs }) => toMs)),
  }
}

/** Of rows with `market_id` and `received_at`: may be applied where the rows are read. */
export const inAskedSpan = `toUnixTimestamp64Milli(received_at) >= {spanFromMs:Int64}
  AND toUnixTimestamp64Milli(received_at) < {spanToMs:Int64}`

/** Adds `unit`, `day` and `market_currency`, and keeps only what lies in the days asked for. */
export function withAskedDaySql(rows: string): string {
  return placeInDaysSql(rows, { instant: 'received_at', runs: 'asked' })
}
