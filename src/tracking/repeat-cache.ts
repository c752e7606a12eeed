import type { Clock } from '../lib/clock.ts'
import { callers, type Caller } from '../domain/caller.ts'
import type { EventVerdict } from '../domain/windows.ts'
import type { AdEventRecord } from '../spool/record.ts'
import { RepeatTable, createRepeatWords, writeRepeatWords } from './repeat-table.ts'

export const limits = {
  keepMs: 60_000,
  entriesMax: 100_000,
} as const

/** Half of the entries fill three quarters of 65,536 places; a generation takes 1.8 MB. */
const slots = 65_536
const kinds = { impression: 0, click: 1, load: 2 } as const
const ages = { counted: 0, expired: 1, early: 2 } as const
const callerNumbers = new Map(callers.map((caller, index) => [caller, index]))
/** A caller, whether its network is a data centre's, whether it prefetches, and the age. */
const factsMax = callers.length * 12

/** No day of any time zone begins inside a quarter of an hour. */
const quarterHourMs = 900_000

/** An event as the tracker read it. */
export type ReadEvent = AdEventRecord & { readonly caller: Caller }

/**
 * Remembers which events were stored a short while ago, in two generations of half the size. When the young
 * one is full or half the time old, it becomes the old one, whose entries are dropped all at once. So an
 * entry is kept for 30 to 60 seconds, and nothing is ever searched or sorted.
 *
 * Two events are the same if they have in common the kind, the token and everything on which the verdict
 * depends, apart from the catalog: so they have one verdict, and the warehouse keeps the earliest of them. An
 * event that does not count never hides one that does, and repeats stay repeats whatever their user agents,
 * also for an expired link. When the catalog changes so that verdicts may differ, `forget` is called. Events
 * that do not count are shown on the day of their receipt, so on a new day they are other events.
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

  has(event: ReadEvent, age: EventVerdict): boolean {
    this.#turn()
    this.#read(event, age)
    return this.#young.has(this.#words) || this.#old.has(this.#words)
  }

  add(event: ReadEvent, age: EventVerdict): void {
    this.#turn()
    this.#read(event, age)
    this.#young.add(this.#words)
  }

  forget(): void {
    this.#young.clear()
    this.#old.clear()
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  #read(event: ReadEvent, age: EventVerdict): void {
    const facts = factsOf(event, age)
    const period = facts === 0 ? 0 : Math.floor(event.receivedAtMs / quarterHourMs)
    writeRepeatWords(this.#words, {
      token: event.trackingData,
      kind: kinds[event.kind],
      outcome: period * factsMax + facts,
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

/** 0 for an event that counts whatever the catalog says: that of an ordinary caller, in time. */
function factsOf({ caller, dataCentreList, isPrefetch }: ReadEvent, age: EventVerdict): number {
  const ofCaller = (callerNumbers.get(caller) ?? 0) * 2 + (dataCentreList === undefined ? 0 : 1)
  return (ofCaller * 2 + (isPrefetch ? 1 : 0)) * 3 + ages[age]
}
