import type { Clock } from '../lib/clock.ts'
import type { AdEventRecord } from '../spool/record.ts'
import { RepeatTable, createRepeatWords, writeRepeatWords } from './repeat-table.ts'

export const limits = {
  keepMs: 60_000,
  entriesMax: 100_000,
  /** Real traffic has a few thousand; 512 characters each is half a megabyte. */
  userAgentsMax: 1_000,
} as const

/** Half of the entries in 65,536 places: three quarters full, 1.8 MB a generation. */
const slots = 65_536
const kinds = { impression: 0, click: 1, load: 2 } as const
const prefetchBit = 4

/**
 * Remembers which events were stored a short while ago. Two generations of half the size: when the
 * young one is full or half the time old it becomes the old one, whose entries go all at once, so an
 * entry is kept for 30 to 60 seconds and nothing is ever searched or sorted.
 *
 * Two events are the same when all that the verdict hangs on is: kind, token, user agent, prefetch. A
 * bot's event must not stand in for that of a person who follows.
 */
export class RepeatCache {
  readonly #clock: Clock
  #young = new RepeatTable(slots)
  #old = new RepeatTable(slots)
  #turnedAtMs: number
  readonly #words = createRepeatWords()
  readonly #userAgentIds = new Map<string, number>()
  #nextUserAgentId = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.#turnedAtMs = clock()
  }

  has(event: AdEventRecord): boolean {
    this.#turn()
    this.#read(event)
    return this.#young.has(this.#words) || this.#old.has(this.#words)
  }

  add(event: AdEventRecord): void {
    this.#turn()
    this.#read(event)
    this.#young.add(this.#words)
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  #read({ kind, isPrefetch, trackingData, userAgent }: AdEventRecord): void {
    writeRepeatWords(this.#words, {
      token: trackingData,
      traits: kinds[kind] + (isPrefetch ? prefetchBit : 0),
      userAgentId: this.#userAgentId(userAgent),
    })
  }

  /** A number is never given out twice, so that a forgotten user agent only loses its repeats. */
  #userAgentId(userAgent: string): number {
    const known = this.#userAgentIds.get(userAgent)
    if (known !== undefined) return known
    if (this.#userAgentIds.size >= limits.userAgentsMax) this.#userAgentIds.clear()
    this.#nextUserAgentId += 1
    this.#userAgentIds.set(userAgent, this.#nextUserAgentId)
    return this.#nextUserAgentId
  }

  #turn(): void {
    const nowMs = this.#clock()
    const ageMs = nowMs - this.#turnedAtMs
    const isYoung = ageMs >= 0 && ageMs < limits.keepMs / 2
    if (isYoung && this.#young.size < limits.entriesMax / 2) return
    // A clock that steps back proves nothing about age: then nothing is known to be recent.
    if (ageMs < 0 || ageMs >= limits.keepMs) this.#young.clear()
    const oldest = this.#old
    oldest.clear()
    this.#old = this.#young
    this.#young = oldest
    this.#turnedAtMs = nowMs
  }
}
