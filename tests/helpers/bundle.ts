import type { CatalogBundle } from '../../src/contract/catalog-bundle.ts'

type Asset = NonNullable<CatalogBundle['assets']>[number]
type Publisher = NonNullable<CatalogBundle['publishers']>[number]
type Site = NonNullable<Publisher['sites']>[number]

/** A picture that fits the creative size of the bundle. */
export function anAsset(changes: Partial<Asset> = {}): Asset {
  return {
    id: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
    advertiserId: 1,
    fileName: 'banner.png',
    url: 'https://cdn.example/banner.png',
    width: 728,
    height: 90,
    type: 'IMAGE',
    ...changes,
  }
}

/** A site with one place for pictures. */
export function aSite(changes: Partial<Site> = {}): Site {
  return {
    id: 101,
    name: 'Desktop',
    type: 'DESKTOP',
    marketIds: [1],
    locations: [{ type: 'DISPLAY', location: 'HOME_PAGE', adGroupTypes: ['DISPLAY'] }],
    ...changes,
  }
}

/** One entry of each kind, under the ids of `placement`, and a second ad group that shows assets. */
export function aBundle() {
  return {
    markets: [{ id: 1, code: 'DE', currency: 'EUR', timeZone: 'Europe/Berlin' }],
    publishers: [{ id: 10, name: 'Example Shop', sites: [aSite()] }],
    advertisers: [{ id: 1, name: 'Acme', access: [{ publisherId: 10, marketIds: [1] }] }],
    campaigns: [{ id: 1001, advertiserId: 1, name: 'Spring' }],
    adGroups: [
      { id: 5001, campaignId: 1001, name: 'Coffee', type: 'SPA' },
      { id: 5003, campaignId: 1001, name: 'Banners', type: 'DISPLAY' },
    ],
    products: [{ marketId: 1, gtin: '4006381333931', title: 'Ground coffee', brand: 'Acme' }],
    creativeSizes: [{ id: 1, name: 'Leaderboard', width: 728, height: 90 }],
    assets: [anAsset()],
  } satisfies CatalogBundle
}
