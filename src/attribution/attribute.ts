// Attributes purchases once their touchpoints had the time to arrive. There is no queue to keep
// right: what is pending is what was shipped and has no attribution read late enough, so the step
// can run twice, or on two engines at once, and only work is wasted.

import {
  attributionClickMs,
  attributionViewMs,
  crowdTouchpointsMax,
  crowdWindowMs,
} from '../domain/windows.ts'
import { ServiceError } from '../errors.ts'
import { instantMs, shiftInstant, warehouseNow } from '../warehouse/instant.ts'
import { isBeyondLimit, isRefused } from '../warehouse/refusal.ts'
import type { Params, Warehouse } from '../warehouse/warehouse.ts'
import { tellReason } from '../warehouse/aside-record.ts'
import { announceLimits, touchAgain } from '../days/announce.ts'
import {
  anyPendingSql,
  attributeSql,
  attributeWithCrowdsSql,
  batchSpanSql,
  crowdSuspectedCode,
  lineCountSql,
  pendingSql,
  touchFormerSql,
} from './attribute-sql.ts'
import { halve, noKeys, planBatches } from './attribution-batch.ts'
import type { Batch, PendingGroup, Range } from './attribution-batch.ts'
import { reasonOf } from '../warehouse/insert-rows.ts'
import { setAsidePurchase } from './set-aside-purchase.ts'

export const attributeLimits = {
  // A look at what is pending reads so many rows, and those of the same shipping behind them: one batch,
  // unless much of it is answered. A batch reads the touchpoints of three weeks past its people, many or
  // few, so it is as large as memory allows: with its touchpoints it takes about 300 MB.
  pendingRowsMax: 50_000,
  purchasesPerBatchMax: 55_000,
  /** From here on touchpoints are read without asking the primary key first. */
  largeBatch: 5_000,
  /** Of a batch; an ordinary one of the most purchases has a third of them. */
  linesPerBatchMax: 500_000,
  /** So many purchases set aside one after the other, and none attributed, are no fault of theirs. */
  setAsideInRowMax: 10,
  /** So many batches count crowds after one was suspected. */
  crowdBatches: 20,
} as const

export interface AttributeDeps {
  readonly warehouse: Warehouse
  readonly settleMs: number
  /** Set by tests only, as is the next one. */
  readonly crowdMax?: number
  readonly largeBatch?: number
  readonly linesMax?: number
}

export interface AttributeResult {
  readonly attributedCount: number
  readonly setAsideCount: number
  /** Whether the caller should come again at once rather than after a pause. */
  readonly hasMore: boolean
}

const keptAnsweredMs = 86_400_000

const beginningOfTime = '1970-01-01 00:00:00.000000'

/** Holds nothing that a new one would not find again: up to when nothing is pending, and a plan. */
export class Attributor {
  readonly #deps: AttributeDeps
  #answeredUpTo = beginningOfTime
  /** Batches of the last look, oldest first. */
  #planned: Batch[] = []
  /** Where the oldest batch begins that failed since that look: nothing is settled beyond. */
  #failedFrom: string | null = null
  #crowdBatchCount = 0
  #setAsideInRow = 0
  #settledThrough: string | null = null
  #isAnythingDue = false

  constructor(deps: AttributeDeps) {
    this.#deps = deps
  }

  /** Attributes the oldest batch that is due, or divides it where it is too heavy or refused. */
  async attributeBatch(): Promise<AttributeResult> {
    if (this.#planned.length === 0) this.#planned = await this.#plan()
    const [batch, ...others] = this.#planned
    if (batch === undefined) return { attributedCount: 0, setAsideCount: 0, hasMore: false }
    // One that fails as a whole holds up no other; the next look finds it again.
    this.#planned = others
    const { parts, setAsideCount } = await this.#attributeOrDivide(batch).catch(
      (error: unknown) => {
        this.#failedFrom ??= batch.from
        throw error
      }
    )
    this.#planned = [...parts, ...others]
    this.#settledThrough = this.#failedFrom ?? this.#planned[0]?.from ?? batch.to
    const attributedCount = parts.length === 0 ? batch.purchaseCount - setAsideCount : 0
    return { attributedCount, setAsideCount, hasMore: true }
  }

  /** What was shipped before this instant is attributed, as of the last look; null before the first one. */
  settledThrough(): string | null {
    return this.#settledThrough
  }

  /** The instant of the shipping of the oldest purchase that is due, as of the last look; null: none is. */
  oldestDueAt(): string | null {
    return this.#isAnythingDue ? this.#settledThrough : null
  }

  async #attributeOrDivide(batch: Batch): Promise<Divided> {
    const { warehouse } = this.#deps
    if (batch.purchaseCount > 1 && (await this.#hasManyLines(batch))) {
      const parts = await halve(warehouse, batch)
      if (parts.length > 1) return { parts, setAsideCount: 0 }
    }
    try {
      await this.#attribute(batch)
      this.#setAsideInRow = 0
      return { parts: [], setAsideCount: 0 }
    } catch (error) {
      if (!isRefused(error) && !isBeyondLimit(error)) throw error
      const parts = await halve(warehouse, batch)
      if (parts.length > 1) return { parts, setAsideCount: 0 }
      return { parts: [], setAsideCount: await this.#setAsideAlone(batch, error) }
    }
  }

  async #hasManyLines(batch: Batch): Promise<boolean> {
    const { warehouse, linesMax = attributeLimits.linesPerBatchMax } = this.#deps
    const [row] = await warehouse.rows<{ lineCount: number }>(lineCountSql, rangeOf(batch))
    return (row?.lineCount ?? 0) > linesMax
  }

  /** How many: one, or none where it was no fault of the purchase. */
  async #setAsideAlone(batch: Batch, failure: ServiceError): Promise<number> {
    const { warehouse } = this.#deps
    // Where the statement fails for no purchase at all, the warehouse is at fault, or has no room.
    await this.#attribute({ ...batch, ...noKeys })
    // A limit may have been reached by what ran beside it.
    if (isBeyondLimit(failure) && (await this.#passes(batch))) return 0
    this.#setAsideInRow += 1
    if (this.#setAsideInRow > attributeLimits.setAsideInRowMax) throw failure
    await setAsidePurchase(warehouse, rangeOf(batch), tellReason(reasonOf(failure)))
    return 1
  }

  async #passes(batch: Batch): Promise<boolean> {
    try {
      await this.#attribute(batch)
      return true
    } catch (error) {
      if (!isBeyondLimit(error)) throw error
      return false
    }
  }

  /** Looks through what is pending until something is due; remembers how far nothing was. */
  async #plan(): Promise<Batch[]> {
    const { warehouse, settleMs } = this.#deps
    const until = shiftInstant(await warehouseNow(warehouse), -settleMs)
    // Rows of a slow insert become visible behind what was looked at; they are given some time.
    const safe = shiftInstant(until, -announceLimits.visibilityMs)
    // The clock of the warehouse was set back: what is shipped now would lie behind.
    if (safe < this.#answeredUpTo) this.#answeredUpTo = safe
    const range = { after: this.#answeredUpTo, until }
    // Mostly nothing is pending, and to find that out costs a tenth of the question below.
    const [any] = await warehouse.rows<{ one: number }>(anyPendingSql, range)
    if (any === undefined) {
      if (safe > this.#answeredUpTo) this.#answeredUpTo = safe
      return this.#found([], until)
    }
    for (let after = this.#answeredUpTo; ;) {
      const groups = await warehouse.rows<PendingGroup>(pendingSql, {
        after,
        until,
        rowsMax: attributeLimits.pendingRowsMax,
        settleMs,
      })
      const batches = planBatches(groups, attributeLimits.purchasesPerBatchMax)
      if (batches.length > 0) return this.#found(batches, until)
      const last = groups.at(-1)?.shippedAt
      const isEnd = last === undefined || countPending(groups) < attributeLimits.pendingRowsMax
      const answered = isEnd || last > safe ? safe : last
      if (answered > this.#answeredUpTo) this.#answeredUpTo = answered
      if (isEnd) return this.#found([], until)
      after = last
    }
  }

  #found(batches: Batch[], until: string): Batch[] {
    this.#failedFrom = null
    this.#isAnythingDue = batches.length > 0
    this.#settledThrough = batches[0]?.from ?? until
    return batches
  }

  async #attribute(batch: Batch): Promise<void> {
    const { warehouse, crowdMax = crowdTouchpointsMax, largeBatch } = this.#deps
    const readAt = await warehouseNow(warehouse)
    const range = rangeOf(batch)
    const [span] = await warehouse.rows<{ receivedMin: string; dayMax: string }>(
      batchSpanSql,
      range
    )
    if (span === undefined) return
    await warehouse.command(touchFormerSql, { ...range, readAt })
    const isLarge = batch.purchaseCount >= (largeBatch ?? attributeLimits.largeBatch)
    await this.#write(isLarge, {
      ...range,
      ...span,
      readAt,
      crowdMax,
      crowdMs: crowdWindowMs,
      clickMs: attributionClickMs,
      viewMs: attributionViewMs,
    })
    // A seal that began reading meanwhile knew neither the old rows nor the new ones for sure.
    const tookMs = instantMs(await warehouseNow(warehouse)) - instantMs(readAt)
    if (tookMs >= announceLimits.touchMs) await touchAgain(warehouse, readAt)
  }

  /** Where one crowd was, more follow: for some batches crowds are counted without trying. */
  async #write(isLarge: boolean, params: Params): Promise<void> {
    const { warehouse } = this.#deps
    if (this.#crowdBatchCount === 0) {
      try {
        return await warehouse.command(attributeSql({ isLarge }), params)
      } catch (error) {
        if (!isCrowdSuspected(error)) throw error
        this.#crowdBatchCount = attributeLimits.crowdBatches
      }
    }
    await warehouse.command(attributeWithCrowdsSql({ isLarge }), params)
    this.#crowdBatchCount -= 1
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

function isCrowdSuspected(error: unknown): boolean {
  return error instanceof ServiceError && error.details['clickhouseCode'] === crowdSuspectedCode
}

function countPending(groups: readonly PendingGroup[]): number {
  return groups.reduce((sum, group) => sum + group.pendingCount, 0)
}

interface Divided {
  /** What is left to be done of the batch. */
  readonly parts: readonly Batch[]
  readonly setAsideCount: number
}

function rangeOf({ from, to, keyFrom, keyTo }: Batch): Params & Range {
  return { from, to, keyFrom, keyTo }
}
