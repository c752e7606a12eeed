import { dayBounds } from '../domain/day.ts'
import { listUnits } from './day-bounds.ts'
import type { ReportMarket } from '../catalog/catalog-names.ts'

/** Whether something received at an instant lies in days that are final, and comes too late to count. */
export interface TooLate {
  readonly event: (marketId: number, receivedAtMs: number) => boolean
  readonly conversion: (receivedAtMs: number) => boolean
}

export const nothingIsTooLate: TooLate = { event: () => false, conversion: () => false }

/**
 * An event belongs to the day of its market. A conversion has no market before it is attributed, and
 * afterwards maybe several: it is too late as soon as its day is final in any of them, since a day that is
 * final would not show the credit.
 */
export function tooLateBefore(day: string | null, markets: readonly ReportMarket[]): TooLate {
  if (day === null) return nothingIsTooLate
  const fromMs = new Map(
    listUnits(markets).map((unit) => [unit.id, dayBounds(day, unit.timeZone).fromMs])
  )
  const unknownFromMs = fromMs.get(0) ?? 0
  const lastFromMs = Math.max(...fromMs.values())
  return {
    event: (marketId, receivedAtMs) => receivedAtMs < (fromMs.get(marketId) ?? unknownFromMs),
    conversion: (receivedAtMs) => receivedAtMs < lastFromMs,
  }
}
