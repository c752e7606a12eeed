// Makes judgements count: the verdict of a delivery is another one from now on, and whatever follows from it
// is computed anew. Each step can be repeated, and the order decides what a reading may miss: the judgements
// are visible before the instant under which their purchases become pending.

import { addDays } from '../domain/day.ts'
import { assert } from '../lib/assert.ts'
import { pend } from '../days/announce.ts'
import { readFinalDays } from '../days/final-days.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'

export const judgementLimits = {
  /** Ids are bound as lists of text: 2,000 are 70 kB of the 128 kB that a server takes for one value. */
  rowsMax: 2_000,
} as const

export interface JudgedDelivery {
  /** 32 hex digits each. */
  readonly purchaseKey: string
  readonly deliveryId: string
  readonly verdict: string
  /** Of a delivery of a purchase that was never valid before: what is needed to find it. */
  readonly accepted?: { readonly day: string; readonly publisherId: number }
}

export interface Judgements {
  readonly judgementId: string
  /** Of the warehouse's clock; of two judgements of a delivery the later one counts. */
  readonly judgedAt: string
  readonly rows: readonly JudgedDelivery[]
}

/** Deliveries of purchases and of returns, at most `rowsMax`. */
export async function applyJudgements(
  warehouse: Pick<Warehouse, 'command' | 'rows' | 'insert' | 'barrier'>,
  { judgementId, judgedAt, rows }: Judgements
): Promise<void> {
  assert(rows.length <= judgementLimits.rowsMax, 'judgements are applied in parts')
  if (rows.length === 0) return
  const lines = rows.map(({ purchaseKey, deliveryId, verdict }) =>
    JSON.stringify({
      purchase_key: purchaseKey,
      delivery_id: deliveryId,
      judged_at: judgedAt,
      judgement_id: judgementId,
      verdict,
    })
  )
  await warehouse.insert('delivery_judgement_in', Buffer.from(lines.join('\n') + '\n'))
  const keys = [...new Set(rows.map(({ purchaseKey }) => purchaseKey))]
  await accept(warehouse, rows)
  await repend(warehouse, keys)
}

/** What the materialized views behind the inserts write of a delivery that is stored as valid. */
async function accept(
  warehouse: Pick<Warehouse, 'command' | 'barrier'>,
  rows: readonly JudgedDelivery[]
): Promise<void> {
  const found = rows.flatMap(({ accepted, ...row }) =>
    accepted === undefined ? [] : [{ ...row, ...accepted }]
  )
  if (found.length === 0) return
  const params = {
    days: [...new Set(found.map(({ day }) => day))],
    publisherIds: [...new Set(found.map(({ publisherId }) => publisherId))],
    keys: found.map(({ purchaseKey }) => purchaseKey),
    ids: found.map(({ deliveryId }) => deliveryId),
  }
  await warehouse.barrier(['delivery'])
  await warehouse.command(acceptIdentitiesSql, params)
  await warehouse.command(acceptPurchasesSql, params)
}

/**
 * Purchases of which every delivery lies in final days stay as they are: the data they would be attributed
 * from may be gone. If one lies behind them it may win now, whatever was before it.
 */
async function repend(
  warehouse: Pick<Warehouse, 'command' | 'rows' | 'barrier'>,
  keys: readonly string[]
): Promise<void> {
  const { announcedBefore } = await readFinalDays(warehouse)
  // A day of any zone lies within a day of the same date in UTC.
  const firstDay = announcedBefore === null ? '1970-01-01' : addDays(announcedBefore, -1)
  await pend(warehouse, ['purchase'], (at) => warehouse.command(pendSql, { keys, firstDay, at }))
}

const keysSql = `SELECT toFixedString(unhex(arrayJoin({keys:Array(String)})), 16)`

/** The rows are filed under the day of receipt, since what came too late is never judged to be valid. */
const acceptedSql = `
FROM delivery
WHERE day IN (SELECT toDate(arrayJoin({days:Array(String)})))
  AND publisher_id IN {publisherIds:Array(Int32)}
  AND purchase_key IN (${keysSql})
  AND (purchase_key, delivery_id) IN (
    SELECT toFixedString(unhex(pair.1), 16), toFixedString(unhex(pair.2), 16)
    FROM (SELECT arrayJoin(arrayZip({keys:Array(String)}, {ids:Array(String)})) AS pair)
  )`

const acceptPurchasesSql = `
INSERT INTO purchase (purchase_key, first, days, publisher_id)
SELECT purchase_key, (received_at, delivery_id), [toDate(received_at)], publisher_id ${acceptedSql}`

const acceptIdentitiesSql = `
INSERT INTO purchase_identity (publisher_id, identity, received_at, purchase_key)
SELECT publisher_id,
  arrayJoin(arrayDistinct(arrayFilter(id -> id != toFixedString('', 16), [user_identity, login_identity]))),
  received_at, purchase_key
${acceptedSql}`

const pendSql = `
INSERT INTO pending_purchase (shipped_at, day, purchase_key)
SELECT {at:DateTime64(6, 'UTC')}, arrayMin(groupUniqArrayArray(days)), purchase_key
FROM purchase
WHERE purchase_key IN (${keysSql})
GROUP BY purchase_key
HAVING arrayMax(groupUniqArrayArray(days)) >= {firstDay:Date}`
