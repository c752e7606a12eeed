// Declares a delivery of a purchase or of a return void, so that the next one counts, and takes that back.
// Both are judgements of one delivery: the purchase becomes pending and is attributed anew, and the days on
// which it counted are sealed again.

import { randomBytes } from 'node:crypto'
import { addDays } from '../domain/day.ts'
import { purchaseKey } from '../domain/purchase-key.ts'
import { assert } from '../lib/assert.ts'
import { readFinalDays } from '../days/final-days.ts'
import { judgementsSql, voidVerdict } from '../warehouse/effective-verdict.ts'
import { warehouseNow } from '../warehouse/instant.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { applyJudgements } from './apply-judgements.ts'

export interface NamedDelivery {
  readonly publisherId: number
  readonly transactionId: string
  /** 32 hex digits. */
  readonly deliveryId: string
}

export type VoidResult =
  | { readonly kind: 'judged' }
  /** Days before this one are final, and every delivery of the purchase may belong to one of them. */
  | { readonly kind: 'final'; readonly finalBefore: string }

type Door = Pick<Warehouse, 'command' | 'rows' | 'insert' | 'barrier'>

/**
 * The caller has checked that the delivery belongs to the purchase and could count. Doing it again only makes
 * the purchase pending once more, which repairs a call that failed halfway.
 */
export async function voidDelivery(warehouse: Door, delivery: NamedDelivery): Promise<VoidResult> {
  return await judgeByHand(warehouse, delivery, voidVerdict)
}

/**
 * The caller has checked that the delivery is void. Only what was valid can be voided, so `valid` restores what was
 * judged before, whatever the policy says by now. To have it decided by that, the publisher is judged again.
 */
export async function unvoidDelivery(
  warehouse: Door,
  delivery: NamedDelivery
): Promise<VoidResult> {
  return await judgeByHand(warehouse, delivery, 'valid')
}

async function judgeByHand(
  warehouse: Door,
  { publisherId, transactionId, deliveryId }: NamedDelivery,
  verdict: string
): Promise<VoidResult> {
  const key = purchaseKey(publisherId, transactionId)
  assert(key !== null, 'a purchase that was found has a name')
  await warehouse.barrier(['purchase', 'delivery_judgement'])
  const [known] = await warehouse.rows<{ lastDay: string }>(lastDaySql, { purchaseKey: key })
  const { announcedBefore } = await readFinalDays(warehouse)
  // Who took the number of an order so early that the day is final must not keep the order from counting now. A
  // day of any zone lies within a day of the same date in UTC.
  if (
    known !== undefined &&
    announcedBefore !== null &&
    addDays(known.lastDay, -1) < announcedBefore
  ) {
    return { kind: 'final', finalBefore: announcedBefore }
  }
  const [stood] = await warehouse.rows<StoodJudgement>(stoodSql, { purchaseKey: key, deliveryId })
  // The first void keeps its instant.
  const { judgedAt, judgementId } =
    stood?.verdict === verdict
      ? stood
      : { judgedAt: await warehouseNow(warehouse), judgementId: randomBytes(8).toString('hex') }
  const rows = [{ purchaseKey: key, deliveryId, verdict }]
  await applyJudgements(warehouse, { judgementId, judgedAt, rows })
  return { kind: 'judged' }
}

interface StoodJudgement {
  readonly verdict: string
  readonly judgedAt: string
  readonly judgementId: string
}

const keyOf = `toFixedString(unhex({purchaseKey:String}), 16)`

const lastDaySql = `
SELECT toString(arrayMax(groupUniqArrayArray(days))) AS lastDay FROM purchase
WHERE purchase_key = ${keyOf} GROUP BY purchase_key`

const stoodSql = `
SELECT last.3 AS verdict, toString(last.1) AS judgedAt, last.2 AS judgementId
FROM (${judgementsSql(keyOf)})
WHERE delivery_id = toFixedString(unhex({deliveryId:String}), 16)`
