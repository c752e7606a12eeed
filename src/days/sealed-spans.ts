// Weeks and calendar months whose days are all sealed, summed once more. A report that is not by day reads them
// in place of their days and gives the same figures.

import { addDays, daysBetween, listDays } from '../domain/day.ts'
import { assert } from '../lib/assert.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { dayKey } from './market-days.ts'
import type { DayRange } from './market-days.ts'
import type { Seal } from './seals.ts'

/** A week or a calendar month. */
export interface DaySpan {
  readonly firstDay: string
  readonly dayCount: number
}

export interface SealedSpan extends DaySpan {
  readonly unit: number
  readonly revision: bigint
  readonly rollupVersion: number
}

/** A span with the revisions of the days it was summed from: it counts only while these revisions count. */
export interface StoredSpan extends SealedSpan {
  readonly dayRevisions: readonly bigint[]
}

/** 100 markets over 27 years, twice. Beyond that, sums and reports fail loudly. */
const spansMax = 500_000

/** The calendar months and the weeks (from Monday) that lie wholly in a range of days. */
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

export async function readSpans(
  warehouse: Pick<Warehouse, 'rows'>,
  range: DayRange
): Promise<readonly StoredSpan[]> {
  const rows = await warehouse.rows<{
    firstDay: string
    dayCount: number
    unit: number
    revision: string
    dayRevisions: readonly string[]
    rollupVersion: number
  }>(spansSql, { ...range })
  assert(rows.length < spansMax, 'the spans of a range fit into the list')
  return rows.map(({ revision, dayRevisions, ...row }) =>
    Object.assign(row, { revision: BigInt(revision), dayRevisions: dayRevisions.map(BigInt) })
  )
}

/** The rows of `sealed_span` that count: for each span, the one whose reading began last. */
const spansSql = `
SELECT toString(s.first_day) AS firstDay, day_count AS dayCount, unit, toString(s.revision) AS revision,
  arrayMap(r -> toString(r), s.day_revisions) AS dayRevisions, rollup_version AS rollupVersion
FROM sealed_span AS s
WHERE s.first_day >= {first:Date} AND s.first_day + day_count - 1 <= {last:Date}
ORDER BY s.first_day, day_count, unit, s.read_at DESC, s.revision DESC
LIMIT 1 BY s.first_day, day_count, unit
LIMIT ${spansMax}
SETTINGS max_threads = 1`

/**
 * Whether a span was summed from its days as they are sealed now, with all figures that they have: a node with
 * an older program leaves some out.
 */
export function isCurrent(span: StoredSpan, seals: SealsByDay): boolean {
  const days = daysOfSpan(span).map((day) => seals.get(dayKey(span.unit, day)))
  return (
    days.every((seal, index) => seal?.revision === span.dayRevisions[index]) &&
    span.rollupVersion === leastVersion(days)
  )
}

/** The version of a sum of days, which has only the figures that all of them have. */
export function leastVersion(days: readonly (Seal | undefined)[]): number {
  return Math.min(...days.map((seal) => seal?.rollupVersion ?? 0))
}

export type SealsByDay = ReadonlyMap<string, Seal>

export function mapSeals(seals: readonly Seal[]): SealsByDay {
  return new Map(seals.map((seal) => [dayKey(seal.unit, seal.day), seal]))
}

export interface Cover {
  readonly spans: readonly SealedSpan[]
  /** The days that no span covers. */
  readonly seals: readonly Seal[]
}

/** Puts spans in the place of their days, the longest first, and covers no day twice. */
export function coverWithSpans(seals: readonly Seal[], stored: readonly StoredSpan[]): Cover {
  const sealsByDay = mapSeals(seals)
  const covered = new Set<string>()
  const spans = stored
    .filter((span) => isCurrent(span, sealsByDay))
    .toSorted((a, b) => b.dayCount - a.dayCount)
    .filter((span) => {
      const keys = daysOfSpan(span).map((day) => dayKey(span.unit, day))
      if (keys.some((key) => covered.has(key))) return false
      for (const key of keys) covered.add(key)
      return true
    })
  return { spans, seals: seals.filter(({ unit, day }) => !covered.has(dayKey(unit, day))) }
}
