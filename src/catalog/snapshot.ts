// The catalog in memory, without the products. A snapshot never changes: each change of the catalog
// makes a new one, which shares the kinds that stayed the same.
import type {
  AdGroupEntry,
  AdvertiserEntry,
  AssetEntry,
  CampaignEntry,
  CatalogBundle,
  CreativeSizeEntry,
  MarketEntry,
  PublisherEntry,
  SiteEntry,
} from '../contract/catalog-bundle.ts'

/** The asset that an ad group advertises in a creative size: the one attached last. */
export interface Assignment {
  readonly adGroupId: number
  readonly creativeSizeId: number
  readonly assetId: string
}

export interface CatalogSnapshot {
  readonly markets: ReadonlyMap<number, MarketEntry>
  /** With their sites and the sites' locations. */
  readonly publishers: ReadonlyMap<number, PublisherEntry>
  /** With their access. */
  readonly advertisers: ReadonlyMap<number, AdvertiserEntry>
  readonly campaigns: ReadonlyMap<number, CampaignEntry>
  readonly adGroups: ReadonlyMap<number, AdGroupEntry>
  readonly creativeSizes: ReadonlyMap<number, CreativeSizeEntry>
  /** By UUID in lower case. */
  readonly assets: ReadonlyMap<string, AssetEntry>
  /** By `assignmentId`. */
  readonly assignments: ReadonlyMap<string, Assignment>
}

export const emptySnapshot: CatalogSnapshot = {
  markets: new Map(),
  publishers: new Map(),
  advertisers: new Map(),
  campaigns: new Map(),
  adGroups: new Map(),
  creativeSizes: new Map(),
  assets: new Map(),
  assignments: new Map(),
}

/** The snapshot with the entries of a bundle (except products) and assignments added or replaced. */
export function extendSnapshot(
  snapshot: CatalogSnapshot,
  bundle: Omit<CatalogBundle, 'products'>,
  assignments: readonly Assignment[] = []
): CatalogSnapshot {
  return {
    markets: extendMap(snapshot.markets, bundle.markets, idOf),
    publishers: extendMap(snapshot.publishers, bundle.publishers, idOf),
    advertisers: extendMap(snapshot.advertisers, bundle.advertisers, idOf),
    campaigns: extendMap(snapshot.campaigns, bundle.campaigns, idOf),
    adGroups: extendMap(snapshot.adGroups, bundle.adGroups, idOf),
    creativeSizes: extendMap(snapshot.creativeSizes, bundle.creativeSizes, idOf),
    assets: extendMap(snapshot.assets, bundle.assets, idOf),
    assignments: extendMap(snapshot.assignments, assignments, assignmentId),
  }
}

/** The entries as a bundle that can be loaded again. */
export function toBundle(snapshot: CatalogSnapshot): CatalogBundle {
  return {
    markets: [...snapshot.markets.values()],
    publishers: [...snapshot.publishers.values()],
    advertisers: [...snapshot.advertisers.values()],
    campaigns: [...snapshot.campaigns.values()],
    adGroups: [...snapshot.adGroups.values()],
    creativeSizes: [...snapshot.creativeSizes.values()],
    assets: [...snapshot.assets.values()],
  }
}

export function assignmentId(assignment: Omit<Assignment, 'assetId'>): string {
  return `${assignment.adGroupId}/${assignment.creativeSizeId}`
}

export function findSite(publisher: PublisherEntry, siteId: number): SiteEntry | undefined {
  return publisher.sites?.find((site) => site.id === siteId)
}

/** Entries are active unless they say otherwise. */
export function isActive(entry: { readonly active?: boolean | undefined }): boolean {
  return entry.active !== false
}

function idOf<Id>(entry: { readonly id: Id }): Id {
  return entry.id
}

function extendMap<Id, Entry>(
  map: ReadonlyMap<Id, Entry>,
  entries: readonly Entry[] | undefined,
  keyOf: (entry: Entry) => Id
): ReadonlyMap<Id, Entry> {
  if (entries === undefined || entries.length === 0) return map
  const extended = new Map(map)
  for (const entry of entries) extended.set(keyOf(entry), entry)
  return extended
}
