/**
 * A lock that any number of pieces of work share, or that one holds alone: that one waits until the work
 * under way has ended, and work that comes meanwhile waits for it. No work may take the lock again from
 * inside.
 */
export class SharedLock {
  #runningCount = 0
  #closed: Promise<unknown> | null = null
  #emptied: (() => void) | null = null

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    while (this.#closed !== null) await this.#closed
    this.#runningCount += 1
    try {
      return await work()
    } finally {
      this.#runningCount -= 1
      if (this.#runningCount === 0) this.#emptied?.()
    }
  }

  /** The lock is free again afterwards, also if the work fails. */
  async runAlone<Result>(work: () => Promise<Result>): Promise<Result> {
    while (this.#closed !== null) await this.#closed
    let open = doNothing
    this.#closed = new Promise<void>((resolve) => (open = resolve))
    try {
      if (this.#runningCount > 0) {
        await new Promise<void>((resolve) => (this.#emptied = resolve))
      }
      return await work()
    } finally {
      this.#emptied = null
      this.#closed = null
      open()
    }
  }
}

function doNothing(): void {}
