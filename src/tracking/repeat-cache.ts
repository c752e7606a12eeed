import type { Clock } from '../lib/clock.ts'

export const limits = {
  keepMs: 60_000,
  entriesMax: 100_000,
  /** A longer key, from a user agent of unusual length, is not kept: 100,000 must stay small. */
  keyLengthMax: 400,
} as const

/**
 * Remembers what was stored a short while ago. Two generations of half the size: when the young one
 * is full or half the time old it becomes the old one, whose entries go all at once, so an entry is
 * kept for 30 to 60 seconds and nothing is ever searched or sorted.
 */
export class RepeatCache {
  readonly #clock: Clock
  #young = new Set<string>()
  #old = new Set<string>()
  #turnedAtMs: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#turnedAtMs = clock()
  }

  has(key: string): boolean {
    this.#turn()
    return this.#young.has(key) || this.#old.has(key)
  }

  add(key: string): void {
    if (key.length > limits.keyLengthMax) return
    this.#turn()
    this.#young.add(key)
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  #turn(): void {
    const ageMs = this.#clock() - this.#turnedAtMs
    // A clock that steps back proves nothing about age: then nothing is known to be recent.
    if (ageMs >= limits.keepMs || ageMs < 0) this.#young = new Set()
    else if (ageMs < limits.keepMs / 2 && this.#young.size < limits.entriesMax / 2) return
    this.#old = this.#young
    this.#young = new Set()
    this.#turnedAtMs = this.#clock()
  }
}
