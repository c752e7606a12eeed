// What a report has to know of its days before it reads a row: which are sealed, and what has touched them since. The
// seals and the spans of the last questions are kept with the sum of their revisions. A list is used again only if the
// warehouse says, after the report began, that it has this sum now.

import type { ReportMarket } from '../catalog/catalog-names.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { readBoundsAndSums } from './day-bounds.ts'
import type { Bounds, RevisionSums } from './day-bounds.ts'
import type { DayRange } from './market-days.ts'
import { readSpanList } from './sealed-spans.ts'
import type { StoredSpan } from './sealed-spans.ts'
import { judgeSeals, readSealList } from './seals.ts'
import type { LatestSeal, ListedSeal } from './seals.ts'
import { readTouchedDays } from './touched-days.ts'
import type { TouchedDay } from './touched-days.ts'

export const factLimits = {
  /** Lists that are kept, each of one range of days. */
  listsMax: 16,
  /** A longer list is read each time: 100 markets over half a year. */
  rowsPerListMax: 20_000,
} as const

/** The lists of a range of days, as they were read. */
export interface DayLists {
  readonly range: DayRange
  readonly seals: readonly ListedSeal[]
  readonly spans: readonly StoredSpan[]
  readonly sums: RevisionSums
}

export interface Facts {
  readonly bounds: Bounds
  readonly latest: readonly LatestSeal[]
  readonly touched: readonly TouchedDay[]
  readonly lists: DayLists
}

export class DayFacts {
  readonly #warehouse: Pick<Warehouse, 'rows'>
  /** By range, the one that was used last at the end. */
  readonly #kept = new Map<string, DayLists>()

  constructor(warehouse: Pick<Warehouse, 'rows'>) {
    this.#warehouse = warehouse
  }

  /**
   * The seals are never newer than the touched days: a day is torn or renewed as compared with the revisions that the
   * report then reads. With a kept list, spans are read while the warehouse is asked for its sum. If that is the same,
   * the seals have been what the list says since before the spans were read.
   */
  async read(markets: readonly ReportMarket[], range: DayRange): Promise<Facts> {
    const kept = this.#take(range)
    if (kept !== null) {
      const latest = judgeSeals(kept.seals, markets)
      const [{ bounds, sums }, touched] = await Promise.all([
        readBoundsAndSums(this.#warehouse, markets, range),
        readTouchedDays(this.#warehouse, { markets, seals: latest, ...range }),
      ])
      if (areSame(kept.sums, sums)) {
        this.#keep(kept)
        return { bounds, latest, touched, lists: kept }
      }
    }
    const [{ bounds }, list, { spans, revisionSum }] = await Promise.all([
      readBoundsAndSums(this.#warehouse, markets, range),
      readSealList(this.#warehouse, range),
      readSpanList(this.#warehouse, range),
    ])
    const sums = { seals: list.revisionSum, spans: revisionSum }
    const lists = { range, seals: list.seals, spans, sums }
    const latest = judgeSeals(list.seals, markets)
    const touched = await readTouchedDays(this.#warehouse, { markets, seals: latest, ...range })
    this.#keep(lists)
    return { bounds, latest, touched, lists }
  }

  #take(range: DayRange): DayLists | null {
    const key = keyOf(range)
    const kept = this.#kept.get(key) ?? null
    this.#kept.delete(key)
    return kept
  }

  #keep(lists: DayLists): void {
    if (lists.seals.length + lists.spans.length > factLimits.rowsPerListMax) return
    this.#kept.set(keyOf(lists.range), lists)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > factLimits.listsMax && oldest !== undefined) this.#kept.delete(oldest)
  }
}

function keyOf({ first, last }: DayRange): string {
  return `${first} ${last}`
}

export function areSame(one: RevisionSums, other: RevisionSums): boolean {
  return one.seals === other.seals && one.spans === other.spans
}
