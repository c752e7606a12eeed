// The catalog of all examples, and what is asked and told of it.
import { assetId, gtin, secondGtin } from './example.ts'

export const catalog = {
  markets: [{ id: 1, code: 'DE', currency: 'EUR', timeZone: 'Europe/Berlin' }],
  publishers: [
    {
      id: 10,
      name: 'Example Shop',
      sites: [
        {
          id: 101,
          name: 'Desktop',
          type: 'DESKTOP',
          marketIds: [1],
          locations: [
            {
              type: 'PLATFORM_PRODUCT',
              location: 'SEARCH_PAGE',
              pagePosition: 'MAIN_GRID',
              adGroupTypes: ['SPA'],
            },
            { type: 'DISPLAY', location: 'HOME_PAGE', adGroupTypes: ['DISPLAY'] },
          ],
        },
      ],
    },
  ],
  advertisers: [{ id: 1, name: 'Acme', access: [{ publisherId: 10, marketIds: [1] }] }],
  campaigns: [{ id: 1001, advertiserId: 1, name: 'Spring' }],
  adGroups: [
    { id: 5001, campaignId: 1001, name: 'Hot drinks', type: 'SPA' },
    { id: 5002, campaignId: 1001, name: 'Banners', type: 'DISPLAY' },
  ],
  products: [
    { marketId: 1, gtin, title: 'Coffee beans, 1 kg', brand: 'Acme', groupId: 'COFFEE' },
    { marketId: 1, gtin: secondGtin, title: 'Green tea', brand: 'Acme' },
  ],
  creativeSizes: [{ id: 1, name: 'Leaderboard', width: 728, height: 90 }],
  assets: [
    {
      id: assetId,
      advertiserId: 1,
      fileName: 'spring.png',
      url: 'https://cdn.example/spring.png',
      width: 728,
      height: 90,
      type: 'IMAGE',
      altText: 'Coffee in spring',
    },
  ],
}

const { products, ...entries } = catalog
const market = { id: 1 }
const feed = [
  'gtin\ttitle\tbrand\titem_group_id',
  `${gtin}\tCoffee beans, 1 kg\tAcme\tCOFFEE`,
  `${secondGtin}\tGreen tea\tAcme\t`,
  '',
].join('\n')

export const catalogExamples = {
  putCatalog: {
    query: { dryRun: true },
    body: catalog,
    answers: { 200: { entries: 8, products: 2, dryRun: true } },
  },
  getCatalog: { answers: { 200: entries } },
  listCatalogEntries: {
    path: { kind: 'campaigns' },
    query: { limit: 100 },
    answers: { 200: { entries: catalog.campaigns, next: null } },
  },
  putProducts: {
    path: market,
    query: { dryRun: true, replace: false },
    body: feed,
    answers: { 200: { taken: 2, refused: [], refusedCount: 0, dryRun: true } },
  },
  listProducts: {
    path: market,
    query: { title: 'coffee', limit: 100 },
    answers: { 200: { entries: products.slice(0, 1), next: null } },
  },
}
