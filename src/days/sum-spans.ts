// Sums the rollups of sealed days into weeks and months. Like sealing, this can run twice or on two engines at
// once: a span has a revision of its own and says which days it was summed from.

import { randomBytes } from 'node:crypto'
import type { ReportMarket } from '../catalog/catalog-names.ts'
import { ServiceError } from '../errors.ts'
import { advertiserPart, divideRows } from './advertiser-parts.ts'
import type { AdvertiserCount } from './advertiser-parts.ts'
import { readBounds } from './day-bounds.ts'
import { areKept } from './kept-revisions.ts'
import { dayKey } from './market-days.ts'
import { readSeals, sealParams, sealedRowSql } from './seals.ts'
import {
  daysOfSpan,
  isCurrent,
  leastVersion,
  listSpans,
  mapSeals,
  readSpans,
} from './sealed-spans.ts'
import type { DaySpan, SealsByDay } from './sealed-spans.ts'
import { instantMs, shiftInstant, warehouseNow } from '../warehouse/instant.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { figureColumns } from './day-rows.ts'
import { beginRevision, sweepLimits } from './sweep.ts'

/**
 * A span is summed once none of its days was sealed for this long: summing reads all of them, and yesterday may
 * be renewed every few minutes.
 */
const settledMs = 7_200_000

/** Summing this many rows takes 40 MB if most of them share a row of the sum, and 180 MB if none do. */
const rowsMax = 100_000

export interface SpanDeps {
  readonly warehouse: Warehouse
  readonly markets: () => readonly ReportMarket[]
  /** Shortened by tests only. */
  readonly settledMs?: number
  /** Limit of the rows of days that one statement sums; smaller in tests only. */
  readonly rowsMax?: number
}

/** Sums the newest span that is missing or outdated; true if there are more. */
export async function sumNextSpan(deps: SpanDeps): Promise<boolean> {
  const { warehouse } = deps
  const readAt = await warehouseNow(warehouse)
  await warehouse.barrier(['touched_span', 'sealed_day', 'sealed_span', 'final_before'])
  const { firstDays, finalBefore } = await readBounds(warehouse, deps.markets())
  const first = [...firstDays.values()].toSorted()[0]
  if (first === undefined) return false
  const range = { first, last: readAt.slice(0, 10) }
  const seals = await readSeals(warehouse, { markets: deps.markets(), ...range, finalBefore })
  const stored = await readSpans(warehouse, range)
  const sealsByDay = mapSeals(seals)
  const current = new Set(
    stored.filter((span) => isCurrent(span, sealsByDay)).map((span) => spanKey(span.unit, span))
  )
  const settledBefore = shiftInstant(readAt, -(deps.settledMs ?? settledMs))
  const settled = mapSeals(seals.filter((seal) => seal.readAt <= settledBefore))
  const units = [...new Set(seals.map(({ unit }) => unit))]
  const work = listSpans(range.first, range.last)
    .toSorted((a, b) => b.firstDay.localeCompare(a.firstDay))
    .map((span) => ({
      span,
      units: units.filter(
        (unit) =>
          !current.has(spanKey(unit, span)) &&
          daysOfSpan(span).every((day) => settled.has(dayKey(unit, day)))
      ),
    }))
    .filter((one) => one.units.length > 0)
  const [next] = work
  if (next === undefined) return false
  await sumSpan(deps, { ...next, sealsByDay, readAt })
  return work.length > 1
}

function spanKey(unit: number, { firstDay, dayCount }: DaySpan): string {
  return `${unit} ${firstDay} ${dayCount}`
}

interface Summing {
  readonly span: DaySpan
  readonly units: readonly number[]
  readonly sealsByDay: SealsByDay
  readonly readAt: string
}

async function sumSpan(deps: SpanDeps, summing: Summing): Promise<void> {
  const { warehouse } = deps
  const { span, units, sealsByDay, readAt } = summing
  const days = daysOfSpan(span)
  const revision = randomBytes(8).readBigUInt64BE()
  const sealsOf = (unit: number) => days.map((day) => sealsByDay.get(dayKey(unit, day)))
  const sealed = units.flatMap(sealsOf).filter((seal) => seal !== undefined)
  await beginRevision(warehouse, {
    revision,
    range: { first: span.firstDay, last: span.firstDay },
    readAt,
  })
  // A seal may have been read that was written after the last barrier; its rows were written before it.
  await warehouse.barrier(['product_day'])
  const bound = { firstDay: span.firstDay, dayCount: span.dayCount, ...sealParams(sealed) }
  const advertisers = await warehouse.rows<AdvertiserCount>(rowCountsSql, bound)
  for (const part of divideRows(advertisers, deps.rowsMax ?? rowsMax)) {
    await warehouse.command(sumSpanSql, { ...bound, ...part, revision, readAt })
  }
  // Days that were swept while this process was held up are missing from the sum.
  const areDaysKept = await areKept(warehouse, { seals: sealed, spans: [] })
  const sealedAt = await warehouseNow(warehouse)
  if (!areDaysKept || instantMs(sealedAt) - instantMs(readAt) > sweepLimits.sealingMsMax) {
    throw new ServiceError('WAREHOUSE_UNAVAILABLE', 'a sum of days took hours and does not count')
  }
  const lines = units.map((unit) =>
    JSON.stringify({
      first_day: span.firstDay,
      day_count: span.dayCount,
      unit,
      revision: String(revision),
      read_at: readAt,
      sealed_at: sealedAt,
      day_revisions: sealsOf(unit).map((seal) => String(seal?.revision)),
      rollup_version: leastVersion(sealsOf(unit)),
    })
  )
  await warehouse.insert('sealed_span', Buffer.from(`${lines.join('\n')}\n`))
}

const rowColumns = [
  'advertiser_id',
  'unit',
  'market_id',
  'publisher_id',
  'campaign_id',
  'ad_group_id',
  'gtin_key',
].join(', ')

/** The smallest spelling of a GTIN, or a sum. */
function summed(column: string): string {
  return column.endsWith('_gtin') ? `minIf(d.${column}, d.${column} != '')` : `sum(d.${column})`
}

const rowsOfDaysSql = `
FROM product_day AS d
WHERE d.day >= {firstDay:Date} AND d.day < {firstDay:Date} + {dayCount:UInt16}
  AND ${sealedRowSql('d')}`

const rowCountsSql = `
SELECT advertiser_id AS advertiserId, count() AS rowCount ${rowsOfDaysSql}
GROUP BY advertiser_id ORDER BY advertiser_id`

const sumSpanSql = `
INSERT INTO product_span (${rowColumns}, ${figureColumns.join(', ')}, first_day, day_count, revision, read_at)
SELECT ${rowColumns}, ${figureColumns.map(summed).join(', ')},
  {firstDay:Date}, {dayCount:UInt16}, {revision:UInt64}, {readAt:DateTime64(6, 'UTC')}
${rowsOfDaysSql}
  AND ${advertiserPart}
GROUP BY ${rowColumns}`
