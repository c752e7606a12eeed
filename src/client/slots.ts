import { aborted, ClientError, expectSharing } from './client-error.ts'

interface SlotOptions {
  readonly slotsMax: number
  readonly waitingMax: number
}

/** So many pieces of work at once; as many as allowed wait, first come, first served. */
export class Slots {
  readonly #options: SlotOptions
  readonly #waiting = new Set<() => void>()
  #busyCount = 0

  constructor(options: SlotOptions) {
    this.#options = options
  }

  async run<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    expectSharing(signal)
    await this.#enter(signal)
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  async #enter(signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted === true) throw aborted(signal)
    if (this.#busyCount < this.#options.slotsMax) {
      this.#busyCount += 1
      return
    }
    const { waitingMax } = this.#options
    if (this.#waiting.size >= waitingMax) {
      throw new ClientError('QUEUE_FULL', `${waitingMax} calls wait already`)
    }
    await this.#wait(signal)
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal?.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = () => {
        this.#waiting.delete(enter)
        if (signal !== undefined) reject(aborted(signal))
      }
      signal?.addEventListener('abort', giveUp, { once: true })
      this.#waiting.add(enter)
    })
  }

  /** The slot goes straight to the next in line. */
  #leave(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#busyCount -= 1
      return
    }
    this.#waiting.delete(next)
    next()
  }
}
