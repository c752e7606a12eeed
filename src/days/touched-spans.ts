// Reads the spans that may have touched sealed days. A year of live traffic in ten markets has 90,000 spans, and nearly
// all of them were seen by every reading of their hours: those are left out where they are read.

import { assert } from '../lib/assert.ts'
import type { Params, Warehouse } from '../warehouse/warehouse.ts'
import type { LatestSeal } from './seals.ts'

/** A span of time in which figures may have changed. */
export interface TouchedSpan {
  /** -1: every market. */
  readonly unit: number
  readonly fromMs: number
  /** The first instant after the span. */
  readonly toMs: number
  /** A reading that began at this instant or later has seen everything that touched the span. */
  readonly untilUs: number
}

export const everyUnit = -1

/** 2 million hours of markets, or a backfill of years that was never read. Beyond that, reports fail loudly. */
const spansMax = 2_000_000

/** The spans that a reading of a seal may have missed; some of the others are among them. */
export async function readSpansAfter(
  warehouse: Pick<Warehouse, 'rows'>,
  seals: readonly LatestSeal[],
  markets: ReadonlySet<number>
): Promise<readonly TouchedSpan[]> {
  const rows = await warehouse.rows<SpanRow>(spansSql, readingParams(seals))
  assert(rows.length < spansMax, 'the spans that touch sealed days fit into the list')
  return mergeSpans(rows, markets)
}

interface SpanRow {
  readonly marketId: number
  readonly fromS: number
  readonly toS: number
  readonly untilUs: number
}

/** Spans of unknown markets touch one unit, and rows of one span that ClickHouse has not merged yet are one span. */
function mergeSpans(
  rows: readonly SpanRow[],
  markets: ReadonlySet<number>
): readonly TouchedSpan[] {
  const spans = new Map<string, TouchedSpan>()
  for (const { marketId, fromS, toS, untilUs } of rows) {
    const unit = marketId === everyUnit || markets.has(marketId) ? marketId : 0
    const key = `${unit} ${fromS} ${toS}`
    const known = spans.get(key)
    if (known !== undefined && known.untilUs >= untilUs) continue
    spans.set(key, { unit, fromMs: fromS * 1_000, toMs: (toS + 1) * 1_000, untilUs })
  }
  return [...spans.values()]
}

/**
 * Buckets and not days: the seal of a day covers hours of two UTC days, and by days nearly every span would meet the
 * seals of both. Live input is passed over with buckets of up to two hours, since a day is sealed two hours after its
 * end; with this length an hour a day is read in vain, and the lists are shorter.
 */
const bucketSeconds = 10_800
/** Eight days: no span of an ad event is longer. */
const bucketsPerRun = 64
/** A span this long may reach beyond the run of its first bucket. */
const runSeconds = (bucketsPerRun - 1) * bucketSeconds

/** Later than everything: nothing is sealed there. */
const never = 4_294_967_295

/** When the earliest reading began, in seconds: of the days that begin with each bucket. */
function readingParams(seals: readonly LatestSeal[]): Params {
  const from = seals.reduce((least, { fromMs }) => Math.min(least, fromMs), Infinity) / 1_000
  const to = seals.reduce((most, { toMs }) => Math.max(most, toMs), 0) / 1_000
  const firstBucket = bucketAt(from)
  const readings = Array.from({ length: bucketAt(to) - firstBucket + 1 }, () => never)
  for (const { fromMs, toMs, readAtUs } of seals) {
    const readAt = Math.floor(readAtUs / 1_000_000)
    const last = bucketAt(toMs / 1_000 - 1) - firstBucket
    for (let index = bucketAt(fromMs / 1_000) - firstBucket; index <= last; index += 1) {
      readings[index] = Math.min(readings[index] ?? never, readAt)
    }
  }
  const runs = readings.map((_, index) => Math.min(...readings.slice(index, index + bucketsPerRun)))
  return { from, to, firstBucket, readings: runs }
}

function bucketAt(second: number): number {
  return Math.floor(second / bucketSeconds)
}

/**
 * A span that begins before the first seal counts from there. A short span is compared with the earliest reading of the
 * days that follow within a run, whether it reaches them or not; the few long ones are all read. A single thread: the
 * rows are few, and every report and every look for work would pay for starting more.
 */
const spansSql = `
SELECT market_id AS marketId, toUnixTimestamp(from_at) AS fromS, toUnixTimestamp(to_at) AS toS,
  toUnixTimestamp64Micro(touched_until) AS untilUs
FROM touched_span
WHERE from_at < toDateTime({to:UInt32}) AND to_at >= toDateTime({from:UInt32})
  AND (to_at >= from_at + ${runSeconds} OR toUnixTimestamp(touched_until) >= {readings:Array(UInt32)}[
    intDiv(greatest(fromS, {from:UInt32}), ${bucketSeconds}) - {firstBucket:UInt32} + 1])
LIMIT ${spansMax}
SETTINGS max_threads = 1`
