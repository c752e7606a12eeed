// Who is believed to report purchases of a publisher. A bundle that says nothing about it changes nothing, so
// that renaming a publisher never opens it to everybody.
import { isDeepStrictEqual } from 'node:util'
import type {
  CatalogBundle,
  PublisherEntry,
  Trust,
  TrustChange,
} from '../contract/catalog-bundle.ts'
import type { CatalogSnapshot } from './snapshot.ts'

/** The bundle with what stands for the publishers of which it says nothing. */
export function keepTrust(bundle: CatalogBundle, { publishers }: CatalogSnapshot): CatalogBundle {
  if (bundle.publishers === undefined) return bundle
  return {
    ...bundle,
    publishers: bundle.publishers.map((entry) => keepTrustOf(entry, publishers.get(entry.id))),
  }
}

function keepTrustOf(entry: PublisherEntry, known: PublisherEntry | undefined): PublisherEntry {
  const { conversionSources = known?.conversionSources, requireKey = known?.requireKey } = entry
  const { firesFromBackend = known?.firesFromBackend } = entry
  return {
    ...entry,
    ...(conversionSources !== undefined && { conversionSources }),
    ...(requireKey !== undefined && { requireKey }),
    ...(firesFromBackend !== undefined && { firesFromBackend }),
  }
}

/** A publisher that is new is compared with one of which nothing was said. */
export function trustChangesOf(
  bundle: CatalogBundle,
  { publishers }: CatalogSnapshot
): readonly TrustChange[] {
  return (bundle.publishers ?? []).flatMap((entry) => {
    const before = trustOf(publishers.get(entry.id))
    const after = trustOf(entry)
    if (isDeepStrictEqual(before, after)) return []
    return [{ publisherId: entry.id, before, after }]
  })
}

function trustOf(entry: PublisherEntry | undefined): Trust {
  return {
    conversionSources: entry?.conversionSources ?? [],
    requireKey: entry?.requireKey ?? null,
  }
}
