// Which market days an engine seals where several work on one warehouse: each month of a market is one engine's. What
// another one leaves undone for ten minutes is taken over.

import type { Division } from '../domain/division.ts'
import { dayKey } from './market-days.ts'
import type { MarketDay, SealingWork } from './seal-work.ts'

const overdueMs = 600_000

export class SealShares {
  readonly #division: () => Division
  readonly #monotonicMs: () => number
  /** Market days that are due and left to others, and since when. As many as the last look found. */
  #leftSince = new Map<string, number>()

  constructor(division: () => Division, monotonicMs: () => number = () => performance.now()) {
    this.#division = division
    this.#monotonicMs = monotonicMs
  }

  /**
   * What this engine begins with. Renewals of others stay, but are not due: they are still sealed along with days that
   * they are linked to.
   */
  choose({ unsealed, renewals }: SealingWork): SealingWork {
    const { nodeCount } = this.#division()
    if (nodeCount === 1) return { unsealed, renewals }
    const nowMs = this.#monotonicMs()
    const left = new Map<string, number>()
    const isTaken = (one: MarketDay): boolean => {
      if (this.#owns(one)) return true
      const key = dayKey(one.unit.id, one.day)
      const sinceMs = this.#leftSince.get(key) ?? nowMs
      left.set(key, sinceMs)
      return nodeCount > 0 && nowMs - sinceMs >= overdueMs
    }
    const chosen = {
      unsealed: unsealed.filter(isTaken),
      renewals: renewals.map((one) =>
        one.isDue && !isTaken(one) ? { ...one, isDue: false } : one
      ),
    }
    this.#leftSince = left
    return chosen
  }

  #owns({ unit, day }: MarketDay): boolean {
    return this.#division().owns(`seal ${unit.id} ${day.slice(0, 7)}`)
  }
}
