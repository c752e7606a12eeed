// Which days are final: they keep the figures they were sealed with, and their events are dropped
// (docs/decisions/0020-retention.md).

import type { Warehouse } from '../warehouse/warehouse.ts'

export interface FinalDays {
  /** Input of days before this one comes too late; null while there is no such day. */
  readonly announcedBefore: string | null
  /** Days before this one are never computed again; null while there is no such day. */
  readonly finalBefore: string | null
}

export async function readFinalDays(warehouse: Pick<Warehouse, 'rows'>): Promise<FinalDays> {
  const [row] = await warehouse.rows<{ announced: string; final: string }>(
    `SELECT toString(max(day)) AS announced, toString(maxIf(day, state = 'final')) AS final
     FROM final_before`
  )
  return { announcedBefore: dayOrNull(row?.announced), finalBefore: dayOrNull(row?.final) }
}

/** The greatest of no days is the first one that the engine knows. */
export function dayOrNull(day: string | undefined): string | null {
  return day === undefined || day <= '1970-01-01' ? null : day
}

export function laterDay(day: string, other: string | null): string {
  return other === null || other < day ? day : other
}
