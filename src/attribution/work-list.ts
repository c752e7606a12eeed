// What an attributor still has to do: batches that were planned, and parts of batches that failed. Both
// take turns, so a batch that is searched for its fault delays the purchases of other batches by no more
// than one try each.

import type { Batch } from './attribution-batch.ts'

/**
 * Up to so many parts are searched side by side, which credits the healthy ones first: half of them after
 * two tries, three quarters after four. With more, everything seems to fail, and the smallest part is
 * searched to its end, to tell a fault of purchases from one of the warehouse.
 */
const partsAbreastMax = 64

export class WorkList {
  /** Oldest first. */
  #planned: readonly Batch[] = []
  /** Largest first. */
  #suspects: readonly Batch[] = []
  readonly #underWay = new Set<Batch>()
  #isSuspectsTurn = false
  /** From which end of the suspects the last one was taken. */
  #isDeep = false
  /** Where what is planned ends; null before the first plan. */
  #plannedThrough: string | null = null
  #wasAnythingDue = false
  /** The oldest purchase that is due and left to another engine. */
  #leftFrom: string | null = null

  /** Whether nothing that was planned is left, and no part of a failed batch has its turn. */
  isPlanDue(): boolean {
    return this.#planned.length === 0 && !(this.#isSuspectsTurn && this.hasSuspects())
  }

  /** Replaces a plan that is done; `until` is where the look ended, `leftFrom` where it left something to others. */
  plan(
    batches: readonly Batch[],
    { until, leftFrom }: { readonly until: string; readonly leftFrom: string | null }
  ): void {
    this.#planned = batches
    this.#plannedThrough = batches.at(-1)?.to ?? until
    this.#leftFrom = leftFrom
    this.#wasAnythingDue = batches.length > 0 || leftFrom !== null || this.hasSuspects()
  }

  /** The next batch to try, null when there is none. It is under way until `release` is called. */
  take(): Batch | null {
    const isSuspect = this.hasSuspects() && (this.#isSuspectsTurn || this.#planned.length === 0)
    this.#isSuspectsTurn = !this.#isSuspectsTurn
    return this.#begin(isSuspect ? this.#takeSuspect() : this.#takePlanned())
  }

  /** A batch to try at the same time as the one that was taken; null while anything is searched for a fault. */
  takeBeside(): Batch | null {
    const isSearching = this.hasSuspects() || [...this.#underWay].some(({ isSuspect }) => isSuspect)
    return isSearching ? null : this.#begin(this.#takePlanned())
  }

  /** Called when the try of the batch has ended and what is left of it is back on the list. */
  release(batch: Batch): void {
    this.#underWay.delete(batch)
  }

  #begin(batch: Batch | undefined): Batch | null {
    if (batch !== undefined) this.#underWay.add(batch)
    return batch ?? null
  }

  /** Parts of a planned batch that is too large to be tried. */
  putBack(parts: readonly Batch[]): void {
    this.#planned = [...parts, ...this.#planned]
  }

  /** Parts of a batch that failed. */
  suspect(parts: readonly Batch[]): void {
    this.#suspects = [...this.#suspects, ...parts.map((part) => ({ ...part, isSuspect: true }))]
  }

  /** A batch that failed without being at fault is tried again after all others that failed. */
  retryLater(batch: Batch, failure: { readonly isBeyondLimit: boolean }): void {
    const limitCount = batch.limitCount + (failure.isBeyondLimit ? 1 : 0)
    const again = { ...batch, isSuspect: true, limitCount }
    this.#suspects = this.#isDeep ? [again, ...this.#suspects] : [...this.#suspects, again]
  }

  hasSuspects(): boolean {
    return this.#suspects.length > 0
  }

  /** Whether purchases that were shipped at this instant belong to a batch that failed. */
  isSuspected(shippedAt: string): boolean {
    return this.#suspects.some(({ from, to }) => from <= shippedAt && shippedAt <= to)
  }

  /** Whether the last look found anything due. */
  isAnythingDue(): boolean {
    return this.#wasAnythingDue
  }

  /** What was shipped before this instant is done; null before the first plan. */
  settledThrough(): string | null {
    const open = [...this.#planned, ...this.#suspects, ...this.#underWay]
    const starts = [
      ...open.map(({ from }) => from),
      ...(this.#leftFrom === null ? [] : [this.#leftFrom]),
    ]
    return starts.toSorted()[0] ?? this.#plannedThrough
  }

  #takePlanned(): Batch | undefined {
    const [batch, ...others] = this.#planned
    this.#planned = others
    return batch
  }

  #takeSuspect(): Batch | undefined {
    this.#isDeep = this.#suspects.length > partsAbreastMax
    const batch = this.#isDeep ? this.#suspects.at(-1) : this.#suspects[0]
    this.#suspects = this.#isDeep ? this.#suspects.slice(0, -1) : this.#suspects.slice(1)
    return batch
  }
}
