// Reads what the reports use: the stored attribution of a purchase, and whether a newer one is on its way.

import { attributionProfiles } from '../../contract/report-request.ts'
import { shiftInstant } from '../../warehouse/instant.ts'
import type { Warehouse } from '../../warehouse/warehouse.ts'
import { readingSql } from '../frozen-sql.ts'
import { idOf } from './deliveries.ts'
import type { PurchaseId } from './deliveries.ts'
import type { Credits, TouchedAd } from './judge.ts'

export interface StoredLine {
  readonly quantity: number
  /** A decimal of 9 digits, in the currency of the purchase. */
  readonly value: string
  readonly credits: Credits
}

export interface StoredAttribution {
  readonly readAtMs: number
  readonly isFrozen: boolean
  /** '' where no delivery may win. */
  readonly deliveryId: string
  /** By place in the delivery, from 0; lines without credit are not among them. */
  readonly lines: ReadonlyMap<number, StoredLine>
}

export interface StoredState {
  /** Null while the purchase was never attributed. */
  readonly stored: StoredAttribution | null
  readonly isPending: boolean
}

interface StoredQuestion extends PurchaseId {
  readonly days: readonly string[]
  readonly settleMs: number
}

type Reader = Pick<Warehouse, 'rows'>

/** `days` are those under which the purchase ever stood. */
export async function readStored(reader: Reader, question: StoredQuestion): Promise<StoredState> {
  const { purchaseKey, days, settleMs } = question
  const [row] =
    days.length === 0 ? [] : await reader.rows<StoredRow>(storedSql, { purchaseKey, days })
  // What is shipped within the settling time before a reading is not answered by it.
  const after = row === undefined ? beginningOfTime : shiftInstant(row.readAt, -settleMs)
  const [pending] = await reader.rows<{ count: number }>(pendingSql, { purchaseKey, after })
  return {
    stored: row === undefined ? null : toStored(row),
    isPending: (pending?.count ?? 0) > 0,
  }
}

const beginningOfTime = '1970-01-01 00:00:00.000000'

interface StoredRow {
  readonly readAt: string
  readonly readAtMs: number
  readonly isFrozen: number
  readonly deliveryId: string
  readonly lines: readonly RowLine[]
}

interface RowLine {
  readonly index: number
  readonly quantity: number
  readonly value: string
  readonly clickRule: 'none' | 'direct' | 'in-group'
  readonly clicked: TouchedAd
  readonly seen: TouchedAd
}

function toStored(row: StoredRow): StoredAttribution {
  return {
    readAtMs: row.readAtMs,
    isFrozen: row.isFrozen === 1,
    deliveryId: idOf(row.deliveryId),
    lines: new Map(row.lines.map((line) => [line.index, toLine(line)])),
  }
}

function toLine({ quantity, value, clickRule, clicked, seen }: RowLine): StoredLine {
  const click = clickRule === 'none' ? null : { rule: clickRule, ...clicked }
  const impression = idOf(seen.servedAdId) === '' ? null : { rule: 'view' as const, ...seen }
  const credits = {
    CLK_14_DAYS: click,
    IMP_1_DAY: impression,
    IMP_1_DAY_CLK_14_DAYS: click ?? impression,
  }
  return { quantity, value, credits }
}

/** Whether two sets of credits name the same touchpoints under the same rules. */
export function areSameCredits(one: Credits, other: Credits): boolean {
  return attributionProfiles.every((profile) => {
    const [a, b] = [one[profile], other[profile]]
    if (a === null || b === null) return a === b
    return a.rule === b.rule && a.servedAdId === b.servedAdId && a.touchedAtMs === b.touchedAtMs
  })
}

/** The columns of the touchpoints of one kind, zipped: the type names the fields. */
const adsOf = (kind: 'click' | 'view'): string => `
    arrayZip(arrayMap(t -> toUnixTimestamp64Milli(t), ${kind}_at), arrayMap(a -> lower(hex(a)), ${kind}_served_ad_id),
      ${kind}_market_id, ${kind}_advertiser_id, ${kind}_campaign_id, ${kind}_ad_group_id, ${kind}_gtin)`
const adType = `Tuple(touchedAtMs Int64, servedAdId String, marketId Int32, advertiserId Int32, campaignId Int32,
    adGroupId Int32, gtin String)`

/** A purchase has a row for each of its days: the one under the day of its winner, else any empty one. */
const storedSql = `
SELECT toString(${readingSql}) AS readAt, toUnixTimestamp64Milli(toDateTime64(${readingSql}, 3, 'UTC')) AS readAtMs,
  is_frozen AS isFrozen, lower(hex(delivery_id)) AS deliveryId,
  CAST(
    arrayZip(line_index, line_quantity, arrayMap(v -> toString(v), line_value),
      arrayMap(r -> toString(r), click_rule), ${adsOf('click')}, ${adsOf('view')}),
    'Array(Tuple(index UInt32, quantity Int32, value String, clickRule String, clicked ${adType}, seen ${adType}))'
  ) AS lines
FROM attribution FINAL
WHERE day IN (SELECT toDate(arrayJoin({days:Array(String)})))
  AND purchase_key = toFixedString(unhex({purchaseKey:String}), 16)
ORDER BY day = toDate(received_at) DESC, read_at DESC LIMIT 1`

const pendingSql = `
SELECT toUInt32(count()) AS count FROM pending_purchase
WHERE shipped_at > {after:DateTime64(6, 'UTC')}
  AND purchase_key = toFixedString(unhex({purchaseKey:String}), 16)`
