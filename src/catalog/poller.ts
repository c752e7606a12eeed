/** As much of pino as a store uses. */
export interface StoreLog {
  info(fields: object, message: string): void
  error(fields: object, message: string): void
}

interface PollerOptions {
  readonly intervalMs: number
  readonly what: string
  readonly log: StoreLog
  readonly poll: () => Promise<void>
}

/** Calls `poll` again and again, never twice at once. A run of failures is logged once, and its end. */
export class Poller {
  readonly #options: PollerOptions
  #timer: NodeJS.Timeout | null = null
  #running: Promise<void> = Promise.resolve()
  #isFailing = false
  #isClosed = false

  constructor(options: PollerOptions) {
    this.#options = options
    this.#schedule()
  }

  /** Waits for a poll under way; none begins after it. */
  async close(): Promise<void> {
    this.#isClosed = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#running
  }

  #schedule(): void {
    if (this.#isClosed) return
    this.#timer = setTimeout(() => {
      this.#running = this.#run()
    }, this.#options.intervalMs)
    // A poll is no reason for the process to live on.
    this.#timer.unref()
  }

  async #run(): Promise<void> {
    const { poll, log, what } = this.#options
    try {
      await poll()
      if (this.#isFailing) log.info({ what }, 'refreshing works again')
      this.#isFailing = false
    } catch (error) {
      if (!this.#isFailing) log.error({ what, err: error }, 'refreshing failed; trying again')
      this.#isFailing = true
    }
    this.#schedule()
  }
}
