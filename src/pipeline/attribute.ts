// Attributes purchases once their touchpoints had the time to arrive. There is no queue to keep
// right: what is pending is what was shipped and has no attribution read late enough, so the step
// can run twice, or on two engines at once, and only work is wasted.

import {
  attributionClickMs,
  attributionViewMs,
  crowdTouchpointsMax,
  crowdWindowMs,
} from '../domain/windows.ts'
import { shiftInstant, warehouseNow } from '../warehouse/instant.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import {
  attributeSql,
  attributeWithCrowdsSql,
  batchSpanSql,
  crowdSuspectedSql,
  pendingSql,
  touchFormerSql,
} from './attribute-sql.ts'

export const attributeLimits = {
  // A look at what is pending reads this many rows; a batch attributes about so many purchases,
  // which with their touchpoints stay below 300 MB in the engine.
  pendingRowsMax: 50_000,
  purchasesPerBatchMax: 10_000,
  /** An insert that takes longer than this to become visible is found by the next look back. */
  visibilityMs: 10_000,
  lookBackMs: 3_600_000,
} as const

export interface AttributeDeps {
  readonly warehouse: Warehouse
  readonly settleMs: number
  /** Lowered by tests only. */
  readonly crowdMax?: number
}

export interface AttributeResult {
  readonly attributedCount: number
  /** Whether the caller should come again at once rather than after a pause. */
  readonly hasMore: boolean
}

interface PendingGroup {
  readonly shippedAt: string
  readonly pendingCount: number
  readonly dueCount: number
}

const keptAnsweredMs = 86_400_000

const beginningOfTime = '1970-01-01 00:00:00.000000'

/** Holds one thing only, which a new one finds again: up to when nothing is pending. */
export class Attributor {
  readonly #deps: AttributeDeps
  #answeredUpTo = beginningOfTime
  #lookAgainFrom: string | null = null

  constructor(deps: AttributeDeps) {
    this.#deps = deps
  }

  /** Attributes the oldest batch that is due. */
  async attributeBatch(): Promise<AttributeResult> {
    const { warehouse, settleMs } = this.#deps
    this.#goBack()
    const readAt = await warehouseNow(warehouse)
    const until = shiftInstant(readAt, -settleMs)
    // Rows of a slow insert become visible behind what was looked at; they are given some time.
    const safe = shiftInstant(until, -attributeLimits.visibilityMs)
    for (let after = this.#answeredUpTo; ;) {
      const groups = await warehouse.rows<PendingGroup>(pendingSql, {
        after,
        until,
        rowsMax: attributeLimits.pendingRowsMax,
        settleMs,
      })
      const batch = chooseBatch(groups)
      if (batch !== null) {
        await this.#attribute(batch, readAt)
        return { attributedCount: batch.purchaseCount, hasMore: true }
      }
      const last = groups.at(-1)?.shippedAt
      const isEnd = last === undefined || countPending(groups) < attributeLimits.pendingRowsMax
      const answered = isEnd || last > safe ? safe : last
      if (answered > this.#answeredUpTo) this.#answeredUpTo = answered
      if (isEnd) return { attributedCount: 0, hasMore: false }
      after = last
    }
  }

  /** Looks again at what was looked at lately: finds rows that took very long to become visible. */
  lookBack(): void {
    const back = shiftInstant(this.#answeredUpTo, -attributeLimits.lookBackMs)
    this.#answeredUpTo = back
  }

  /**
   * What was shipped at that instant is visible from now on. Where it took so long that it was looked
   * for in vain (a process that was stopped, a warehouse that hung), the next batch begins there.
   */
  noteVisible(shippedAt: string): void {
    const from = shiftInstant(shippedAt, -1)
    if (this.#lookAgainFrom === null || from < this.#lookAgainFrom) this.#lookAgainFrom = from
  }

  /** Only between batches: one under way goes by what it saw at its start. */
  #goBack(): void {
    const from = this.#lookAgainFrom
    this.#lookAgainFrom = null
    if (from !== null && from < this.#answeredUpTo) this.#answeredUpTo = from
  }

  async #attribute(batch: Batch, readAt: string): Promise<void> {
    const { warehouse, crowdMax = crowdTouchpointsMax } = this.#deps
    const range = { from: batch.from, to: batch.to }
    const [span] = await warehouse.rows<{ receivedMin: string; dayMax: string }>(
      batchSpanSql,
      range
    )
    if (span === undefined) return
    const params = { ...range, ...span, readAt, crowdMax }
    const [suspected] = await warehouse.rows<{ suspectCount: number }>(crowdSuspectedSql, params)
    await warehouse.command(touchFormerSql, { ...range, readAt })
    const hasCrowds = (suspected?.suspectCount ?? 0) > 0
    await warehouse.command(hasCrowds ? attributeWithCrowdsSql : attributeSql, {
      ...params,
      crowdMs: crowdWindowMs,
      clickMs: attributionClickMs,
      viewMs: attributionViewMs,
    })
  }

  /**
   * Drops the days of pending purchases that are all answered, but for the last two. The days are
   * compared here: before 1970 the engine's dates wrap round to 2149, and every day would go.
   */
  async forgetAnswered(): Promise<void> {
    const { warehouse } = this.#deps
    const answeredDay = shiftInstant(this.#answeredUpTo, -keptAnsweredMs).slice(0, 10)
    const stored = await warehouse.rows<{ day: string }>(
      `SELECT DISTINCT toString(toDate(shipped_at)) AS day FROM pending_purchase
       ORDER BY day LIMIT 1000`
    )
    const days = stored.filter(({ day }) => day < answeredDay)
    for (const { day } of days) {
      for (const table of ['pending_purchase', 'late_touchpoint']) {
        // A partition cannot be a bound value; the day comes from the engine's own Date.
        await warehouse.command(`ALTER TABLE ${table} DROP PARTITION '${day}'`)
      }
    }
  }
}

function countPending(groups: readonly PendingGroup[]): number {
  return groups.reduce((sum, group) => sum + group.pendingCount, 0)
}

interface Batch {
  readonly from: string
  readonly to: string
  readonly purchaseCount: number
}

/** From the first group with something due on; answered groups in between are done again. */
function chooseBatch(groups: readonly PendingGroup[]): Batch | null {
  const first = groups.findIndex((group) => group.dueCount > 0)
  const [start, ...rest] = groups.slice(first === -1 ? groups.length : first)
  if (start === undefined) return null
  let to = start.shippedAt
  let purchaseCount = start.pendingCount
  for (const group of rest) {
    if (purchaseCount + group.pendingCount > attributeLimits.purchasesPerBatchMax) break
    purchaseCount += group.pendingCount
    if (group.dueCount > 0) to = group.shippedAt
  }
  return { from: start.shippedAt, to, purchaseCount }
}
