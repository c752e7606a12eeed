// Attributes and seals days again, from the events. This only marks them: the steps of the pipeline do the
// work, and reports use the sealed figures until the new revision is there.

import { addDays } from '../domain/day.ts'
import { readFinalDays } from './final-days.ts'
import { warehouseNow } from '../warehouse/instant.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { pend } from './announce.ts'

export interface RebuildDays {
  readonly warehouse: Warehouse
  /** ISO days, both included; of every market's time zone. */
  readonly firstDay: string
  readonly lastDay: string
}

export type RebuildResult =
  | { readonly kind: 'requested'; readonly purchaseCount: number }
  /** The first day asked for is final, as are all days before `finalBefore`. */
  | { readonly kind: 'final'; readonly finalBefore: string }

/**
 * Whether a delivery is valid or was once: a judgement decides anew. The attribution of a purchase has rows
 * under the days of these alone, so any other day would stay pending for ever.
 */
const isOfPurchase = `
  (verdict = 'valid' OR (purchase_key, delivery.day) IN (
    SELECT purchase_key, arrayJoin(days) FROM purchase
    WHERE purchase_key IN (SELECT purchase_key FROM delivery_judgement WHERE purchase_key IN (
      SELECT purchase_key FROM delivery WHERE day >= {first:Date} AND day <= {last:Date} AND verdict != 'valid'
    ))
  ))`

const reads = ['delivery', 'purchase', 'delivery_judgement'] as const

export async function rebuildDays({
  warehouse,
  firstDay,
  lastDay,
}: RebuildDays): Promise<RebuildResult> {
  const { announcedBefore } = await readFinalDays(warehouse)
  if (announcedBefore !== null && firstDay < announcedBefore) {
    return { kind: 'final', finalBefore: announcedBefore }
  }
  const at = await warehouseNow(warehouse)
  await warehouse.barrier(reads)
  // A day of any zone lies within a day of the same date in UTC.
  const params = { first: addDays(firstDay, -1), last: addDays(lastDay, 1), at }
  const [counted] = await warehouse.rows<{ purchaseCount: number }>(
    `SELECT uniqExact(purchase_key) AS purchaseCount FROM delivery
     WHERE day >= {first:Date} AND day <= {last:Date} AND ${isOfPurchase}`,
    params
  )
  await pend(warehouse, reads, (pendingAt) =>
    warehouse.command(
      `INSERT INTO pending_purchase (shipped_at, day, purchase_key)
       SELECT DISTINCT {at:DateTime64(6, 'UTC')}, delivery.day, purchase_key FROM delivery
       WHERE delivery.day >= {first:Date} AND delivery.day <= {last:Date} AND ${isOfPurchase}`,
      { ...params, at: pendingAt }
    )
  )
  // Hour by hour: a span over several days would say that events may have moved between them.
  await warehouse.command(
    `INSERT INTO touched_span (from_at, to_at, market_id, touched_until)
     SELECT toDateTime({first:Date}, 'UTC') + 3600 * number AS from_at, from_at + 3599, -1, {at:DateTime64(6, 'UTC')}
     FROM numbers(24 * toUInt64({last:Date} - {first:Date} + 1))`,
    params
  )
  return { kind: 'requested', purchaseCount: counted?.purchaseCount ?? 0 }
}
