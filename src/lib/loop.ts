import { setTimeout as sleep } from 'node:timers/promises'

export interface LoopOptions {
  /** One step. Resolves with true if there is more to do at once. */
  readonly step: () => Promise<boolean>
  readonly pauseMs: number
  /** Pauses grow to this after failures in a row. */
  readonly failurePauseMsMax: number
  readonly onFailure: (error: unknown, failureCount: number) => void
  /** Called after the first step that succeeds after failures. */
  readonly onRecovery?: () => void
}

/** Repeats a step until stopped. A failing step is reported and repeated after growing pauses. */
export class Loop {
  readonly #options: LoopOptions
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>

  constructor(options: LoopOptions) {
    this.#options = options
    this.#running = this.#run()
  }

  /** Resolves when the step under way has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { step, pauseMs, failurePauseMsMax, onFailure, onRecovery } = this.#options
    let failureCount = 0
    while (!this.#stopping.signal.aborted) {
      try {
        const hasMore = await step()
        if (failureCount > 0) onRecovery?.()
        failureCount = 0
        await this.#pause(hasMore ? 0 : pauseMs)
      } catch (error) {
        failureCount += 1
        onFailure(error, failureCount)
        await this.#pause(Math.min(pauseMs * 2 ** failureCount, failurePauseMsMax))
      }
    }
  }

  async #pause(ms: number): Promise<void> {
    try {
      await sleep(ms, undefined, { signal: this.#stopping.signal })
    } catch {
      // Stopped while pausing: the loop looks at the signal next.
    }
  }
}
