// Which days are final: they keep the figures they were sealed with, and their events are dropped
// (docs/decisions/0020-retention.md).

import type { ReportMarket } from '../catalog/catalog-names.ts'
import { dayBounds } from '../domain/day.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { listUnits } from './market-days.ts'

export interface FinalDays {
  /** Input for days before this one is too late; null while there is no such day. */
  readonly announcedBefore: string | null
  /** Days before this one are never computed again; null while there is no such day. */
  readonly finalBefore: string | null
}

/** As any node has declared them before the call. */
export async function readFinalDays(
  warehouse: Pick<Warehouse, 'rows' | 'barrier'>
): Promise<FinalDays> {
  await warehouse.barrier(['final_before'])
  const [row] = await warehouse.rows<{ announced: string; final: string }>(
    `SELECT toString(max(day)) AS announced, toString(maxIf(day, state = 'final')) AS final
     FROM final_before`
  )
  return { announcedBefore: dayOrNull(row?.announced), finalBefore: dayOrNull(row?.final) }
}

/** When it was declared that a purchase of this day (UTC) is never read again; null while it may be. */
export async function readFinalSinceMs(
  warehouse: Pick<Warehouse, 'rows'>,
  day: string
): Promise<number | null> {
  // A day of any time zone begins within the UTC day before.
  const [row] = await warehouse.rows<{ count: number; sinceMs: number }>(
    `SELECT toUInt32(count()) AS count, toUnixTimestamp64Milli(toDateTime64(min(written_at), 3, 'UTC')) AS sinceMs
     FROM final_before WHERE final_before.day > {day:Date} + 1`,
    { day }
  )
  return row === undefined || row.count === 0 ? null : row.sinceMs
}

/** For an empty table ClickHouse answers the first day it knows. */
export function dayOrNull(day: string | undefined): string | null {
  return day === undefined || day <= '1970-01-01' ? null : day
}

export function laterDay(day: string, other: string | null): string {
  return other === null || other < day ? day : other
}

/** Whether input received at an instant belongs to a final day, so that it is too late to count. */
export interface TooLate {
  readonly event: (marketId: number, receivedAtMs: number) => boolean
  readonly conversion: (receivedAtMs: number) => boolean
}

export const nothingIsTooLate: TooLate = { event: () => false, conversion: () => false }

/**
 * An event belongs to the day of its market. A conversion has no market before it is attributed, and may have
 * several afterwards: it is too late once its day is final in any of them, because a final day would not show
 * the credit.
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
