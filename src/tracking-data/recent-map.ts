import { assert } from '../lib/assert.ts'

/**
 * A bounded map that forgets entries that were not used lately, in two generations: when the young one is
 * full it becomes the old one, and the previous old one is dropped whole. Unlike a list in order of use,
 * this costs nothing per hit and no deletion per miss.
 */
export class RecentMap<Key, Value> {
  readonly #generationMax: number
  #young = new Map<Key, Value>()
  #old = new Map<Key, Value>()

  constructor(entriesMax: number) {
    assert(Number.isInteger(entriesMax) && entriesMax >= 2, 'the cache holds at least two entries')
    this.#generationMax = Math.floor(entriesMax / 2)
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  get(key: Key): Value | undefined {
    const value = this.#young.get(key)
    if (value !== undefined) return value
    const oldValue = this.#old.get(key)
    if (oldValue === undefined) return undefined
    this.#old.delete(key)
    this.set(key, oldValue)
    return oldValue
  }

  /** The key must not be in the map. */
  set(key: Key, value: Value): void {
    if (this.#young.size === this.#generationMax) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }
}
