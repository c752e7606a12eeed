// What advertisers and publishers ask about themselves, and assets.
import { catalog } from './catalog.ts'
import { advertiserPath, assetId } from './example.ts'

const asset = {
  creativeSizeId: 1,
  width: 728,
  height: 90,
  fileName: 'spring.png',
  assetId,
  assetUrl: 'https://cdn.example/spring.png',
  advertised: true,
  altText: 'Coffee in spring',
  type: 'IMAGE',
}

export const campaignExamples = {
  readMe: {
    answers: {
      200: {
        name: 'Example Shop, deliveries',
        signOn: false,
        scopes: ['intake:read', 'delivery:write'],
        advertisers: [],
        publishers: [{ id: 10, name: 'Example Shop' }],
        deliveries: [{ publisherId: 10, judgedAs: 'valid', requiresKey: false, hasSources: false }],
        expiresAt: null,
      },
    },
  },
  readAdvertiserAccount: {
    path: advertiserPath,
    answers: {
      200: {
        id: 1,
        name: 'Acme',
        markets: catalog.markets,
        publishers: [{ id: 10, name: 'Example Shop', marketIds: [1] }],
        campaigns: catalog.campaigns,
        adGroups: catalog.adGroups,
        creativeSizes: catalog.creativeSizes,
        assets: catalog.assets,
        assignments: [{ adGroupId: 5002, creativeSizeId: 1, assetId }],
        isWhole: true,
      },
    },
  },
  addDisplayAdGroupAsset: {
    path: { ...advertiserPath, campaignId: 1001, adGroupId: 5002 },
    body: { creativeSizeId: 1, assetId },
    answers: { 201: asset },
  },
  listEligibleSiteLocations: {
    path: advertiserPath,
    query: { publisherId: 10, marketId: 1, adGroupType: 'SPA' },
    answers: {
      200: [
        {
          site: { id: 101, name: 'Desktop', type: 'DESKTOP' },
          locations: [
            { type: 'PLATFORM_PRODUCT', location: 'SEARCH_PAGE', pagePosition: 'MAIN_GRID' },
          ],
        },
      ],
    },
  },
  readIntake: {
    path: { publisherId: 10 },
    query: { startDate: '2026-03-01', endDate: '2026-03-02' },
    answers: {
      200: {
        publisherId: 10,
        startDate: '2026-03-01',
        endDate: '2026-03-02',
        days: [
          {
            date: '2026-03-02',
            conversions: {
              received: 12,
              counted: 9,
              waiting: 0,
              notCounted: { repeat: 2, 'untrusted-source': 1 },
              withoutShopper: 1,
              lines: { received: 20, notCounted: { 'no-product': 1 } },
              lastReceivedAt: '2026-03-02T11:00:00.000Z',
            },
            loads: { counted: 0, notCounted: {} },
            impressions: {
              counted: 310,
              notCounted: { bot: 4 },
              lastReceivedAt: '2026-03-02T11:02:10.120Z',
            },
            clicks: { counted: 14, notCounted: {}, lastReceivedAt: '2026-03-02T10:58:41.007Z' },
          },
        ],
        unknown: { conversionSites: [{ id: 110, count: 3 }], adSites: [], adMarkets: [] },
        notBelieved: [
          {
            kind: 'conversion',
            reason: 'untrusted-source',
            deliveries: 1,
            values: [{ currency: 'EUR', value: '24.99' }],
            firstReceivedAt: '2026-03-02T09:14:03.512Z',
            lastReceivedAt: '2026-03-02T09:14:03.512Z',
          },
        ],
        lookAlikes: 0,
        lastReceivedAt: '2026-03-02T11:02:10.120Z',
      },
    },
  },
}
