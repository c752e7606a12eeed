// What a report has to know of its days before it reads a row: which are sealed, and what has touched them since. The
// seals and the spans of the last questions are kept with the sum of their revisions. A list is used again only if the
// warehouse says, after the report began, that it has this sum now.

import type { ReportMarket } from '../catalog/catalog-names.ts'
import { NextRead } from '../lib/next-read.ts'
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

const listReads = ['sealed_day', 'sealed_span', 'final_before'] as const
/** What a report reads of its days once it knows their seals. */
const rowReads = [
  'product_day',
  'product_span',
  'touched_span',
  'ad_event',
  'attribution',
  'rate',
  'product',
] as const

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
  /** The seals of all days before this one are among them; null if no day is final. */
  readonly finalBefore: string | null
}

export interface Facts {
  readonly bounds: Bounds
  readonly latest: readonly LatestSeal[]
  readonly touched: readonly TouchedDay[]
  readonly lists: DayLists
}

export class DayFacts {
  readonly #warehouse: Pick<Warehouse, 'rows' | 'barrier'>
  /** By range, the one that was used last at the end. */
  readonly #kept = new Map<string, DayLists>()
  readonly #reads = new NextRead<Facts>()

  constructor(warehouse: Pick<Warehouse, 'rows' | 'barrier'>) {
    this.#warehouse = warehouse
  }

  /** As they are after this was called. */
  async read(markets: readonly ReportMarket[], range: DayRange): Promise<Facts> {
    const key = JSON.stringify([range, markets])
    return await this.#reads.ask(key, () => this.#readNow(markets, range))
  }

  /**
   * The seals are never newer than the touched days: a day is torn or renewed as compared with the revisions that the
   * report then reads. With a kept list, spans are read while the warehouse is asked for its sum. If that is the same,
   * the seals have been what the list says since before the spans were read.
   *
   * What is written first is read last, each after a barrier of its own: a day is final only once it is sealed, and a
   * seal is written after its rows and after what it has seen of events and spans. So no final day is without its seal,
   * and no seal is without its rows.
   */
  async #readNow(markets: readonly ReportMarket[], range: DayRange): Promise<Facts> {
    await this.#warehouse.barrier([...listReads, ...rowReads])
    const kept = this.#take(range)
    if (kept !== null) {
      const latest = judgeSeals(kept.seals, markets)
      const [{ bounds, sums }, touched] = await Promise.all([
        readBoundsAndSums(this.#warehouse, markets, range),
        readTouchedDays(this.#warehouse, { markets, seals: latest, ...range }),
      ])
      if (areSame(kept.sums, sums) && kept.finalBefore === bounds.finalBefore) {
        this.#keep(kept)
        return { bounds, latest, touched, lists: kept }
      }
    }
    const { bounds } = await readBoundsAndSums(this.#warehouse, markets, range)
    await this.#warehouse.barrier(listReads)
    const [list, { spans, revisionSum }] = await Promise.all([
      readSealList(this.#warehouse, range),
      readSpanList(this.#warehouse, range),
    ])
    const sums = { seals: list.revisionSum, spans: revisionSum }
    const { finalBefore } = bounds
    const lists = { range, seals: list.seals, spans, sums, finalBefore }
    const latest = judgeSeals(list.seals, markets)
    await this.#warehouse.barrier(rowReads)
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
