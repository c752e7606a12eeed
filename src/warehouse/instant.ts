// Instants as the warehouse spells them: `YYYY-MM-DD hh:mm:ss.ffffff`, in UTC without a zone. What steps
// compare with each other is the warehouse's clock, since several engines write.
import { ServiceError } from '../errors.ts'
import type { Warehouse } from './warehouse.ts'

/** The warehouse's clock, to the microsecond. */
export async function warehouseNow(warehouse: Pick<Warehouse, 'rows'>): Promise<string> {
  const [row] = await warehouse.rows<{ now: string }>('SELECT toString(now64(6)) AS now')
  if (row === undefined) throw new ServiceError('WAREHOUSE_UNAVAILABLE', 'no answer to the time')
  return row.now
}

/** Whole milliseconds since 1970; what is below them is cut. */
export function instantMs(instant: string): number {
  return Date.parse(`${instant.slice(0, 23).replace(' ', 'T')}Z`)
}

/** To the millisecond. */
export function formatInstant(ms: number): string {
  return new Date(ms).toISOString().slice(0, 23).replace('T', ' ')
}

/** Shifts an instant by milliseconds and keeps its microseconds; never before 1970. */
export function shiftInstant(instant: string, ms: number): string {
  const shifted = formatInstant(Math.max(0, instantMs(instant) + ms))
  return `${shifted}${instant.slice(23).padEnd(3, '0')}`
}
