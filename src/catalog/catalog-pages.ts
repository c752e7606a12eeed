// Pages of the entries of a snapshot, in the order of their ids.
import type { PageKind } from '../contract/catalog-pages.ts'
import { parsePositiveInt32 } from '../domain/ids.ts'
import type { CatalogSnapshot } from './snapshot.ts'

interface PageQuestion {
  readonly kind: PageKind
  /** The page begins after this id; null for the first page. */
  readonly after: string | null
  readonly limit: number
}

export interface EntryPage {
  readonly entries: readonly object[]
  /** Null on the last page. */
  readonly next: string | null
}

type Entries = ReadonlyMap<number, object> | ReadonlyMap<string, object>

/** Sorts a kind again only if it has changed: snapshots share the kinds that stayed the same. */
export class CatalogPages {
  readonly #sorted = new WeakMap<Entries, readonly Sorted[]>()

  /** Null if `after` is not an id of the kind. The entry itself need not exist. */
  read(snapshot: CatalogSnapshot, { kind, after, limit }: PageQuestion): EntryPage | null {
    const rank = after === null ? '' : rankOf(kind, after)
    if (rank === null) return null
    const sorted = this.#sort(snapshot[entriesOfKind[kind]], kind)
    const start = firstAbove(sorted, rank)
    const page = sorted.slice(start, start + limit)
    const isLast = start + limit >= sorted.length
    return {
      entries: page.map(({ entry }) => entry),
      next: isLast ? null : (page.at(-1)?.id ?? null),
    }
  }

  #sort(entries: Entries, kind: PageKind): readonly Sorted[] {
    const known = this.#sorted.get(entries)
    if (known !== undefined) return known
    const sorted = [...entries]
      .map(([key, entry]) => ({ id: String(key), rank: rankOf(kind, String(key)) ?? '', entry }))
      .toSorted((one, other) => compareText(one.rank, other.rank))
    this.#sorted.set(entries, sorted)
    return sorted
  }
}

interface Sorted {
  readonly id: string
  /** A text that sorts like the ids. */
  readonly rank: string
  readonly entry: object
}

const entriesOfKind = {
  markets: 'markets',
  publishers: 'publishers',
  advertisers: 'advertisers',
  campaigns: 'campaigns',
  'ad-groups': 'adGroups',
  'creative-sizes': 'creativeSizes',
  assets: 'assets',
  assignments: 'assignments',
} as const satisfies Record<PageKind, keyof CatalogSnapshot>

const uuidForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Null if the text is not an id of the kind. */
function rankOf(kind: PageKind, id: string): string | null {
  if (kind === 'assets') return uuidForm.test(id) ? id.toLowerCase() : null
  const parts = id.split('/')
  if (parts.length !== (kind === 'assignments' ? 2 : 1)) return null
  const ranks = parts.map((part) => {
    const number = parsePositiveInt32(part)
    return number === null ? null : String(number).padStart(10, '0')
  })
  return ranks.includes(null) ? null : ranks.join('/')
}

/** The first position with a greater rank. A binary search, since a kind may have millions of entries. */
function firstAbove(sorted: readonly Sorted[], rank: string): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareText(sorted[middle]?.rank ?? '', rank) > 0) high = middle
    else low = middle + 1
  }
  return low
}

/** By code unit, so the same on every machine, whatever its locale. */
function compareText(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}
