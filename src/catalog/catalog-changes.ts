// What a bundle changes in the catalog, for the audit. Bounded, because a record of the audit is kept for
// good and a bundle may have 100,000 entries: what is left out is counted or named.
import { isDeepStrictEqual } from 'node:util'
import type { CatalogBundle } from '../contract/catalog-bundle.ts'
import type { CatalogSnapshot } from './snapshot.ts'

type Fields = Readonly<Record<string, unknown>>

export interface EntryChange {
  /** The list of the bundle that has the entry. */
  readonly kind: ListName
  readonly id: number | string
  /** Of an entry that is new: null. Else the fields that differ, as they were. */
  readonly before: Fields | null
  readonly after: Fields
  /** Fields that differ but are too long to be shown. */
  readonly leftOut?: readonly string[]
}

export interface CatalogChanges {
  readonly changedCount: number
  readonly unchangedCount: number
  /** At most `changesMax` of those that changed, publishers first. */
  readonly changes: readonly EntryChange[]
}

type ListName = Exclude<keyof CatalogBundle, 'products'>

export const changeLimits = {
  /** More than fit into a record of the audit. */
  changesMax: 500,
  /** The JSON text of a field before and after, together. */
  fieldLengthMax: 2_000,
} as const

/** Publishers first: who is believed must not be hidden behind thousands of renamed campaigns. */
const lists = [
  'publishers',
  'markets',
  'advertisers',
  'campaigns',
  'adGroups',
  'creativeSizes',
  'assets',
] as const satisfies readonly ListName[]

export function changesOf(bundle: CatalogBundle, snapshot: CatalogSnapshot): CatalogChanges {
  let changedCount = 0
  let unchangedCount = 0
  const changes: EntryChange[] = []
  for (const kind of lists) {
    const known: ReadonlyMap<number | string, Fields> = new Map<number | string, Fields>(
      snapshot[kind]
    )
    for (const entry of bundle[kind] ?? []) {
      const before = known.get(entry.id)
      if (isDeepStrictEqual(before, entry)) {
        unchangedCount += 1
        continue
      }
      changedCount += 1
      if (changes.length < changeLimits.changesMax) {
        changes.push(changeOf({ kind, id: entry.id, before, after: entry }))
      }
    }
  }
  return { changedCount, unchangedCount, changes }
}

function changeOf(entry: {
  readonly kind: ListName
  readonly id: number | string
  readonly before: Fields | undefined
  readonly after: Fields
}): EntryChange {
  const { kind, id, before, after } = entry
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after)])]
  const differing = names.filter(
    (name) => name !== 'id' && !isDeepStrictEqual(before?.[name], after[name])
  )
  const isLong = (name: string) =>
    lengthOf(before?.[name]) + lengthOf(after[name]) > changeLimits.fieldLengthMax
  const leftOut = differing.filter(isLong)
  const shown = differing.filter((name) => !isLong(name))
  return {
    kind,
    id,
    before: before === undefined ? null : pick(before, shown),
    after: pick(after, shown),
    ...(leftOut.length > 0 && { leftOut }),
  }
}

function pick(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(
    names.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]])
  )
}

function lengthOf(value: unknown): number {
  return value === undefined ? 0 : JSON.stringify(value).length
}
