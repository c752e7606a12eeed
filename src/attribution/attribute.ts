// Attributes purchases once their touchpoints have had time to arrive. There is no queue to maintain: a
// purchase is pending if it was shipped and no attribution of it was read late enough. So the step can run
// twice, or on two engines at once, and only wastes work.

import {
  attributionClickMs,
  attributionViewMs,
  crowdTouchpointsMax,
  crowdWindowMs,
} from '../domain/windows.ts'
import { ServiceError } from '../errors.ts'
import { SharedLock } from '../lib/shared-lock.ts'
import { instantMs, shiftInstant, warehouseNow } from '../warehouse/instant.ts'
import { isBeyondLimit, isRefused } from '../warehouse/refusal.ts'
import type { Params, Warehouse } from '../warehouse/warehouse.ts'
import { tellReason } from '../warehouse/aside-record.ts'
import { announceLimits, touchAgain } from '../days/announce.ts'
import { attributeSql, attributeWithCrowdsSql, tooManyLinesCode } from './attribute-sql.ts'
import { batchSpanSql, touchFormerSql } from './batch-sql.ts'
import { attributeFrozenSql } from './frozen-sql.ts'
import { crowdSuspectedCode } from './touch-sql.ts'
import { halve, noKeys, otherPurchaseSql, planBatches } from './attribution-batch.ts'
import type { Batch, PendingGroup, Range } from './attribution-batch.ts'
import { anyPendingSql, pendingSql } from './pending-sql.ts'
import { Turns } from './turns.ts'
import type { TurnDeps } from './turns.ts'
import { WorkList } from './work-list.ts'
import { reasonOf } from '../warehouse/insert-rows.ts'
import { setAsidePurchase } from './set-aside-purchase.ts'

export const attributeLimits = {
  // A look at what is pending reads this many rows, and the rest of the last shipment: two batches, unless
  // much of it is answered. Both are attributed at the same time. Every batch, large or small, scans the touchpoints of
  // three weeks, so it is as large as memory allows: two of 25,000 purchases take 200 MB with their touchpoints, one of
  // 50,000 took 320.
  pendingRowsMax: 50_000,
  purchasesPerBatchMax: 27_500,
  /** From this many purchases on, touchpoints are read without asking the primary key first. */
  largeBatch: 5_000,
  /** An ordinary batch of the most purchases has a third of these lines. */
  linesPerBatchMax: 250_000,
  /** After so many purchases were set aside in a row and none was attributed, the warehouse is at fault. */
  setAsideInRowMax: 10,
  /** How often a purchase may reach a limit while no other purchase was seen to pass. */
  limitTriesMax: 60,
  /** So many looks ahead of what is left to other engines. */
  looksAheadMax: 4,
  /** This many batches count crowds after one was suspected. */
  crowdBatches: 20,
} as const

export interface AttributeDeps extends TurnDeps {
  readonly warehouse: Warehouse
  /** This option and those that follow are set by tests only. */
  readonly crowdMax?: number
  readonly purchasesMax?: number
  readonly largeBatch?: number
  readonly linesMax?: number
}

interface Counts {
  attributedCount: number
  setAsideCount: number
}

export interface AttributeResult extends Readonly<Counts> {
  /** Whether the caller should come again at once rather than after a pause. */
  readonly hasMore: boolean
}

interface BatchSpan {
  readonly receivedMin: string
  readonly dayMax: string
  readonly isJudged: 0 | 1
  readonly isReturned: 0 | 1
  readonly wasCredited: 0 | 1
  readonly isFrozen: 0 | 1
}

/** Everything that the statements of a batch read. */
const batchReads = [
  'pending_purchase',
  'purchase',
  'delivery',
  'delivery_judgement',
  'purchase_return',
  'touchpoint',
  'attribution',
  'frozen_purchase',
  'final_before',
] as const

/** A reading may begin under an instant of the warehouse that was asked for this long ago. */
const instantAgeMsMax = 1_000

const noCounts = { attributedCount: 0, setAsideCount: 0 } as const

const keptAnsweredMs = 86_400_000

const beginningOfTime = '1970-01-01 00:00:00.000000'

/** Keeps only what a new attributor would find again: how far nothing is pending, and the plan. */
export class Attributor {
  readonly #deps: AttributeDeps
  readonly #work = new WorkList()
  readonly #turns: Turns
  #answeredUpTo = beginningOfTime
  /** Everything up to here is answered once the plan is done; null if what may still become visible is behind it. */
  #plannedUpTo: string | null = null
  /** Counts crowds alone: that may take as much memory as one statement may have. */
  readonly #crowdLock = new SharedLock()
  #counts: Counts = { ...noCounts }
  #crowdBatchCount = 0
  #setAsideInRow = 0
  /** The batch that was attributed last: shows whether the warehouse has room for another purchase. */
  #lastAttributed: Batch | null = null
  #lastInstant: { readonly at: string; readonly askedAtMs: number } | null = null

  constructor(deps: AttributeDeps) {
    this.#deps = deps
    this.#turns = new Turns(deps)
  }

  /**
   * Attributes a batch that is due and the next one beside it, or divides what is too heavy or refused. A statement
   * keeps only one core busy for most of its time. No batch needs what another one writes, so two under way are to
   * each other like those of two engines.
   */
  async attributeBatch(): Promise<AttributeResult> {
    if (this.#work.isPlanDue() && (this.#work.hasSuspects() || this.#turns.isLookDue())) {
      await this.#plan()
    }
    const batch = this.#work.take()
    if (batch === null) return { ...this.#takeCounts(), hasMore: false }
    const beside = this.#crowdBatchCount === 0 ? this.#work.takeBeside() : null
    const batches = beside === null ? [batch] : [batch, beside]
    const tries = await Promise.allSettled(batches.map((one) => this.#try(one)))
    const failed = tries.find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
    return { ...this.#takeCounts(), hasMore: true }
  }

  async #try(batch: Batch): Promise<void> {
    try {
      const { attributedCount, setAsideCount } = await this.#attributeOrDivide(batch)
      this.#counts.attributedCount += attributedCount
      this.#counts.setAsideCount += setAsideCount
    } catch (error) {
      this.#work.retryLater(batch, { isBeyondLimit: isBeyondLimit(error) })
      throw error
    } finally {
      this.#work.release(batch)
    }
  }

  /** What was done since the last result, which includes what was done beside a batch that failed. */
  #takeCounts(): Counts {
    const counts = this.#counts
    this.#counts = { ...noCounts }
    return counts
  }

  /** What was shipped before this instant is attributed, as of the last look; null before the first one. */
  settledThrough(): string | null {
    return this.#work.settledThrough()
  }

  /** When the oldest purchase that is due was shipped, as of the last look; null if none is due. */
  oldestDueAt(): string | null {
    return this.#work.isAnythingDue() ? this.#work.settledThrough() : null
  }

  async #attributeOrDivide(batch: Batch): Promise<Readonly<Counts>> {
    const { warehouse } = this.#deps
    try {
      await this.#attribute(batch)
    } catch (error) {
      if (isRaised(error, tooManyLinesCode)) return await this.#divide(batch)
      if (!isRefused(error) && !isBeyondLimit(error)) throw error
      const parts = await halve(warehouse, batch)
      if (parts.length > 1) {
        this.#work.suspect(parts)
        return noCounts
      }
      if (await this.#isToBlame(batch, error)) {
        await setAsidePurchase(warehouse, rangeOf(batch), tellReason(reasonOf(error)))
        return { attributedCount: batch.purchaseCount - 1, setAsideCount: 1 }
      }
    }
    this.#setAsideInRow = 0
    this.#lastAttributed = batch
    return { attributedCount: batch.purchaseCount, setAsideCount: 0 }
  }

  /** One purchase may have any number of lines, also if it is pending under several instants. */
  async #divide(batch: Batch): Promise<Readonly<Counts>> {
    const parts = await halve(this.#deps.warehouse, batch)
    const [one] = parts
    if (parts.length === 1 && one !== undefined) return await this.#attributeOrDivide(one)
    this.#work.putBack(parts)
    return noCounts
  }

  /**
   * Whether a purchase that failed alone has to be set aside; false if it was attributed after all. Throws
   * where the warehouse is to blame: then the purchase waits and is tried again.
   */
  async #isToBlame(batch: Batch, failure: ServiceError): Promise<boolean> {
    // If the statement fails without any purchase, so does every other.
    await this.#attribute({ ...batch, ...noKeys })
    if (isBeyondLimit(failure)) {
      // A limit that another purchase reaches as well says how little room the warehouse has now.
      const control = await this.#findControl(batch)
      if (control !== null) await this.#attribute(control)
      else if (batch.limitCount < attributeLimits.limitTriesMax) throw failure
      if (await this.#passes(batch)) return false
    }
    this.#setAsideInRow += 1
    if (this.#setAsideInRow > attributeLimits.setAsideInRowMax) throw failure
    return true
  }

  /** Another purchase that was attributed lately, alone in its batch. */
  async #findControl(batch: Batch): Promise<Batch | null> {
    const last = this.#lastAttributed
    if (last === null) return null
    const params = { ...rangeOf(last), otherKey: batch.keyFrom }
    const [row] = await this.#deps.warehouse.rows<{ key: string }>(otherPurchaseSql, params)
    if (row === undefined) return null
    return { ...last, keyFrom: row.key, keyTo: row.key, purchaseCount: 1 }
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
  async #plan(): Promise<void> {
    const { warehouse, settleMs, purchasesMax = attributeLimits.purchasesPerBatchMax } = this.#deps
    const until = shiftInstant(await this.#now(), -settleMs)
    await warehouse.barrier(['pending_purchase', 'attribution'])
    // Rows of a slow insert become visible after a look has passed them, so looks stay a while behind.
    const safe = shiftInstant(until, -announceLimits.visibilityMs)
    // If the clock of the warehouse was set back, new shipments would lie before this instant.
    if (safe < this.#answeredUpTo) this.#answeredUpTo = safe
    else if (this.#plannedUpTo !== null) this.#noteAnswered(this.#plannedUpTo)
    this.#plannedUpTo = null
    // Mostly nothing is pending, and finding that out costs a tenth of the query below.
    if (!this.#work.hasSuspects() && !(await this.#isAnyPending(until))) {
      this.#noteAnswered(safe)
      return this.#setPlan([], { until, leftFrom: null })
    }
    let leftFrom: string | null = null
    for (let [after, looks] = [this.#answeredUpTo, 1]; ; looks += 1) {
      const groups = await warehouse.rows<PendingGroup>(pendingSql, {
        after,
        until,
        rowsMax: attributeLimits.pendingRowsMax,
        settleMs,
      })
      const left = new Set(groups.filter((group) => this.#isLeft(group, until)))
      leftFrom ??= [...left][0]?.shippedAt ?? null
      const batches = planBatches(groups, {
        purchasesMax,
        isApart: (group) => left.has(group) || this.#work.isSuspected(group.shippedAt),
      })
      const planned = batches.at(-1)
      if (planned !== undefined) {
        const isAnswered = planned.to <= safe && (leftFrom === null || planned.to < leftFrom)
        if (isAnswered && !this.#work.hasSuspects()) this.#plannedUpTo = planned.to
        return this.#setPlan(batches, { until, leftFrom })
      }
      const last = groups.at(-1)?.shippedAt
      const isEnd = last === undefined || countPending(groups) < attributeLimits.pendingRowsMax
      if (leftFrom === null) this.#noteAnswered(isEnd || last > safe ? safe : last)
      const isAhead = leftFrom !== null && looks >= attributeLimits.looksAheadMax
      if (isEnd || isAhead) return this.#setPlan([], { until, leftFrom })
      after = last
    }
  }

  #isLeft({ shippedAt, dueCount }: PendingGroup, until: string): boolean {
    return dueCount > 0 && this.#turns.isLeft(shippedAt, until)
  }

  #setPlan(batches: readonly Batch[], look: { until: string; leftFrom: string | null }): void {
    this.#work.plan(batches, look)
    this.#turns.noteLook({ ...look, hadOwn: batches.length > 0 })
  }

  async #isAnyPending(until: string): Promise<boolean> {
    const range = { after: this.#answeredUpTo, until }
    return (await this.#deps.warehouse.rows(anyPendingSql, range)).length > 0
  }

  /** Looks begin here from now on, unless parts of a refused batch lie before it. */
  #noteAnswered(through: string): void {
    if (!this.#work.hasSuspects() && through > this.#answeredUpTo) this.#answeredUpTo = through
  }

  async #attribute(batch: Batch): Promise<void> {
    const {
      warehouse,
      crowdMax = crowdTouchpointsMax,
      largeBatch = attributeLimits.largeBatch,
      linesMax = attributeLimits.linesPerBatchMax,
    } = this.#deps
    const range = rangeOf(batch)
    // In this order: what was there at the instant of the reading is read, whichever node wrote it.
    const readAt = await this.#recentInstant()
    await warehouse.barrier(batchReads)
    const [found] = await warehouse.rows<BatchSpan>(batchSpanSql, range)
    if (found === undefined) return
    const { wasCredited, isFrozen, ...span } = found
    const form = { isJudged: found.isJudged === 1, isReturned: found.isReturned === 1 }
    if (wasCredited === 1) await warehouse.command(touchFormerSql, { ...range, readAt })
    if (isFrozen === 1) await warehouse.command(attributeFrozenSql(form), { ...range, readAt })
    const isLarge = batch.purchaseCount >= largeBatch
    await this.#write(
      { ...form, isLarge },
      {
        ...range,
        ...span,
        readAt,
        // A part of a batch that failed is searched down to one purchase, and one may have any number of lines.
        linesMax: batch.isSuspect || batch.purchaseCount === 1 ? Number.MAX_SAFE_INTEGER : linesMax,
        crowdMax,
        crowdMs: crowdWindowMs,
        clickMs: attributionClickMs,
        viewMs: attributionViewMs,
      }
    )
    // A seal that began reading meanwhile may have seen neither the old rows nor the new ones.
    const tookMs = instantMs(await this.#now()) - instantMs(readAt)
    if (tookMs >= announceLimits.touchMs) await touchAgain(warehouse, readAt)
  }

  async #now(): Promise<string> {
    const askedAtMs = performance.now()
    const at = await warehouseNow(this.#deps.warehouse)
    this.#lastInstant = { at, askedAtMs }
    return at
  }

  /** An instant that has passed: that of the plan or of the end of the last batch, which saves a statement a batch. */
  async #recentInstant(): Promise<string> {
    const last = this.#lastInstant
    const isRecent = last !== null && performance.now() - last.askedAtMs <= instantAgeMsMax
    return isRecent ? last.at : await this.#now()
  }

  /** After a suspected crowd, the next batches skip the cheap form. */
  async #write(form: Parameters<typeof attributeSql>[0], params: Params): Promise<void> {
    const { warehouse } = this.#deps
    if (this.#crowdBatchCount === 0) {
      try {
        return await this.#crowdLock.run(() => warehouse.command(attributeSql(form), params))
      } catch (error) {
        if (!isRaised(error, crowdSuspectedCode)) throw error
        this.#crowdBatchCount = attributeLimits.crowdBatches
      }
    }
    await this.#crowdLock.runAlone(() => warehouse.command(attributeWithCrowdsSql(form), params))
    this.#crowdBatchCount = Math.max(0, this.#crowdBatchCount - 1)
  }

  /**
   * Drops the days of pending purchases that are all answered, except the last two. The days are compared
   * here: before 1970 ClickHouse's dates wrap round to 2149, and every day would go.
   */
  async forgetAnswered(): Promise<void> {
    const { warehouse } = this.#deps
    await warehouse.barrier(['pending_purchase'])
    const answeredDay = shiftInstant(this.#answeredUpTo, -keptAnsweredMs).slice(0, 10)
    const stored = await warehouse.rows<{ day: string }>(
      `SELECT DISTINCT toString(toDate(shipped_at)) AS day FROM pending_purchase
       ORDER BY day LIMIT 1000`
    )
    const days = stored.filter(({ day }) => day < answeredDay)
    for (const { day } of days) {
      for (const table of ['pending_purchase', 'late_touchpoint']) {
        // A partition cannot be a bound value; the day comes from ClickHouse's own Date.
        await warehouse.command(`ALTER TABLE ${table} DROP PARTITION '${day}'`)
      }
    }
  }
}

/** Whether the statement refused its batch by this code. */
function isRaised(error: unknown, code: number): boolean {
  return error instanceof ServiceError && error.details['clickhouseCode'] === code
}

function countPending(groups: readonly PendingGroup[]): number {
  return groups.reduce((sum, group) => sum + group.pendingCount, 0)
}

function rangeOf({ from, to, keyFrom, keyTo }: Batch): Params & Range {
  return { from, to, keyFrom, keyTo }
}
