/** A small seeded generator (mulberry32): the same seed plays the same shoppers on every machine. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 up to, never including, 1. */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  /** A whole number between the two, both included. */
  between(least: number, greatest: number): number {
    return least + Math.floor(this.fraction() * (greatest - least + 1))
  }

  chance(probability: number): boolean {
    return this.fraction() < probability
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.between(0, items.length - 1)]
    if (item === undefined) throw new Error('nothing to pick from')
    return item
  }

  /** Some different items, in random order; all of them when there are fewer. */
  sample<T>(items: readonly T[], count: number): T[] {
    const rest = [...items]
    const taken: T[] = []
    while (taken.length < count && rest.length > 0) {
      taken.push(...rest.splice(this.between(0, rest.length - 1), 1))
    }
    return taken
  }
}
