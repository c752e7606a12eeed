// Touchpoints that became visible when purchases after them may have been attributed already.

import { clickCountableMs, crowdWindowMs, earlyToleranceMs } from '../domain/windows.ts'
import { pend } from '../days/announce.ts'
import { instantMs, warehouseNow } from '../warehouse/instant.ts'
import type { RowLines } from '../warehouse/row-lines.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'

/**
 * A purchase is read for attribution `settleMs` after its shipping at the earliest, so a touchpoint that is
 * visible within that time of its receipt is always seen. An older one may have been missed by purchases
 * after it: those are made pending again. The clocks of nodes may differ, because a purchase is pending no
 * earlier than its own receipt; one second allows for rounding.
 */
export async function announceLateTouchpoints(
  deps: { readonly warehouse: Warehouse; readonly settleMs: number },
  /** Their source is the instant of receipt in milliseconds. */
  touches: RowLines
): Promise<void> {
  if (touches.count === 0) return
  const visibleAt = await warehouseNow(deps.warehouse)
  const lateBeforeMs = instantMs(visibleAt) - deps.settleMs + 1_000
  touches.stamp(visibleAt)
  const late = touches.linesFrom((receivedAtMs) => receivedAtMs < lateBeforeMs)
  if (late.length === 0) return
  await deps.warehouse.insert(touches.table, late, touches.columns)
  await pend(deps.warehouse, ['late_touchpoint', 'purchase_identity'], (at) =>
    deps.warehouse.command(pendAgainSql, { at, shippedAt: visibleAt, reachMs: lateReachMs })
  )
}

/**
 * How long after a late touchpoint purchases may change. The touchpoint may be the earlier receipt of a
 * served ad whose repeat counted so far; then that repeat, up to 7 days later, loses its credit as well.
 * Either may win or lose purchases of 14 days, and change which ids are crowds for those of 15 days.
 */
const lateReachMs = crowdWindowMs + clickCountableMs + earlyToleranceMs

/** Makes the purchases pending whose credit late touchpoints may change. */
const pendAgainSql = `
INSERT INTO pending_purchase (shipped_at, day, purchase_key)
SELECT DISTINCT {at:DateTime64(6, 'UTC')}, toDate(p.received_at), p.purchase_key
FROM purchase_identity AS p
INNER JOIN (
  SELECT publisher_id, identity, min(received_at) AS first_at, max(received_at) AS last_at
  FROM late_touchpoint
  WHERE shipped_at = {shippedAt:DateTime64(6, 'UTC')}
  GROUP BY publisher_id, identity
) AS t ON t.publisher_id = p.publisher_id AND t.identity = p.identity
WHERE (p.publisher_id, p.identity) IN (
    SELECT publisher_id, identity FROM late_touchpoint
    WHERE shipped_at = {shippedAt:DateTime64(6, 'UTC')}
  )
  AND p.received_at >= t.first_at
  AND p.received_at <= t.last_at + toIntervalMillisecond({reachMs:Int64})`
