// Declares a delivery void, so that the next one of its purchase counts. This only sets marks: the purchase
// becomes pending and is attributed anew, and the days on which it counted are sealed again.

import { addDays } from '../domain/day.ts'
import { purchaseKey } from '../domain/purchase-key.ts'
import { assert } from '../lib/assert.ts'
import { readFinalDays } from '../days/final-days.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { pend } from '../days/announce.ts'

export interface VoidedDelivery {
  readonly publisherId: number
  readonly transactionId: string
  /** 32 hex digits. */
  readonly deliveryId: string
}

export type VoidResult =
  | { readonly kind: 'voided' }
  /** Days before this one are final, and the purchase may belong to one of them. */
  | { readonly kind: 'final'; readonly finalBefore: string }

/**
 * The caller has checked that the delivery belongs to the purchase. Doing it again only makes the purchase
 * pending once more, which repairs a call that failed halfway.
 */
export async function voidDelivery(
  warehouse: Pick<Warehouse, 'command' | 'rows'>,
  { publisherId, transactionId, deliveryId }: VoidedDelivery
): Promise<VoidResult> {
  const key = purchaseKey(publisherId, transactionId)
  assert(key !== null, 'a purchase that was found has a name')
  const [known] = await warehouse.rows<{ firstDay: string }>(firstDaySql, { purchaseKey: key })
  const { announcedBefore } = await readFinalDays(warehouse)
  // A day of any zone lies within a day of the same date in UTC.
  if (
    known !== undefined &&
    announcedBefore !== null &&
    addDays(known.firstDay, -1) < announcedBefore
  ) {
    return { kind: 'final', finalBefore: announcedBefore }
  }
  await warehouse.command(voidSql, { purchaseKey: key, deliveryId })
  // The instant is later than the void is visible, so a reading that missed the void began before it.
  await pend(warehouse, (at) => warehouse.command(pendSql, { purchaseKey: key, at }))
  return { kind: 'voided' }
}

const keyOf = `toFixedString(unhex({purchaseKey:String}), 16)`
const id = `toFixedString(unhex({deliveryId:String}), 16)`

const firstDaySql = `
SELECT toString(arrayMin(groupUniqArrayArray(days))) AS firstDay FROM purchase
WHERE purchase_key = ${keyOf} GROUP BY purchase_key`

/** The first void keeps its instant. */
const voidSql = `
INSERT INTO delivery_void (purchase_key, delivery_id, voided_at)
SELECT ${keyOf}, ${id}, now64(6)
FROM system.one
WHERE (${keyOf}, ${id}) NOT IN (
  SELECT purchase_key, delivery_id FROM delivery_void WHERE purchase_key = ${keyOf}
)`

const pendSql = `
INSERT INTO pending_purchase (shipped_at, day, purchase_key)
SELECT {at:DateTime64(6, 'UTC')}, arrayJoin(groupUniqArrayArray(days)), ${keyOf}
FROM purchase WHERE purchase_key = ${keyOf}`
