import type { Clock } from '../lib/clock.ts'
import type { AdEventRecord } from '../spool/record.ts'

export const limits = {
  keepMs: 60_000,
  entriesMax: 100_000,
  /** Real traffic has a few thousand; 512 characters each is half a megabyte. */
  userAgentsMax: 1_000,
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
  readonly #userAgentIds = new Map<string, number>()
  #nextUserAgentId = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.#turnedAtMs = clock()
  }

  /**
   * All that the verdict on an event hangs on: a bot's event must not stand in for that of a person
   * who follows. Of the token its head (version, key id) and its 16-byte tag are enough: only a
   * holder of the same key could make two tokens with the same tag.
   */
  keyOf({ kind, isPrefetch, trackingData, userAgent }: AdEventRecord): string {
    const token = trackingData.slice(0, 7) + trackingData.slice(-22)
    return `${kind.slice(0, 1)}${isPrefetch ? 'p' : '-'}${token}${this.#userAgentId(userAgent)}`
  }

  has(key: string): boolean {
    this.#turn()
    return this.#young.has(key) || this.#old.has(key)
  }

  add(key: string): void {
    this.#turn()
    this.#young.add(copyOf(key))
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  /** A number is never given out twice, so that a forgotten user agent only loses its repeats. */
  #userAgentId(userAgent: string): number {
    const known = this.#userAgentIds.get(userAgent)
    if (known !== undefined) return known
    if (this.#userAgentIds.size >= limits.userAgentsMax) this.#userAgentIds.clear()
    const id = this.#nextUserAgentId++
    this.#userAgentIds.set(userAgent, id)
    return id
  }

  #turn(): void {
    const ageMs = this.#clock() - this.#turnedAtMs
    const isYoung = ageMs >= 0 && ageMs < limits.keepMs / 2
    if (isYoung && this.#young.size < limits.entriesMax / 2) return
    // A clock that steps back proves nothing about age: then nothing is known to be recent.
    this.#old = ageMs >= 0 && ageMs < limits.keepMs ? this.#young : new Set()
    this.#young = new Set()
    this.#turnedAtMs = this.#clock()
  }
}

/**
 * V8 cuts and joins strings by reference: a kept key would keep its whole token alive. Measured:
 * 500 bytes an entry against 120.
 */
function copyOf(key: string): string {
  return Buffer.from(key, 'latin1').toString('latin1')
}
