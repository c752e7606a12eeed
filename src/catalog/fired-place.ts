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

type Deciding = Pick<
  CatalogSnapshot,
  'publishers' | 'advertisers' | 'campaigns' | 'adGroups' | 'markets'
>

interface Snapshots {
  current(): Deciding
}

/**
 * Calls back when the catalog may decide otherwise about an event than before: by `firedPlace`, or because it
 * contradicts other ads. Also at once, since the catalog may have changed while nobody watched.
 */
export function watchDecisions(catalog: Snapshots, onChange: () => void): { stop(): void } {
  let version = versionOf(catalog.current())
  onChange()
  const timer = setInterval(() => {
    const versionNow = versionOf(catalog.current())
    if (versionNow === version) return
    version = versionNow
    onChange()
  }, watchPauseMs)
  return { stop: () => clearInterval(timer) }
}

/** Snapshots share the kinds that did not change. */
const versionsByEntries = new WeakMap<object, string>()

function versionOf({ publishers, advertisers, campaigns, adGroups, markets }: Deciding): string {
  return [
    versionOfEntries(publishers, ({ firesFromBackend = false, sites = [] }) => [
      firesFromBackend,
      sites.map((site) => [site.id, site.type]),
    ]),
    versionOfEntries(advertisers, ({ access = [] }) => access.map((one) => one.publisherId)),
    versionOfEntries(campaigns, ({ advertiserId }) => advertiserId),
    versionOfEntries(adGroups, ({ campaignId }) => campaignId),
    versionOfEntries(markets, ({ currency, costPerClickMax, costPerMilleMax }) => [
      currency,
      costPerClickMax,
      costPerMilleMax,
    ]),
  ].join(' ')
}

/** Differs whenever what decides in one of the entries differs. */
function versionOfEntries<Entry>(
  entries: ReadonlyMap<number, Entry>,
  decidingPart: (entry: Entry) => unknown
): string {
  const known = versionsByEntries.get(entries)
  if (known !== undefined) return known
  const hash = createHash('sha256')
  for (const [id, entry] of entries) hash.update(JSON.stringify([id, decidingPart(entry)]))
  const version = hash.digest('base64url')
  versionsByEntries.set(entries, version)
  return version
}
