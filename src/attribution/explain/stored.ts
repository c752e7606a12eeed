// Reads what the reports use: the stored attribution of a purchase, and whether a newer one is on its way.

import type { CreditRule } from '../../contract/explanation.ts'
import { attributionProfiles } from '../../contract/report-request.ts'
import { shiftInstant } from '../../warehouse/instant.ts'
import type { Warehouse } from '../../warehouse/warehouse.ts'
import { idOf } from './deliveries.ts'
import type { PurchaseId } from './deliveries.ts'
import type { Credit, Credits } from './judge.ts'

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
  readonly lines: readonly LineTuple[]
}

type LineTuple = readonly [
  index: number,
  quantity: number,
  value: string,
  clickRule: 'none' | 'direct' | 'in-group',
  click: AdTuple,
  view: AdTuple,
]

type AdTuple = readonly [
  atMs: number,
  servedAdId: string,
  marketId: number,
  advertiserId: number,
  campaignId: number,
  adGroupId: number,
  gtin: string,
]

function toStored(row: StoredRow): StoredAttribution {
  return {
    readAtMs: row.readAtMs,
    isFrozen: row.isFrozen === 1,
    deliveryId: idOf(row.deliveryId),
    lines: new Map(row.lines.map((line) => [line[0], toLine(line)])),
  }
}

function toLine([, quantity, value, clickRule, click, view]: LineTuple): StoredLine {
  const clicked = clickRule === 'none' ? null : toCredit(clickRule, click)
  const seen = idOf(view[1]) === '' ? null : toCredit('view', view)
  const credits = {
    CLK_14_DAYS: clicked,
    IMP_1_DAY: seen,
    IMP_1_DAY_CLK_14_DAYS: clicked ?? seen,
  }
  return { quantity, value, credits }
}

function toCredit(rule: CreditRule, ad: AdTuple): Credit {
  const [touchedAtMs, servedAdId, marketId, advertiserId, campaignId, adGroupId, gtin] = ad
  return { rule, touchedAtMs, servedAdId, marketId, advertiserId, campaignId, adGroupId, gtin }
}

/** Whether two sets of credits name the same touchpoints under the same rules. */
export function areSameCredits(one: Credits, other: Credits): boolean {
  return attributionProfiles.every((profile) => {
    const [a, b] = [one[profile], other[profile]]
    if (a === null || b === null) return a === b
    return a.rule === b.rule && a.servedAdId === b.servedAdId && a.touchedAtMs === b.touchedAtMs
  })
}

/** A purchase has a row for each of its days: the one under the day of its winner, else any empty one. */
const storedSql = `
SELECT toString(read_at) AS readAt, toUnixTimestamp64Milli(toDateTime64(read_at, 3, 'UTC')) AS readAtMs,
  is_frozen AS isFrozen, lower(hex(delivery_id)) AS deliveryId,
  arrayZip(line_index, line_quantity, arrayMap(v -> toString(v), line_value),
    arrayMap(r -> toString(r), click_rule),
    arrayZip(arrayMap(t -> toUnixTimestamp64Milli(t), click_at), arrayMap(a -> lower(hex(a)), click_served_ad_id),
      click_market_id, click_advertiser_id, click_campaign_id, click_ad_group_id, click_gtin),
    arrayZip(arrayMap(t -> toUnixTimestamp64Milli(t), view_at), arrayMap(a -> lower(hex(a)), view_served_ad_id),
      view_market_id, view_advertiser_id, view_campaign_id, view_ad_group_id, view_gtin)) AS lines
FROM attribution FINAL
WHERE day IN (SELECT toDate(arrayJoin({days:Array(String)})))
  AND purchase_key = toFixedString(unhex({purchaseKey:String}), 16)
ORDER BY day = toDate(received_at) DESC, read_at DESC LIMIT 1`

const pendingSql = `
SELECT toUInt32(count()) AS count FROM pending_purchase
WHERE shipped_at > {after:DateTime64(6, 'UTC')}
  AND purchase_key = toFixedString(unhex({purchaseKey:String}), 16)`
