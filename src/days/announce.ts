// Instants order the steps: a purchase is attributed by a reading that began late enough after the
// instant under which it is pending, a day is sealed again by one that began after it was touched. An
// instant is taken before its effect is visible, and a process that is suspended in between (a machine
// that is moved, a warehouse that hangs) makes an old instant visible late, when others have looked past
// it. So each is checked once the effect is visible, and announced anew under a later one when it was slow.

import { ServiceError } from '../errors.ts'
import { formatInstant, instantMs, warehouseNow } from '../warehouse/instant.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'

export const announceLimits = {
  /** What is pending must be visible so soon after its instant and the settling time; later it is missed. */
  visibilityMs: 10_000,
  /** A touched span is given 5 minutes to become visible; what took longer than this is touched again. */
  touchMs: 60_000,
  triesMax: 5,
} as const

/** Shorter settling times are for tests; below this a busy machine would announce everything twice. */
const slowMsMin = 1_000

type Door = Pick<Warehouse, 'rows' | 'command'>

/** Makes purchases pending under an instant at which all that they are to be read with is visible. */
export async function pend(
  warehouse: Door,
  insert: (at: string) => Promise<unknown>
): Promise<void> {
  for (let tries = 0; tries < announceLimits.triesMax; tries += 1) {
    const at = await warehouseNow(warehouse)
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
  /** As they were inserted, a row each. */
  readonly deliveries: readonly { readonly line: string }[]
}

/**
 * To be called when a batch is visible. A delivery that took longer than the settling time may have been
 * missed by a reading that counts as late enough; a second is kept for clocks that differ.
 */
export async function announceIfSlow(
  deps: { readonly warehouse: Door; readonly settleMs: number },
  { shippedAt, deliveries }: ShippedBatch
): Promise<void> {
  const { warehouse, settleMs } = deps
  const tookMs = instantMs(await warehouseNow(warehouse)) - instantMs(shippedAt)
  if (deliveries.length > 0 && tookMs >= Math.max(settleMs - 1_000, slowMsMin)) {
    const days = deliveries.map(({ line }) => dayOfLine(line)).toSorted()
    const params = { shippedAt, first: days[0] ?? '', last: days.at(-1) ?? '' }
    await pend(warehouse, (at) => warehouse.command(pendBatchSql, { ...params, at }))
  }
  if (tookMs >= announceLimits.touchMs) await touchAgain(warehouse, shippedAt)
}

/** Touches once more whatever was touched from an instant on, so that seals that missed it are renewed. */
export async function touchAgain(warehouse: Door, since: string): Promise<void> {
  await warehouse.command(touchAgainSql, { since, at: await warehouseNow(warehouse) })
}

function dayOfLine(line: string): string {
  const row: { received_at_ms: number } = JSON.parse(line)
  return formatInstant(row.received_at_ms).slice(0, 10)
}

const pendBatchSql = `
INSERT INTO pending_purchase (shipped_at, day, purchase_key)
SELECT DISTINCT {at:DateTime64(6, 'UTC')}, d.day, d.purchase_key
FROM delivery AS d
WHERE d.day >= {first:Date} AND d.day <= {last:Date}
  AND d.shipped_at = {shippedAt:DateTime64(6, 'UTC')} AND d.verdict = 'valid'`

/** By when they were touched, not by whom: rows of one span merge, and the later instant stays. */
const touchAgainSql = `
INSERT INTO touched_span (from_at, to_at, market_id, touched_until)
SELECT DISTINCT s.from_at, s.to_at, s.market_id, {at:DateTime64(6, 'UTC')}
FROM touched_span AS s
WHERE s.touched_until >= {since:DateTime64(6, 'UTC')} + toIntervalSecond(300)
  AND s.touched_until < {at:DateTime64(6, 'UTC')}`
