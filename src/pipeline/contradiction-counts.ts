const pairsMax = 1_000

export interface ContradictionCount {
  /** An id, or `other` for publishers beyond the bound. */
  readonly publisher: string
  readonly rule: string
  readonly count: number
}

/**
 * Counts, since the start, ad events that contradict the catalog. Ids of publishers come from tokens, so the number
 * of counters is bounded.
 */
export class ContradictionCounts {
  readonly #counts = new Map<string, ContradictionCount>()

  add({ publisherId, rule }: { readonly publisherId: number; readonly rule: string }): void {
    const own = `${publisherId} ${rule}`
    const isOwn = this.#counts.has(own) || this.#counts.size < pairsMax
    const publisher = isOwn ? String(publisherId) : 'other'
    const key = isOwn ? own : `other ${rule}`
    const count = (this.#counts.get(key)?.count ?? 0) + 1
    this.#counts.set(key, { publisher, rule, count })
  }

  read(): readonly ContradictionCount[] {
    return [...this.#counts.values()]
  }
}
