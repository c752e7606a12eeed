// Which purchases an engine attributes where several work on one warehouse. Purchases are divided by the instant of
// their shipping, in slices of time, rather than by their keys: a statement takes nearly as long for half of the
// purchases, so both engines together would do twice the work. What another engine leaves undone is taken over.

import { undivided } from '../domain/division.ts'
import type { Division } from '../domain/division.ts'
import { instantMs, shiftInstant } from '../warehouse/instant.ts'

export const turnLimits = {
  /** Each look at the border of two slices is one too many, and a backlog is divided by slices. */
  sliceMs: 20_000,
  bucketCount: 64,
  /** An engine whose turn has ended looks on for so long, for what becomes visible late. */
  handoverMs: 500,
  /** How often an engine looks whose turn it is not. */
  lookPauseMs: 10_000,
  /** How often one looks that is alone while nothing is shipped. Looking was most of what an idle node did. */
  quietLookPauseMs: 2_000,
  /** An engine that did nothing about its oldest purchase for so long is not relied on any more … */
  overdueMs: 60_000,
  /** … for so long. */
  distrustMs: 600_000,
} as const

export interface TurnDeps {
  /** Absent: this engine is the only one. */
  readonly division?: () => Division
  readonly settleMs: number
  /** Whether nothing was shipped lately, by any node. Absent: that is not known. */
  readonly isQuiet?: () => boolean
  /** Set by tests only. */
  readonly monotonicMs?: () => number
}

export class Turns {
  readonly #division: () => Division
  readonly #isQuiet: () => boolean
  readonly #monotonicMs: () => number
  /** The last look: what had settled then, and when that was. */
  #look: { readonly until: string; readonly atMs: number; readonly hadOwn: boolean } | null = null
  /** The oldest purchase that was left to others, and since when it has been. */
  #left: { readonly shippedAt: string; readonly sinceMs: number } | null = null
  #distrustUntilMs = -Infinity

  constructor(deps: TurnDeps) {
    this.#division = deps.division ?? (() => undivided)
    this.#isQuiet = deps.isQuiet ?? (() => false)
    this.#monotonicMs = deps.monotonicMs ?? (() => performance.now())
  }

  /** Whether to look now what is pending. */
  isLookDue(): boolean {
    const { nodeCount } = this.#division()
    if (nodeCount === 0) return false
    const look = this.#look
    if (look === null || look.hadOwn) return true
    const elapsedMs = this.#monotonicMs() - look.atMs
    if (nodeCount === 1) return elapsedMs >= turnLimits.quietLookPauseMs || !this.#isQuiet()
    const settled = shiftInstant(look.until, elapsedMs)
    return (
      elapsedMs >= turnLimits.lookPauseMs ||
      this.#owns(settled) ||
      this.#owns(shiftInstant(settled, -turnLimits.handoverMs))
    )
  }

  /** Whether purchases that were shipped at this instant are left to another engine, by a look that ends at `until`. */
  isLeft(shippedAt: string, until: string): boolean {
    if (this.#owns(shippedAt)) return false
    const isOverdue = shippedAt < shiftInstant(until, -turnLimits.overdueMs)
    return !(isOverdue && this.#monotonicMs() < this.#distrustUntilMs)
  }

  /** `leftFrom` is the oldest purchase that the look left to others. */
  noteLook(look: {
    readonly until: string
    readonly hadOwn: boolean
    readonly leftFrom: string | null
  }): void {
    const nowMs = this.#monotonicMs()
    this.#look = { ...look, atMs: nowMs }
    if (look.leftFrom === null) this.#left = null
    else if (this.#left?.shippedAt !== look.leftFrom) {
      this.#left = { shippedAt: look.leftFrom, sinceMs: nowMs }
    } else if (nowMs - this.#left.sinceMs >= turnLimits.overdueMs) {
      this.#distrustUntilMs = nowMs + turnLimits.distrustMs
    }
  }

  #owns(shippedAt: string): boolean {
    const slice = Math.floor(instantMs(shippedAt) / turnLimits.sliceMs)
    return this.#division().owns(`attribute ${slice % turnLimits.bucketCount}`)
  }
}
