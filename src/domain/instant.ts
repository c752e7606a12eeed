import { parseDay } from './day.ts'

const instantForm =
  /^(\d{4}-\d{2}-\d{2})T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/**
 * Milliseconds since 1970 UTC of an ISO 8601 instant with seconds and an offset, or null. Digits below
 * the millisecond are cut off. The day is checked separately because `Date.parse` turns 30 February
 * into 2 March, and reads an instant without an offset in the time zone of the server.
 */
export function parseInstant(text: string): number | null {
  const day = instantForm.exec(text)?.[1]
  if (day === undefined || parseDay(day) === null) return null

  const atMs = Date.parse(text)
  return Number.isNaN(atMs) ? null : atMs
}

/** ISO 8601 in UTC with milliseconds. */
export function printInstant(atMs: number): string {
  return new Date(atMs).toISOString()
}
