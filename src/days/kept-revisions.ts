// Which revisions may be swept, and whether the revisions that a reading named were there while it read.
// Replaced revisions stay for an hour; a reading that was held up for longer is repeated.

import { ServiceError } from '../errors.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { readSums, type RevisionSums } from './day-bounds.ts'
import { areSame } from './day-facts.ts'
import type { DayLists } from './day-facts.ts'
import { rangeOfDays, type DayRange } from './market-days.ts'
import { revisionOf, sealParams, spanParams } from './seals.ts'
import type { Seal } from './seals.ts'
import type { SealedSpan } from './sealed-spans.ts'

type NamedSeal = Pick<Seal, 'unit' | 'day' | 'revision'>

/** Counted from the seal that replaced the revision. No report takes longer; one that does is noticed. */
export const keepSupersededMs = 3_600_000

const beatenBefore = `PARTITION BY k.unit, k.first_day, k.day_count
    ORDER BY k.read_at DESC, k.revision DESC`

/**
 * All revisions, each with the instant at which one of a later reading was sealed; `place` 1 counts. If a seal
 * was announced more than once, it was certainly visible at the last of its instants.
 */
export function beatenSql(table: 'sealed_day' | 'sealed_span', condition: string): string {
  const [firstDay, dayCount] =
    table === 'sealed_day' ? ['s.day', 'toUInt16(1)'] : ['s.first_day', 's.day_count']
  return `
  SELECT k.unit AS unit, k.first_day AS first_day, k.day_count AS day_count, k.revision AS revision,
    row_number() OVER (${beatenBefore}) AS place,
    min(k.sealed_at) OVER (${beatenBefore} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS beaten_at
  FROM (
    SELECT s.unit AS unit, ${firstDay} AS first_day, ${dayCount} AS day_count, s.revision AS revision,
      max(s.read_at) AS read_at, max(s.sealed_at) AS sealed_at
    FROM ${table} AS s
    WHERE ${condition}
    GROUP BY unit, first_day, day_count, revision
  ) AS k`
}

export interface Named {
  readonly seals: readonly NamedSeal[]
  readonly spans: readonly Pick<SealedSpan, 'unit' | 'firstDay' | 'dayCount' | 'revision'>[]
  /** The lists that they were taken from, if all of it counted as these lists were read. */
  readonly lists?: Pick<DayLists, 'range' | 'sums'>
}

/**
 * Reads at most twice, the second time with a fresh list of revisions. `read` resolves to null if some of its
 * revisions may have been swept before or while it read: that is an error, never an empty answer.
 */
export async function readKept<Result>(read: () => Promise<Result | null>): Promise<Result> {
  const first = await read()
  if (first !== null) return first
  const second = await read()
  if (second !== null) return second
  throw new ServiceError('REPORT_OVERTAKEN', 'the figures were replaced twice while they were read')
}

/** Ask this once the reading has begun: a reading goes on with the rows that were there when it began. */
export async function areKept(
  warehouse: Pick<Warehouse, 'rows' | 'barrier'>,
  named: Named,
  readSumsNow = (range: DayRange): Promise<RevisionSums> => readSums(warehouse, range)
): Promise<boolean> {
  await warehouse.barrier(['sealed_day', 'sealed_span'])
  const { seals, spans, lists } = named
  // Nearly always nothing was sealed or swept meanwhile, and then everything that counted still does.
  if (lists !== undefined && areSame(lists.sums, await readSumsNow(lists.range))) return true
  if (await isNothingReplaced(warehouse, named)) return true
  const areSealsKept =
    seals.length === 0 || (await countKept(warehouse, keptSealsSql, seals)) === seals.length
  if (!areSealsKept || spans.length === 0) return areSealsKept
  const days = spans.map(({ unit, firstDay, revision }) => ({ unit, day: firstDay, revision }))
  const dayCounts = spans.map(({ dayCount }) => dayCount)
  return (await countKept(warehouse, keptSpansSql, days, { dayCounts })) === spans.length
}

/**
 * Whether all that is named is there, and nothing of it was replaced an hour ago, as is nearly always so: then nothing
 * of it was swept or may be. This takes half of the time that it takes to tell when each revision was replaced.
 */
async function isNothingReplaced(
  warehouse: Pick<Warehouse, 'rows'>,
  { seals, spans }: Named
): Promise<boolean> {
  const parts = [
    ...(seals.length === 0 ? [] : [replacedSql('sealed_day')]),
    ...(spans.length === 0 ? [] : [replacedSql('sealed_span')]),
  ]
  if (parts.length === 0) return true
  const days = [...seals.map(({ day }) => day), ...spans.map(({ firstDay }) => firstDay)]
  const rows = await warehouse.rows<{ thereCount: number; replacedCount: number }>(
    `${parts.join(' UNION ALL ')} SETTINGS max_threads = 1`,
    { ...sealParams(seals), ...spanParams(spans), ...rangeOfDays(days), keepMs: keepSupersededMs }
  )
  const thereCount = rows.reduce((sum, row) => sum + row.thereCount, 0)
  return thereCount === seals.length + spans.length && rows.every((row) => row.replacedCount === 0)
}

/** Other revisions of what is named count as replacing it, also those that it replaced. */
function replacedSql(table: 'sealed_day' | 'sealed_span'): string {
  const [day, name] =
    table === 'sealed_day' ? (['day', 'seal'] as const) : (['first_day', 'span'] as const)
  return `
  SELECT uniqExactIf((unit, ${day}), revision = named) AS thereCount,
    countIf(revision != named AND sealed_at < now64(6) - toIntervalMillisecond({keepMs:Int64})) AS replacedCount
  FROM (
    SELECT unit, ${day}, revision, sealed_at, ${revisionOf('unit', day, name)} AS named FROM ${table}
    WHERE ${day} >= {first:Date} AND ${day} <= {last:Date}
  )
  WHERE named != 0`
}

async function countKept(
  warehouse: Pick<Warehouse, 'rows'>,
  sql: string,
  seals: readonly NamedSeal[],
  more: { readonly dayCounts?: readonly number[] } = {}
): Promise<number> {
  const [row] = await warehouse.rows<{ keptCount: number }>(sql, {
    ...sealParams(seals),
    ...more,
    ...rangeOfDays(seals.map(({ day }) => day)),
    keepMs: keepSupersededMs,
  })
  return row?.keptCount ?? 0
}

const isKept = `(place = 1 OR beaten_at >= now64(6) - toIntervalMillisecond({keepMs:Int64}))`

const keptSealsSql = `
SELECT count() AS keptCount FROM (${beatenSql('sealed_day', 's.day >= {first:Date} AND s.day <= {last:Date}')})
WHERE (unit, first_day, revision) IN arrayZip(
    {sealUnits:Array(Int32)}, arrayMap(d -> toDate(d), {sealDays:Array(Int32)}), {sealRevisions:Array(UInt64)})
  AND ${isKept}`

const keptSpansSql = `
SELECT count() AS keptCount FROM (${beatenSql('sealed_span', 's.first_day >= {first:Date} AND s.first_day <= {last:Date}')})
WHERE (unit, first_day, revision, day_count) IN arrayZip(
    {sealUnits:Array(Int32)}, arrayMap(d -> toDate(d), {sealDays:Array(Int32)}), {sealRevisions:Array(UInt64)},
    {dayCounts:Array(UInt16)})
  AND ${isKept}`
