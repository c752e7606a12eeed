import type { Division } from '../domain/division.ts'

/** How much more seldom than its owner an engine does a step that is another one's. */
const othersFactor = 30
const othersPauseMsMin = 60_000

/** Whose turn a step is that one engine does for all. The others do it now and then, in case that one does not. */
export class StepTurns {
  readonly #division: () => Division
  readonly #monotonicMs: () => number

  constructor(division: () => Division, monotonicMs: () => number = () => performance.now()) {
    this.#division = division
    this.#monotonicMs = monotonicMs
  }

  /** The step as this engine does it; `pauseMs` is the pause of its owner. */
  share(name: string, pauseMs: number, step: () => Promise<boolean>): () => Promise<boolean> {
    const othersPauseMs = Math.max(othersPauseMsMin, othersFactor * pauseMs)
    let doneAtMs = this.#monotonicMs()
    return async () => {
      const nowMs = this.#monotonicMs()
      const isOurs = this.#division().owns(`step ${name}`)
      if (!isOurs && nowMs - doneAtMs < othersPauseMs) return false
      doneAtMs = nowMs
      const hasMore = await step()
      return hasMore && isOurs
    }
  }
}
