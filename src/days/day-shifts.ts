// The day of an instant as arithmetic. The days of a zone are 24 hours long from one clock change to the next, so
// between two changes an instant that is shifted by a constant falls into its day by dividing by 24 hours. This costs
// a few integer operations for an event, where joining the runs of days costs a look-up and a copy of the row.

import type { Params } from '../warehouse/warehouse.ts'
import { unknownMarket } from './market-days.ts'
import type { DayRun, MarketDays, MarketRuns } from './market-days.ts'

/** From `fromMs` on, day `floor((at + shiftMs) / 24 h)` since 1970-01-01 holds the instant `at`. */
export interface DayShift {
  readonly fromMs: number
  readonly shiftMs: number
}

const dayMs = 86_400_000

/** In order. The runs have no gaps between them. */
export function shiftsOf(runs: readonly DayRun[]): readonly DayShift[] {
  const shifts: DayShift[] = []
  const add = (fromMs: number, shiftMs: number): void => {
    if (shifts.at(-1)?.shiftMs !== shiftMs) shifts.push({ fromMs, shiftMs })
  }
  for (const { fromMs, toMs, dayMs: lengthMs, firstDay } of runs) {
    add(fromMs, firstDay * dayMs - fromMs)
    // The hour after the 24th of a longer day, which comes alone in a run, ends with that day.
    if (lengthMs > dayMs) add(fromMs + dayMs, (firstDay + 1) * dayMs - toMs)
  }
  return shifts
}

/** The shifts of each market: as many for all, since they stand in one expression. */
export interface MarketShifts {
  readonly count: number
  readonly byMarket: ReadonlyMap<number, readonly DayShift[]>
}

export const noShifts: MarketShifts = { count: 0, byMarket: new Map() }

export function marketShifts(asked: readonly MarketRuns[]): MarketShifts {
  const byMarket = new Map(asked.map(({ market, runs }) => [market.id, shiftsOf(runs)]))
  return { count: Math.max(1, ...[...byMarket.values()].map(({ length }) => length)), byMarket }
}

/** The number of the day, for a row with `market_id` and an instant in milliseconds. */
export function dayNumberSql(atMs: string, { count }: MarketShifts): string {
  const later = Array.from({ length: count - 1 }, (_, index) => count - 1 - index)
  const cases = later.map(
    (place) => `${atMs} >= ${boundOf('From', place)}, ${boundOf('Shift', place)}, `
  )
  const shift =
    cases.length === 0 ? boundOf('Shift', 0) : `multiIf(${cases.join('')}${boundOf('Shift', 0)})`
  return `toUInt16(intDiv(${atMs} + ${shift}, ${dayMs}))`
}

function boundOf(what: 'From' | 'Shift', place: number): string {
  const name = `Day${what}${place}`
  return `transform(market_id, {marketIds:Array(Int32)}, {market${name}:Array(Int64)}, {unknown${name}:Int64})`
}

/** No instant is as late: markets with fewer shifts than others never come to it. */
const neverMs = 8_640_000_000_000_000

/** The parameters that `dayNumberSql` binds besides `marketIds`, which has the order of `asked`. */
export function dayShiftParams(
  asked: readonly MarketDays[],
  { count, byMarket }: MarketShifts
): Params {
  const params: Record<string, Params[string]> = {}
  for (let place = 0; place < count; place += 1) {
    const shiftOf = (marketId: number): DayShift =>
      byMarket.get(marketId)?.[place] ?? { fromMs: neverMs, shiftMs: 0 }
    const shifts = asked.map(({ market }) => shiftOf(market.id))
    params[`marketDayFrom${place}`] = shifts.map(({ fromMs }) => fromMs)
    params[`marketDayShift${place}`] = shifts.map(({ shiftMs }) => shiftMs)
    const unknown = shiftOf(unknownMarket.id)
    params[`unknownDayFrom${place}`] = unknown.fromMs
    params[`unknownDayShift${place}`] = unknown.shiftMs
  }
  return params
}
