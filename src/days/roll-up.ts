// Sums events and credit of market days into `product_day` under one revision, within a bound of memory however
// large the days are. Large days are summed in parts. All receipts of an event are in one part, and so are all
// lines of a purchase: so distinct counts add up, and an event that moves between two days is on one of them.

import { attributionProfiles } from '../contract/report-request.ts'
import { advertiserPart, divideRows } from './advertiser-parts.ts'
import type { AdvertiserCount } from './advertiser-parts.ts'
import { dayRowsParams, dayRowsSql, dimensions, figureColumns } from './day-rows.ts'
import type { RowsPart } from './day-rows.ts'
import { runsOf } from './market-days.ts'
import type { MarketDays } from './market-days.ts'
import type { Rates } from './rates.ts'
import { ServiceError } from '../errors.ts'
import { isBeyondLimit } from '../warehouse/refusal.ts'
import type { Params, Warehouse } from '../warehouse/warehouse.ts'
import { sealLimits } from './seal-work.ts'
import { servedForDays } from './served-days.ts'

/** How many events a statement may sum: fewer after a statement that ran out of memory or time. */
export class SealBudget {
  readonly #most: number
  #eventsMax: number

  constructor(most: number = sealLimits.eventsMax) {
    this.#most = most
    this.#eventsMax = most
  }

  get eventsMax(): number {
    return this.#eventsMax
  }

  shrink(): void {
    this.#eventsMax = Math.max(1, Math.ceil(this.#most / 64), Math.floor(this.#eventsMax / 2))
  }

  grow(): void {
    this.#eventsMax = Math.min(this.#most, Math.ceil(this.#eventsMax * 1.1))
  }
}

export interface RollUp {
  readonly asked: readonly MarketDays[]
  readonly rates: Rates
  readonly revision: bigint
  readonly readAt: string
  readonly eventsMax: number
}

/** True: by one statement, so no two rows have the same dimensions. */
export async function rollUp(warehouse: Warehouse, options: RollUp): Promise<boolean> {
  const { asked, rates, revision, readAt } = options
  const bound = { ...dayRowsParams(asked, rates), ...rangeParams(asked), revision, readAt }
  const parts = await planParts(warehouse, bound, options.eventsMax)
  try {
    for (const { part, params } of parts) {
      await warehouse.command(rollUpSql(part), { ...bound, ...params })
    }
    return parts.length === 1
  } catch (error) {
    await warehouse.command(removeRowsSql, bound).catch(() => undefined)
    throw error
  }
}

/** The instants of all days: events of the days around them are not summed, so they are not counted. */
function rangeParams(asked: readonly MarketDays[]): Params {
  const runs = runsOf(asked).flatMap((one) => one.runs)
  return {
    countFromMs: runs.reduce((least, { fromMs }) => Math.min(least, fromMs), runs[0]?.fromMs ?? 0),
    countToMs: runs.reduce((most, { toMs }) => Math.max(most, toMs), 0),
  }
}

/**
 * The next try comes within seconds, under another revision, so rows of failed ones would fill the disk. If the
 * warehouse cannot remove them either, the sweeper does it later. Unlike `DELETE FROM`, this frees the space.
 */
const removeRowsSql = `
ALTER TABLE product_day DELETE
WHERE day >= {dayMin:Date} AND day <= {dayMax:Date} AND revision = {revision:UInt64}
SETTINGS mutations_sync = 1`

/** Whether a statement probably ran out of memory or time; a missing answer counts as that too. */
export function isTooLarge(error: unknown): boolean {
  if (isBeyondLimit(error)) return true
  if (!(error instanceof ServiceError) || error.code !== 'WAREHOUSE_UNAVAILABLE') return false
  return error.details['clickhouseCode'] === undefined
}

interface Part {
  /** Absent: all of it. */
  readonly part?: RowsPart
  readonly params: Params
}

/** A single part if everything fits into one statement. */
async function planParts(
  warehouse: Warehouse,
  bound: Params,
  eventsMax: number
): Promise<readonly Part[]> {
  const advertisers = await warehouse.rows<AdvertiserCount>(eventCountsSql, bound)
  const [credited] = await warehouse.rows<{ lineCount: number }>(lineCountSql, bound)
  // All receipts of an event name one row.
  const events = divideRows(advertisers, eventsMax).map((params) => ({ part: eventsPart, params }))
  const purchases = dividePurchases(
    credited?.lineCount ?? 0,
    Math.ceil(eventsMax / attributionProfiles.length)
  )
  if (events.length <= 1 && purchases.length <= 1) return [{ params: {} }]
  return [...events, ...purchases]
}

const eventsPart = { events: advertiserPart, purchases: null }

/** Ranges of the hash that names a purchase, by which attributions are sorted within a day. */
function dividePurchases(lineCount: number, linesMax: number): readonly Part[] {
  const count = Math.ceil(lineCount / linesMax)
  const boundAt = (index: number): string =>
    ((2n ** 64n * BigInt(index)) / BigInt(count)).toString(16).padStart(16, '0')
  return Array.from({ length: count }, (_, index) => ({
    part: { events: null, purchases: index === count - 1 ? lastPurchases : somePurchases },
    params: { partFrom: boundAt(index), partTo: boundAt(index + 1) },
  }))
}

const lastPurchases = 'purchase_key >= unhex({partFrom:String})'
const somePurchases = `${lastPurchases} AND purchase_key < unhex({partTo:String})`

const eventCountsSql = `
SELECT advertiser_id AS advertiserId, count() AS rowCount FROM ad_event
WHERE verdict = 'counted'
  AND ${servedForDays('dayMin', 'dayMax')}
  AND toUnixTimestamp64Milli(received_at) >= {countFromMs:Int64} AND toUnixTimestamp64Milli(received_at) < {countToMs:Int64}
GROUP BY advertiser_id ORDER BY advertiser_id`

const lineCountSql = `
SELECT sum(length(line_index)) AS lineCount FROM attribution
WHERE day >= {dayMin:Date} - 1 AND day <= {dayMax:Date} + 1`

const rollUpColumns = [...dimensions, ...figureColumns, 'foreign_currencies']

const settings = `join_use_nulls = 0, do_not_merge_across_partitions_select_final = 1,
  max_memory_usage = ${sealLimits.statementBytesMax}`

function rollUpSql(part: RowsPart | undefined): string {
  const scope = {
    advertisers: 'all',
    profiles: attributionProfiles,
    condition: '1',
  } as const
  const rows = dayRowsSql(part === undefined ? scope : { ...scope, part })
  return `
INSERT INTO product_day (${rollUpColumns.join(', ')}, revision, read_at)
SELECT ${rollUpColumns.join(', ')}, {revision:UInt64}, {readAt:DateTime64(6, 'UTC')}
FROM (${rows})
SETTINGS ${settings}`
}
