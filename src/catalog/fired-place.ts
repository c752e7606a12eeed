import { createHash } from 'node:crypto'
import type { FiredPlace } from '../domain/ad-event-verdict.ts'
import { findSite, type CatalogSnapshot } from './snapshot.ts'

const unknownPlace: FiredPlace = { siteType: null, firesFromBackend: false }

/** What decides about the events of a site's ads, beside the events themselves. */
export function firedPlace(
  { publishers }: Pick<CatalogSnapshot, 'publishers'>,
  publisherId: number,
  siteId: number
): FiredPlace {
  const publisher = publishers.get(publisherId)
  if (publisher === undefined) return unknownPlace
  const { firesFromBackend = false } = publisher
  return { siteType: findSite(publisher, siteId)?.type ?? null, firesFromBackend }
}

/** How long repeats may still be taken for what they were under the catalog of before. */
const watchPauseMs = 100

interface Snapshots {
  current(): Pick<CatalogSnapshot, 'publishers'>
}

/**
 * Calls back when `firedPlace` may answer otherwise than before. Also at once, since the catalog may have changed
 * while nobody watched.
 */
export function watchFiredPlaces(catalog: Snapshots, onChange: () => void): { stop(): void } {
  let { publishers } = catalog.current()
  let version = versionOf(publishers)
  onChange()
  const timer = setInterval(() => {
    const now = catalog.current().publishers
    if (now === publishers) return
    publishers = now
    const versionNow = versionOf(publishers)
    if (versionNow === version) return
    version = versionNow
    onChange()
  }, watchPauseMs)
  return { stop: () => clearInterval(timer) }
}

/** Differs whenever `firedPlace` may answer differently. */
function versionOf(publishers: CatalogSnapshot['publishers']): string {
  const hash = createHash('sha256')
  for (const [id, { firesFromBackend = false, sites = [] }] of publishers) {
    hash.update(JSON.stringify([id, firesFromBackend, sites.map((site) => [site.id, site.type])]))
  }
  return hash.digest('base64url')
}
