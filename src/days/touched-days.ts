// Sealed days that input has reached since their reading began. The touched span of an ad event, or of a purchase
// that moves, runs from where it is counted now to where it may have been counted: the days under it belong
// together. A move is shown on all of them or on none.

import { assert } from '../lib/assert.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import type { ReportMarket } from '../catalog/catalog-names.ts'
import { listUnits } from './market-days.ts'
import { isValidSql, latestSealsSql, validityParams } from './seals.ts'

export interface TouchedDay {
  readonly unit: number
  readonly day: string
  /** A reading that began at this instant or later has seen everything that touched the day. */
  readonly touchedUntilMs: number
  readonly readAtMs: number
  readonly fromMs: number
  readonly toMs: number
  /** How far the spans reach that touch this day and others; 0 to 0 if there are none. */
  readonly linkedFromMs: number
  readonly linkedToMs: number
  /** 1: another day under one of these spans is open, or has been renewed since. */
  readonly torn: 0 | 1
}

export const touchedLimits = {
  /** A mark is this far ahead of the instant of its batch, whose effect may become visible as late as that. */
  aheadMs: 300_000,
  /** The effect is mostly visible at once; a reading that began this much later has almost certainly seen it. */
  graceMs: 30_000,
} as const

interface Asked {
  readonly markets: readonly ReportMarket[]
  readonly first: string
  readonly last: string
}

/** 100 markets over 27 years. */
const touchedMax = 1_000_000

/**
 * The valid seals from `first` to `last` that were touched after their reading began, or may have been. A day
 * whose seal is void is an open day: it shows every move at once.
 */
export async function readTouchedDays(
  warehouse: Pick<Warehouse, 'rows'>,
  { markets, first, last }: Asked
): Promise<readonly TouchedDay[]> {
  const rows = await warehouse.rows<TouchedDay>(touchedDaysSql, {
    marketIds: listUnits(markets).map(({ id }) => id),
    ...validityParams(markets),
    first,
    last,
  })
  assert(rows.length < touchedMax, 'the touched days fit into the list')
  return rows
}

/** Whether the day was touched after its reading; otherwise the input is most probably in its figures. */
export function isOutdated({ touchedUntilMs, readAtMs }: TouchedDay): boolean {
  return touchedUntilMs - touchedLimits.aheadMs + touchedLimits.graceMs > readAtMs
}

/** Whether another day under one of its spans already shows the move: then its seal must not be used. */
export function isTorn({ torn }: TouchedDay): boolean {
  return torn === 1
}

/** The given days and all days that spans link to them, over any number of steps. */
export function linkedDays<Day extends TouchedDay>(
  days: readonly Day[],
  start: readonly Day[]
): ReadonlySet<Day> {
  const started = new Set(start)
  const groups = groupLinked(days)
  const linked = groups.filter((group) => group.some((day) => started.has(day))).flat()
  return new Set([...start, ...linked])
}

/**
 * The days of a unit never overlap, and a span links all days it touches. So linked days are neighbours, and two
 * neighbours are linked if a span from either side reaches the other.
 */
function groupLinked<Day extends TouchedDay>(days: readonly Day[]): readonly (readonly Day[])[] {
  const sorted = days.toSorted((a, b) => a.unit - b.unit || a.fromMs - b.fromMs)
  const back = reachBack(sorted)
  const groups: Day[][] = []
  let before: Day | undefined
  let reachMs = 0
  for (const [index, day] of sorted.entries()) {
    const isSameUnit = before?.unit === day.unit
    const isReached = reachMs > day.fromMs || (back[index] ?? Infinity) < (before?.toMs ?? 0)
    const isLinked = isSameUnit && isReached
    const group = groups.at(-1)
    if (group !== undefined && isLinked) group.push(day)
    else groups.push([day])
    reachMs = isSameUnit ? Math.max(reachMs, day.linkedToMs) : day.linkedToMs
    before = day
  }
  return groups
}

/** For each day, the earliest instant that a span reaches which touches it or a later day of its unit. */
function reachBack(sorted: readonly TouchedDay[]): readonly number[] {
  const reach: number[] = []
  let fromMs = Infinity
  let unit: number | undefined
  for (const day of sorted.toReversed()) {
    if (day.unit !== unit) fromMs = Infinity
    unit = day.unit
    if (day.linkedToMs > day.linkedFromMs) fromMs = Math.min(fromMs, day.linkedFromMs)
    reach.push(fromMs)
  }
  return reach.toReversed()
}

/** The UTC days of a span of time, by which spans and seals are joined. */
function utcDays(from: string, to: string): string {
  return `arrayJoin(arrayMap(n -> toDate(${from}) + n, range(toUInt32(toDate(${to}) - toDate(${from}) + 1))))`
}

/** The hours that a span of time lies in, even in part, as numbers since 1970. */
function hours(from: string, to: string): string {
  return `arrayJoin(range(intDiv(toUnixTimestamp(${from}), 3600), intDiv(toUnixTimestamp(${to}), 3600) + 1))`
}

/**
 * Nearly all spans are left out first: those that every reading of their hours has seen. This goes by hours,
 * because the seal of a day covers hours of two UTC days, and by days nearly every span would meet all seals of
 * both. For a span over several days, `under_ms` is how much of it lies on days that it will renew. If that is
 * not all of it, the other days already show the move: the span is torn. Only the part of a span on the days asked
 * for is looked at, at the instants that belong to these dates in every zone. A single thread: the rows are few, and
 * every report and every look for work would pay for starting more.
 */
const touchedDaysSql = `
WITH seals AS (
  SELECT unit, day, read_at, from_at, to_at, ${utcDays('from_at', 'to_at - toIntervalMillisecond(1)')} AS utc_day
  FROM (${latestSealsSql('s.day >= {first:Date} AND s.day <= {last:Date}')})
  WHERE ${isValidSql}
)
SELECT unit, toString(touch.day) AS day,
  toUnixTimestamp64Milli(max(until)) AS touchedUntilMs, toUnixTimestamp64Milli(any(touch.read_at)) AS readAtMs,
  any(day_from_ms) AS fromMs, any(day_to_ms) AS toMs,
  minIf(span_from_ms, is_link) AS linkedFromMs, maxIf(span_to_ms, is_link) AS linkedToMs,
  max(is_link AND under_ms < least(span_to_ms, asked_to_ms) - greatest(span_from_ms, asked_from_ms)) AS torn
FROM (
  SELECT *, span_to_ms - span_from_ms > 3600000 AS is_link,
    toInt64(toUnixTimestamp(toDateTime({first:Date}, 'UTC'))) * 1000 + 43200000 AS asked_from_ms,
    toInt64(toUnixTimestamp(toDateTime({last:Date}, 'UTC'))) * 1000 + 36000000 AS asked_to_ms,
    sum(greatest(0, least(day_to_ms, span_to_ms, asked_to_ms) - greatest(day_from_ms, span_from_ms, asked_from_ms)))
      OVER (PARTITION BY unit, span_unit, span_from_ms, span_to_ms) AS under_ms
  FROM (
    SELECT DISTINCT seals.unit AS unit, seals.day AS day, seals.read_at AS read_at,
      toUnixTimestamp64Milli(seals.from_at) AS day_from_ms, toUnixTimestamp64Milli(seals.to_at) AS day_to_ms,
      span_unit, toInt64(toUnixTimestamp(touched.from_at)) * 1000 AS span_from_ms,
      toInt64(toUnixTimestamp(touched.to_at)) * 1000 + 1000 AS span_to_ms, touched.touched_until AS until
    FROM (
      SELECT if(market_id = -1, -1,
          transform(market_id, {marketIds:Array(Int32)}, {marketIds:Array(Int32)}, toInt32(0))) AS span_unit,
        from_at, to_at, max(span.touched_until) AS touched_until, ${utcDays('from_at', 'to_at')} AS utc_day
      FROM (
        SELECT market_id, from_at, to_at, touched_until, ${hours('from_at', 'to_at')} AS hour
        FROM touched_span
        WHERE from_at < toDateTime({last:Date}, 'UTC') + toIntervalDay(2)
          AND to_at >= toDateTime({first:Date}, 'UTC') - toIntervalDay(1)
      ) AS span
      INNER JOIN (
        SELECT hour, min(read_min) AS read_min
        FROM (
          SELECT min(read_at) AS read_min, ${hours('from_at', 'to_at - toIntervalMillisecond(1)')} AS hour
          FROM seals GROUP BY from_at, to_at
        )
        GROUP BY hour
      ) AS earliest ON earliest.hour = span.hour
      WHERE span.touched_until > read_min
      GROUP BY span_unit, from_at, to_at
    ) AS touched
    INNER JOIN seals ON seals.utc_day = touched.utc_day
    WHERE touched.touched_until > seals.read_at
      AND touched.from_at < seals.to_at
      AND touched.to_at >= toDateTime(seals.from_at, 'UTC')
      AND (touched.span_unit = -1 OR touched.span_unit = seals.unit)
  )
) AS touch
GROUP BY unit, touch.day
ORDER BY touch.day, unit
LIMIT ${touchedMax}
SETTINGS join_use_nulls = 0, max_threads = 1`
