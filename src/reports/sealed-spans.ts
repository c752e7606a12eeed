// Weeks and calendar months whose days are all sealed, summed up once more. A report that is not by day
// reads them in place of their days; both give the same figures, as sums of sums.

import { addDays, daysBetween, listDays } from '../domain/day.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import type { Seal } from './sealed-days.ts'

/** Neighbouring days, all of one market or of the unknown ones. */
export interface DaySpan {
  readonly firstDay: string
  readonly dayCount: number
}

export interface SealedSpan extends DaySpan {
  readonly unit: number
  readonly revision: bigint
}

/** A span with the revisions of the days it was summed from: it counts only while they do. */
export interface StoredSpan extends SealedSpan {
  readonly dayRevisions: readonly bigint[]
}

/** More than 20 markets with the months and weeks of the 731 days of the longest report. */
const spansMax = 100_000

/** The calendar months, and the weeks from Monday on, that lie wholly in a range of days. */
export function listSpans(first: string, last: string): readonly DaySpan[] {
  const days = listDays(first, last)
  const months = days.filter((day) => day.endsWith('-01')).map(monthFrom)
  const weeks = days.filter(isMonday).map((firstDay) => ({ firstDay, dayCount: 7 }))
  return [...months, ...weeks].filter(
    ({ firstDay, dayCount }) => addDays(firstDay, dayCount - 1) <= last
  )
}

function monthFrom(firstDay: string): DaySpan {
  const next = `${addDays(firstDay, 31).slice(0, 7)}-01`
  return { firstDay, dayCount: daysBetween(firstDay, next) }
}

function isMonday(day: string): boolean {
  return new Date(day).getUTCDay() === 1
}

export function daysOfSpan({ firstDay, dayCount }: DaySpan): readonly string[] {
  return listDays(firstDay, addDays(firstDay, dayCount - 1))
}

// Qualified, because the engine would put the column of that name below in its place.
const latest = 'max((s.read_at, s.revision, s.day_revisions))'

/** The rows of `sealed_span` that count: of each span the one whose reading began last. */
export const latestSpansSql = `
  SELECT s.first_day AS first_day, s.day_count AS day_count, s.unit AS unit,
    ${latest}.2 AS revision, ${latest}.3 AS day_revisions
  FROM sealed_span AS s
  GROUP BY s.first_day, s.day_count, s.unit`

export async function readSpans(
  warehouse: Pick<Warehouse, 'rows'>,
  range: { readonly first: string; readonly last: string }
): Promise<readonly StoredSpan[]> {
  const rows = await warehouse.rows<{
    firstDay: string
    dayCount: number
    unit: number
    revision: string
    dayRevisions: readonly string[]
  }>(
    `SELECT toString(first_day) AS firstDay, day_count AS dayCount, unit, toString(revision) AS revision,
       arrayMap(r -> toString(r), day_revisions) AS dayRevisions
     FROM (${latestSpansSql})
     WHERE first_day >= {first:Date} AND first_day + day_count - 1 <= {last:Date}
     ORDER BY first_day, day_count, unit LIMIT ${spansMax}`,
    range
  )
  return rows.map(({ firstDay, dayCount, unit, revision, dayRevisions }) => ({
    firstDay,
    dayCount,
    unit,
    revision: BigInt(revision),
    dayRevisions: dayRevisions.map(BigInt),
  }))
}

/** Whether a span was summed from the days as they are sealed now. */
export function isCurrent(span: StoredSpan, revisions: DayRevisions): boolean {
  return daysOfSpan(span).every(
    (day, index) => revisions.get(dayKey(span.unit, day)) === span.dayRevisions[index]
  )
}

export type DayRevisions = ReadonlyMap<string, bigint>

export function mapRevisions(seals: readonly Seal[]): DayRevisions {
  return new Map(seals.map(({ unit, day, revision }) => [dayKey(unit, day), revision]))
}

export function dayKey(unit: number, day: string): string {
  return `${unit} ${day}`
}

export interface Cover {
  readonly spans: readonly SealedSpan[]
  /** Those that no span stands for. */
  readonly seals: readonly Seal[]
}

/** Puts spans in the place of their days, the longest first, no day twice. */
export function coverWithSpans(seals: readonly Seal[], stored: readonly StoredSpan[]): Cover {
  const revisions = mapRevisions(seals)
  const covered = new Set<string>()
  const spans = stored
    .filter((span) => isCurrent(span, revisions))
    .toSorted((a, b) => b.dayCount - a.dayCount)
    .filter((span) => {
      const keys = daysOfSpan(span).map((day) => dayKey(span.unit, day))
      if (keys.some((key) => covered.has(key))) return false
      for (const key of keys) covered.add(key)
      return true
    })
  return { spans, seals: seals.filter(({ unit, day }) => !covered.has(dayKey(unit, day))) }
}
