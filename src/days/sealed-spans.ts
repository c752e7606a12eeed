// Weeks and calendar months whose days are all sealed, summed once more. A report that is not by day reads them
// in place of their days and gives the same figures.

import { addDays, daysBetween, listDays } from '../domain/day.ts'
import { assert } from '../lib/assert.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { dayKey } from './market-days.ts'
import type { DayRange } from './market-days.ts'
import { sumRevisions } from './seals.ts'
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
  const { spans } = await readSpanList(warehouse, range)
  return spansWithin(spans, { startDate: range.first, endDate: range.last })
}

/** Those that lie wholly in the days asked for. */
export function spansWithin(
  spans: readonly StoredSpan[],
  { startDate, endDate }: { readonly startDate: string; readonly endDate: string }
): readonly StoredSpan[] {
  return spans.filter(
    ({ firstDay, dayCount }) => firstDay >= startDate && addDays(firstDay, dayCount - 1) <= endDate
  )
}

/** The spans that begin in a range of days. */
export interface SpanList {
  readonly spans: readonly StoredSpan[]
  /** Tells this list from any other of the same range. */
  readonly revisionSum: bigint
}

/** For each span, the row whose reading began last; few rows are others, which are swept after an hour. */
export async function readSpanList(
  warehouse: Pick<Warehouse, 'rows'>,
  { first, last }: DayRange
): Promise<SpanList> {
  const rows = await warehouse.rows<SpanRow>(spansSql, { first, last })
  assert(rows.length < spansMax, 'the spans of a range fit into the list')
  const latest = new Map<string, SpanRow>()
  for (const row of rows) {
    const key = `${row.unit} ${row.firstDay} ${row.dayCount}`
    const other = latest.get(key)
    if (other === undefined || isLater(row, other)) latest.set(key, row)
  }
  const spans = [...latest.values()].map((row) => ({
    firstDay: row.firstDay,
    dayCount: row.dayCount,
    unit: row.unit,
    revision: BigInt(row.revision),
    dayRevisions: row.dayRevisions.map(BigInt),
    rollupVersion: row.rollupVersion,
  }))
  return {
    spans: spans.toSorted(bySpanAndUnit),
    revisionSum: sumRevisions(rows.map((row) => row.revision)),
  }
}

interface SpanRow {
  readonly firstDay: string
  readonly dayCount: number
  readonly unit: number
  readonly revision: string
  readonly dayRevisions: readonly string[]
  readonly rollupVersion: number
  /** The warehouse's instant, as text. */
  readonly readAt: string
}

function isLater(row: SpanRow, other: SpanRow): boolean {
  if (row.readAt !== other.readAt) return row.readAt > other.readAt
  return BigInt(row.revision) > BigInt(other.revision)
}

function bySpanAndUnit(a: StoredSpan, b: StoredSpan): number {
  if (a.firstDay !== b.firstDay) return a.firstDay < b.firstDay ? -1 : 1
  return a.dayCount - b.dayCount || a.unit - b.unit
}

const spansSql = `
SELECT first_day AS firstDay, day_count AS dayCount, unit, revision, day_revisions AS dayRevisions,
  rollup_version AS rollupVersion, read_at AS readAt
FROM sealed_span
WHERE first_day >= {first:Date} AND first_day <= {last:Date}
LIMIT ${spansMax}
SETTINGS max_threads = 1, output_format_json_quote_64bit_integers = 1`

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
