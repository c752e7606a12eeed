// Instants order the steps: a purchase is attributed by a reading that began late enough after the instant
// under which it is pending, and a day is sealed again by a reading that began after it was touched. An
// instant is taken before its effect is visible. If the process is suspended in between (a machine that is
// moved, a warehouse that hangs), an old instant becomes visible after others have looked past it. So each
// effect is checked once it is visible, and announced again under a later instant if it was slow.

import { ServiceError } from '../errors.ts'
import { formatInstant, instantMs, warehouseNow } from '../warehouse/instant.ts'
import type { Warehouse, WarehouseTable } from '../warehouse/warehouse.ts'

export const announceLimits = {
  /** Attribution misses a pending purchase that becomes visible later than this after it has settled. */
  visibilityMs: 10_000,
  /** A touched span has 5 minutes to become visible; one that took longer than this is touched again. */
  touchMs: 60_000,
  triesMax: 5,
} as const

/** Only tests settle faster. Below this, a busy machine would announce everything twice. */
const slowMsMin = 1_000

type Door = Pick<Warehouse, 'rows' | 'command' | 'barrier'>

/**
 * Makes purchases pending under an instant at which everything their attribution must read is visible. `insert` finds
 * them in the tables that it reads.
 */
export async function pend(
  warehouse: Door,
  reads: readonly WarehouseTable[],
  insert: (at: string) => Promise<unknown>
): Promise<void> {
  for (let tries = 0; tries < announceLimits.triesMax; tries += 1) {
    const at = await warehouseNow(warehouse)
    await warehouse.barrier(reads)
    await insert(at)
    const tookMs = instantMs(await warehouseNow(warehouse)) - instantMs(at)
    if (tookMs < announceLimits.visibilityMs - 1_000) return
  }
  throw new ServiceError(
    'WAREHOUSE_UNAVAILABLE',
    'the warehouse takes too long to make rows visible'
  )
}

export interface ShippedBatch {
  readonly shippedAt: string
  /** The first and the last receipt among the deliveries; null if there are none. */
  readonly deliveredMs: Readonly<DeliveredMs> | null
}

export interface DeliveredMs {
  first: number
  last: number
}

/**
 * Call this when a batch is visible. A delivery that took longer than the settling time may have been missed
 * by a reading that counts as late enough. One second is kept for clocks that differ.
 */
export async function announceIfSlow(
  deps: { readonly warehouse: Door; readonly settleMs: number },
  { shippedAt, deliveredMs }: ShippedBatch
): Promise<void> {
  const { warehouse, settleMs } = deps
  const tookMs = instantMs(await warehouseNow(warehouse)) - instantMs(shippedAt)
  if (deliveredMs !== null && tookMs >= Math.max(settleMs - 1_000, slowMsMin)) {
    const [first, last] = [dayOf(deliveredMs.first), dayOf(deliveredMs.last)]
    const params = { shippedAt, first, last }
    await pend(warehouse, ['delivery'], (at) => warehouse.command(pendBatchSql, { ...params, at }))
  }
  if (tookMs >= announceLimits.touchMs) await touchAgain(warehouse, shippedAt)
}

/** Touches everything again that was touched since an instant, so that seals that missed it are renewed. */
export async function touchAgain(warehouse: Door, since: string): Promise<void> {
  const at = await warehouseNow(warehouse)
  await warehouse.barrier(['touched_span'])
  await warehouse.command(touchAgainSql, { since, at })
}

function dayOf(receivedAtMs: number): string {
  return formatInstant(receivedAtMs).slice(0, 10)
}

const pendBatchSql = `
INSERT INTO pending_purchase (shipped_at, day, purchase_key)
SELECT DISTINCT {at:DateTime64(6, 'UTC')}, d.day, d.purchase_key
FROM delivery AS d
WHERE d.day >= {first:Date} AND d.day <= {last:Date}
  AND d.shipped_at = {shippedAt:DateTime64(6, 'UTC')} AND d.verdict = 'valid'`

/** Spans are found by when they were touched, not by whom: rows of one span merge into the latest instant. */
const touchAgainSql = `
INSERT INTO touched_span (from_at, to_at, market_id, touched_until)
SELECT DISTINCT s.from_at, s.to_at, s.market_id, {at:DateTime64(6, 'UTC')}
FROM touched_span AS s
WHERE s.touched_until >= {since:DateTime64(6, 'UTC')} + toIntervalSecond(300)
  AND s.touched_until < {at:DateTime64(6, 'UTC')}`
