// The switch from one revision to another, by one insert, and the instant by which polling clients find
// new seals.

import { ServiceError } from '../errors.ts'
import { instantMs, warehouseNow } from '../warehouse/instant.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { sweepLimits } from './sweep.ts'

/** Far below the minute by which the answers to those clients overlap. */
const visibleMsMax = 10_000
const triesMax = 10

export interface NewSeals {
  /** Rows of `sealed_day` but for `sealed_at`. */
  readonly seals: readonly Readonly<Record<string, string | number>>[]
  readonly revision: bigint
  readonly readAt: string
}

/**
 * A seal that becomes visible long after the instant it carries (a process that is suspended, a warehouse
 * that hangs) would be missed by clients that polled in between: it is announced again, by a younger instant.
 */
export async function announceSeals(warehouse: Warehouse, news: NewSeals): Promise<void> {
  const { seals, revision, readAt } = news
  for (let tries = 0; tries < triesMax; tries++) {
    const sealedAt = await warehouseNow(warehouse)
    const lines = seals.map((seal) => JSON.stringify({ ...seal, sealed_at: sealedAt }))
    await warehouse.insert('sealed_day', Buffer.from(`${lines.join('\n')}\n`))
    const visibleAtMs = instantMs(await warehouseNow(warehouse))
    if (visibleAtMs - instantMs(readAt) > sweepLimits.orphanMs / 2) {
      // Held up for hours between the last look and the insert: the rows may be swept before long.
      await warehouse.command('DELETE FROM sealed_day WHERE revision = {revision:UInt64}', {
        revision,
      })
      return
    }
    if (visibleAtMs - instantMs(sealedAt) <= visibleMsMax) return
  }
  throw new ServiceError(
    'WAREHOUSE_UNAVAILABLE',
    'seals became visible too slowly, again and again'
  )
}
