// Bounds how many reports run at once. A report that finds no free place waits for one, so that a dashboard
// with many charts is served, and no key takes all the places.
import { refuse, type Answer, type Call } from '../http/handler.ts'
import { assert } from '../lib/assert.ts'
import { SharedQuestions } from '../reports/shared-questions.ts'

export const placeLimits = {
  /** Over all keys: fewer than the sessions that the warehouse has for reports. */
  placesDefault: 4,
  perKeyDefault: 4,
  waitMsMax: 20_000,
  waitingPerKeyMax: 16,
  waitingMax: 256,
} as const

interface PlacesOptions {
  readonly placesMax?: number | undefined
  readonly perKeyMax?: number | undefined
  readonly waitMsMax?: number | undefined
}

interface Waiting {
  readonly keyId: string
  readonly begin: () => void
}

const headers = { 'retry-after': '2' }

const keyIsBusy: Answer = {
  ...refuse('KEY_REPORTS_EXCEEDED', [
    'The key has too many reports running at once; try again in a moment.',
  ]),
  headers,
}

const allAreBusy: Answer = {
  ...refuse('REPORTS_BUSY', ['Too many reports are running at once; try again in a moment.']),
  headers,
}

export class ReportPlaces {
  readonly #placesMax: number
  readonly #perKeyMax: number
  readonly #waitMsMax: number
  readonly #runningByKey = new Map<string, number>()
  readonly #questions = new SharedQuestions()
  /** In order of arrival. */
  readonly #waiting: Waiting[] = []
  #runningCount = 0

  constructor({ placesMax, perKeyMax, waitMsMax }: PlacesOptions) {
    this.#placesMax = placesMax ?? placeLimits.placesDefault
    // One place is always out of reach of a single key.
    this.#perKeyMax = Math.min(
      perKeyMax ?? placeLimits.perKeyDefault,
      Math.max(1, this.#placesMax - 1)
    )
    this.#waitMsMax = waitMsMax ?? placeLimits.waitMsMax
  }

  /** Does the work once a place is free; otherwise answers that all places are taken. */
  async run(
    { key, signal }: Pick<Call, 'key' | 'signal'>,
    work: (keyId: string) => Promise<Answer>
  ): Promise<Answer> {
    assert(key !== null, 'a report is for a key')
    const isRunning = await this.#take(key.id, signal)
    if (!isRunning) return this.#countOf(key.id) >= this.#perKeyMax ? keyIsBusy : allAreBusy
    try {
      return await work(key.id)
    } finally {
      this.#giveBack(key.id)
    }
  }

  /**
   * As `run`. Equal questions that a key asks at once are one: people who share it take one place for it and wait for
   * that together. The work is aborted when the last of them has left.
   */
  async runShared(
    { key, signal }: Pick<Call, 'key' | 'signal'>,
    question: readonly unknown[],
    work: (asker: { readonly keyId: string; readonly signal: AbortSignal }) => Promise<Answer>
  ): Promise<Answer> {
    assert(key !== null, 'a report is for a key')
    const asked = { question: JSON.stringify([key.id, ...question]), signal }
    return await this.#questions.ask(asked, async (controller) => {
      const shared = controller.signal
      return await this.run({ key, signal: shared }, (keyId) => work({ keyId, signal: shared }))
    })
  }

  async #take(keyId: string, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted()
    if (this.#mayBegin(keyId)) {
      this.#begin(keyId)
      return true
    }
    const ownCount = this.#waiting.filter((one) => one.keyId === keyId).length
    const isFull = this.#waiting.length >= placeLimits.waitingMax
    if (isFull || ownCount >= placeLimits.waitingPerKeyMax) return false
    return await this.#wait(keyId, signal)
  }

  async #wait(keyId: string, signal: AbortSignal): Promise<boolean> {
    return await new Promise((resolve, reject) => {
      const stopWaiting = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', leave)
        const index = this.#waiting.indexOf(one)
        if (index !== -1) this.#waiting.splice(index, 1)
      }
      const leave = (): void => {
        stopWaiting()
        reject(new Error('the caller has gone'))
      }
      const timer = setTimeout(() => {
        stopWaiting()
        resolve(false)
      }, this.#waitMsMax)
      const begin = (): void => {
        stopWaiting()
        this.#begin(keyId)
        resolve(true)
      }
      const one: Waiting = { keyId, begin }
      this.#waiting.push(one)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  #mayBegin(keyId: string): boolean {
    return this.#runningCount < this.#placesMax && this.#countOf(keyId) < this.#perKeyMax
  }

  #begin(keyId: string): void {
    this.#runningCount += 1
    this.#runningByKey.set(keyId, this.#countOf(keyId) + 1)
  }

  /** The place goes to the key that has the fewest, and of equal ones to who waits longest. */
  #giveBack(keyId: string): void {
    this.#runningCount -= 1
    const rest = this.#countOf(keyId) - 1
    if (rest > 0) this.#runningByKey.set(keyId, rest)
    else this.#runningByKey.delete(keyId)
    const [next] = this.#waiting
      .filter((one) => this.#mayBegin(one.keyId))
      .toSorted((one, other) => this.#countOf(one.keyId) - this.#countOf(other.keyId))
    next?.begin()
  }

  #countOf(keyId: string): number {
    return this.#runningByKey.get(keyId) ?? 0
  }
}
