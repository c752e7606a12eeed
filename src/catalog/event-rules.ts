import type { FiredPlace } from '../domain/ad-event-verdict.ts'
import { contradictionsOf, type Contradiction, type PricedAd } from './contradictions.ts'
import { firedPlace } from './fired-place.ts'
import type { CatalogStore } from './catalog-store.ts'

/** What the catalog of now decides about ad events. */
export interface EventRules {
  placeOf(this: void, publisherId: number, siteId: number): FiredPlace
  /** What speaks against the ad. */
  contradictionsOf(this: void, ad: PricedAd): readonly Contradiction[]
  /** Afterwards the catalog is that of all nodes. */
  refreshCatalog(this: void): Promise<void>
}

export function createEventRules(catalog: Pick<CatalogStore, 'current' | 'refresh'>): EventRules {
  return {
    placeOf: (publisherId, siteId) => firedPlace(catalog.current(), publisherId, siteId),
    contradictionsOf: (ad) => contradictionsOf(ad, catalog.current()),
    refreshCatalog: () => catalog.refresh(),
  }
}
