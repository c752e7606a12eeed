/**
 * Lets any number of pieces of work run beside each other, and one at a time run alone: it waits for
 * those under way to end and holds up those that come. No work may call the gate again from inside.
 */
export class Gate {
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

  /** Whatever becomes of the work, the gate is open again afterwards. */
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
