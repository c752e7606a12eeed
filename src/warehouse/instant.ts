// Instants as the warehouse writes them: `YYYY-MM-DD hh:mm:ss.ffffff`, in UTC without a zone. Several engines
// write, so steps compare only instants of the warehouse's clock with each other.
import { ServiceError } from '../errors.ts'
import type { Warehouse } from './warehouse.ts'

/** The warehouse's clock, to the microsecond. */
export async function warehouseNow(warehouse: Pick<Warehouse, 'rows'>): Promise<string> {
  const [row] = await warehouse.rows<{ now: string }>('SELECT toString(now64(6)) AS now')
  if (row === undefined)
    throw new ServiceError('WAREHOUSE_UNAVAILABLE', 'the warehouse returned no timestamp')
  return row.now
}

/** Whole milliseconds since 1970; microseconds are cut off. */
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
