import type { Clock } from '../lib/clock.ts'
import type { AdEventVerdict } from '../domain/windows.ts'
import type { AdEventRecord } from '../spool/record.ts'
import { RepeatTable, createRepeatWords, writeRepeatWords } from './repeat-table.ts'

export const limits = {
  keepMs: 60_000,
  entriesMax: 100_000,
} as const

/** Half of the entries fill three quarters of 65,536 places; a generation takes 1.8 MB. */
const slots = 65_536
const kinds = { impression: 0, click: 1, load: 2 } as const
const verdicts = { counted: 0, expired: 1, early: 2, prefetch: 3, bot: 4 } as const
const verdictsMax = 8

/** No day of any time zone begins inside a quarter of an hour. */
const quarterHourMs = 900_000

/**
 * Remembers which events were stored a short while ago, in two generations of half the size. When the young
 * one is full or half the time old, it becomes the old one, whose entries are dropped all at once. So an
 * entry is kept for 30 to 60 seconds, and nothing is ever searched or sorted.
 *
 * Two events are the same if they have kind, token and verdict in common: the warehouse keeps the earliest
 * of them. So an event that does not count never hides one that does, and repeats stay repeats whatever
 * their user agents, also for an expired link. Events that do not count are shown on the day of their
 * receipt, so on a new day they are other events.
 */
export class RepeatCache {
  readonly #clock: Clock
  #young = new RepeatTable(slots)
  #old = new RepeatTable(slots)
  #turnedAtMs: number
  readonly #words = createRepeatWords()

  constructor(clock: Clock) {
    this.#clock = clock
    this.#turnedAtMs = clock()
  }

  has(event: AdEventRecord, verdict: AdEventVerdict): boolean {
    this.#turn()
    this.#read(event, verdict)
    return this.#young.has(this.#words) || this.#old.has(this.#words)
  }

  add(event: AdEventRecord, verdict: AdEventVerdict): void {
    this.#turn()
    this.#read(event, verdict)
    this.#young.add(this.#words)
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  #read({ kind, trackingData, receivedAtMs }: AdEventRecord, verdict: AdEventVerdict): void {
    const period = verdict === 'counted' ? 0 : Math.floor(receivedAtMs / quarterHourMs)
    writeRepeatWords(this.#words, {
      token: trackingData,
      kind: kinds[kind],
      outcome: period * verdictsMax + verdicts[verdict],
    })
  }

  #turn(): void {
    const nowMs = this.#clock()
    const ageMs = nowMs - this.#turnedAtMs
    const isYoung = ageMs >= 0 && ageMs < limits.keepMs / 2
    if (isYoung && this.#young.size < limits.entriesMax / 2) return
    // A clock that steps back says nothing about age, so nothing is known to be recent.
    if (ageMs < 0 || ageMs >= limits.keepMs) this.#young.clear()
    const oldest = this.#old
    oldest.clear()
    this.#old = this.#young
    this.#young = oldest
    this.#turnedAtMs = nowMs
  }
}
