// The questions of sealing that are longer than a few lines.

import { profilePrefix, profiles } from '../reports/day-rows.ts'
import { latestSealsSql } from '../reports/sealed-days.ts'
import { latestSpansSql } from '../reports/sealed-spans.ts'

/** What a rollup holds beside its dimensions. */
export const figureColumns: readonly string[] = [
  'loads',
  'impressions',
  'clicks',
  'spend',
  'spend_unconverted',
  ...profiles.flatMap((profile) =>
    ['gtin', 'conversions', 'units', 'value', 'unconverted', 'orders'].map(
      (name) => `${profilePrefix[profile]}_${name}`
    )
  ),
  'foreign_amounts',
]

/** The days of UTC that a span lies in: what spans and seals are joined by. */
function utcDays(from: string, to: string): string {
  return `arrayJoin(arrayMap(n -> toDate(${from}) + n, range(toUInt32(toDate(${to}) - toDate(${from}) + 1))))`
}

/**
 * Sealed days that were touched after their reading began, or may have been. Spans whose end lies
 * before every reading of their days are left out first: those are nearly all there are.
 */
export const touchedSealsSql = `
WITH seals AS MATERIALIZED (
  SELECT *, ${utcDays('from_at', 'to_at - toIntervalMillisecond(1)')} AS utc_day FROM (${latestSealsSql()})
)
SELECT DISTINCT seals.unit AS unit, toString(seals.day) AS day
FROM (
  SELECT if(market_id = -1, -1,
      transform(market_id, {marketIds:Array(Int32)}, {marketIds:Array(Int32)}, toInt32(0))) AS span_unit,
    from_at, to_at, touched_until, span.utc_day AS utc_day
  FROM (
    SELECT market_id, from_at, to_at, max(touched_until) AS touched_until, ${utcDays('from_at', 'to_at')} AS utc_day
    FROM touched_span
    GROUP BY market_id, from_at, to_at
  ) AS span
  INNER JOIN (SELECT utc_day, min(read_at) AS read_min FROM seals GROUP BY utc_day) AS earliest
    ON earliest.utc_day = span.utc_day
  WHERE touched_until > read_min
) AS touched
INNER JOIN seals ON seals.utc_day = touched.utc_day
WHERE touched.touched_until > seals.read_at
  AND touched.from_at < seals.to_at
  AND touched.to_at >= toDateTime(seals.from_at, 'UTC')
  AND (touched.span_unit = -1 OR touched.span_unit = seals.unit)
ORDER BY day, unit
LIMIT 100000
SETTINGS join_use_nulls = 0`

const superseded = [
  ['product_day', 'unit, day, revision', latestSealsSql()],
  ['sealed_day', 'unit, day, revision', latestSealsSql()],
  ['product_span', 'unit, first_day, day_count, revision', latestSpansSql],
  ['sealed_span', 'unit, first_day, day_count, revision', latestSpansSql],
].map(([table, key, latest]) => ({
  table,
  where: `${table}.read_at < {before:DateTime64(6, 'UTC')}
  AND (${key}) NOT IN (SELECT ${key} FROM (${latest}))`,
}))

/** Revisions that no report reads any more, among them those of an engine that ended half-way. */
export const supersededCountSql = superseded
  .map(({ table, where }) => `SELECT count() AS rowCount FROM ${table} WHERE ${where}`)
  .join(' UNION ALL ')

export const sweepSql: readonly string[] = superseded.map(
  ({ table, where }) => `DELETE FROM ${table} WHERE ${where}`
)
