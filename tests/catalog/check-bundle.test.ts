import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkBundle, faultsMax } from '../../src/catalog/check-bundle.ts'
import { emptySnapshot, extendSnapshot } from '../../src/catalog/snapshot.ts'
import type { CatalogBundle } from '../../src/contract/catalog-bundle.ts'

const assetId = '3f2504e0-4f89-41d3-9a0c-0305e82c3301'
const anAsset = {
  id: assetId,
  advertiserId: 1,
  fileName: 'a.png',
  url: 'https://cdn.example/a.png',
  width: 1,
  height: 1,
  type: 'IMAGE',
} as const

const known: CatalogBundle = {
  markets: [{ id: 1, code: 'DE', currency: 'EUR', timeZone: 'Europe/Berlin' }],
  publishers: [
    { id: 10, name: 'Shop', sites: [{ id: 101, name: 'D', type: 'DESKTOP', marketIds: [1] }] },
  ],
  advertisers: [
    { id: 1, name: 'Acme' },
    { id: 2, name: 'Rival' },
  ],
  campaigns: [
    { id: 1001, advertiserId: 1, name: 'Spring' },
    { id: 1002, advertiserId: 1, name: 'Autumn' },
  ],
  adGroups: [{ id: 5001, campaignId: 1001, name: 'Coffee', type: 'SPA' }],
  creativeSizes: [{ id: 1, name: 'Size', width: 1, height: 1 }],
  assets: [anAsset],
}
const snapshot = extendSnapshot(emptySnapshot, known)
const noEvents = () => Promise.resolve(new Set<number>())

const aMarket = { id: 7, code: 'SE', currency: 'SEK', timeZone: 'Europe/Stockholm' }
const aSite = { id: 1, name: 'S', type: 'DESKTOP', marketIds: [1] } as const

const faults: readonly (readonly [name: string, bundle: CatalogBundle, messages: string[]])[] = [
  [
    'an unknown advertiser',
    { campaigns: [{ id: 1, advertiserId: 99, name: 'x' }] },
    ['/campaigns/0/advertiserId 99 is no known advertiser'],
  ],
  [
    'an unknown campaign',
    { adGroups: [{ id: 1, campaignId: 99, name: 'x', type: 'SPA' }] },
    ['/adGroups/0/campaignId 99 is no known campaign'],
  ],
  [
    'an unknown market of a product',
    { products: [{ marketId: 99, gtin: '1', title: 'x' }] },
    ['/products/0/marketId 99 is no known market'],
  ],
  [
    'a blank product number',
    { products: [{ marketId: 1, gtin: '  ', title: 'x' }] },
    ['/products/0/gtin must not be blank'],
  ],
  [
    'codes that a spreadsheet has spoiled',
    {
      products: [
        { marketId: 1, gtin: '#N/A', title: 'x', groupId: '#\u00a1REF!' },
        { marketId: 1, gtin: ' 4.00638E+12', title: 'x', groupId: '4E+12' },
        { marketId: 1, gtin: 'NULL', title: 'x', groupId: 'g' },
      ],
    },
    [
      '/products/0/gtin must be a code: a spreadsheet has written an error',
      '/products/0/groupId must be a code: a spreadsheet has written an error',
      '/products/1/gtin must be written out: a spreadsheet has rounded it',
      '/products/1/groupId must be written out: a spreadsheet has rounded it',
      '/products/2/gtin must be a code: it is a placeholder',
    ],
  ],
  [
    'a product without a visible title',
    { products: [{ marketId: 1, gtin: '1', title: ' \u00A0' }] },
    ['/products/0/title must not be blank'],
  ],
  [
    'a market that reports could not tell from another',
    {
      markets: [
        { ...aMarket, code: 'de' },
        { ...aMarket, id: 8, code: '1' },
        { ...aMarket, id: 9, code: ' ' },
        { ...aMarket, id: 10, code: 'NO' },
        { ...aMarket, id: 11, code: 'no' },
        { ...aMarket, id: 12, code: '12' },
      ],
    },
    [
      '/markets/0/code must not be the code or the id of market 1',
      '/markets/1/code must not be the code or the id of market 1',
      '/markets/2/code must not be blank',
      '/markets/3/code must not be the code or the id of market 11',
      '/markets/4/code must not be the code or the id of market 10',
    ],
  ],
  [
    'an unknown market of a site',
    { publishers: [{ id: 10, name: 'x', sites: [{ ...aSite, marketIds: [1, 99] }] }] },
    ['/publishers/0/sites/0/marketIds/1 99 is no known market'],
  ],
  [
    'unknown publisher, market and site of an access',
    {
      advertisers: [
        {
          id: 1,
          name: 'x',
          access: [
            { publisherId: 99, marketIds: [98], siteIds: [97] },
            { publisherId: 10, marketIds: [1], siteIds: [101, 102] },
          ],
        },
      ],
    },
    [
      '/advertisers/0/access/0/publisherId 99 is no known publisher',
      '/advertisers/0/access/0/marketIds/0 98 is no known market',
      '/advertisers/0/access/1/siteIds/1 102 is no known site of publisher 10',
    ],
  ],
  [
    'an unknown advertiser of an asset',
    { assets: [{ ...anAsset, id: assetId.replace('3', '4'), advertiserId: 99 }] },
    ['/assets/0/advertiserId 99 is no known advertiser'],
  ],
  [
    'a currency that is withdrawn and a zone that is none',
    { markets: [{ ...aMarket, currency: 'HRK', timeZone: 'Europe/Berlim' }] },
    [
      '/markets/0/currency must be an active ISO 4217 currency code',
      '/markets/0/timeZone must be an IANA time zone such as Europe/Berlin',
    ],
  ],
  [
    'sources that are no ranges',
    {
      publishers: [
        {
          id: 1,
          name: 'x',
          conversionSources: ['203.0.113.0/24', '10.0.0.0/33', '2001:db8::/32', 'shop.example'],
        },
      ],
    },
    [
      '/publishers/0/conversionSources/1 must be a CIDR range or an IP address',
      '/publishers/0/conversionSources/3 must be a CIDR range or an IP address',
    ],
  ],
  [
    'a landing host that is none or that everybody has',
    {
      publishers: [
        { id: 1, name: 'x', landingHosts: ['shop.example', 'https://shop.example', '*.example'] },
      ],
    },
    [
      '/publishers/0/landingHosts/1 must be a host without scheme, port and path, such as shop.example, or *.shop.example for its subdomains',
      '/publishers/0/landingHosts/2 must have two labels or more behind *., since anybody can have a host below one',
    ],
  ],
  [
    'a campaign that changes its advertiser',
    { campaigns: [{ id: 1001, advertiserId: 2, name: 'Spring' }] },
    ['/campaigns/0/advertiserId must stay 1: it never changes'],
  ],
  [
    'an ad group that changes its campaign',
    { adGroups: [{ id: 5001, campaignId: 1002, name: 'x', type: 'SPA' }] },
    ['/adGroups/0/campaignId must stay 1001: it never changes'],
  ],
  [
    'an asset that changes hands',
    { assets: [{ ...anAsset, advertiserId: 2 }] },
    ['/assets/0/advertiserId must stay 1: it never changes'],
  ],
  [
    'addresses a browser should not follow',
    {
      assets: [
        { ...anAsset, url: 'https://user:pw@cdn.example/a.png', link: 'javascript:alert(1)' },
      ],
    },
    [
      '/assets/0/url must be an absolute http or https address with a host and without credentials',
      '/assets/0/link must be an absolute http or https address with a host and without credentials',
    ],
  ],
  [
    'entries that repeat each other',
    {
      markets: [aMarket, aMarket],
      publishers: [{ id: 1, name: 'x', sites: [aSite, aSite] }],
      products: [
        { marketId: 1, gtin: '4006381333931', title: 'x' },
        { marketId: 1, gtin: '04006381333931', title: 'y' },
      ],
    },
    [
      '/markets/1 repeats /markets/0',
      '/publishers/0/sites/1 repeats /publishers/0/sites/0',
      '/products/1 repeats /products/0',
    ],
  ],
]

for (const [name, bundle, messages] of faults) {
  test(`${name} is refused with its path`, async () => {
    assert.deepEqual(await checkBundle(bundle, snapshot, noEvents), messages)
  })
}

test('references may point into the bundle itself, and the same bundle may be put again', async () => {
  assert.deepEqual(await checkBundle(known, emptySnapshot, noEvents), [])
  assert.deepEqual(await checkBundle(known, snapshot, noEvents), [])
})

test('all faults of a bundle are found in one go', async () => {
  const bundle: CatalogBundle = {
    campaigns: [
      { id: 1, advertiserId: 98, name: 'x' },
      { id: 2, advertiserId: 99, name: 'y' },
    ],
    adGroups: [{ id: 1, campaignId: 97, name: 'x', type: 'SPA' }],
  }

  const messages = await checkBundle(bundle, snapshot, noEvents)

  assert.equal(messages.length, 3)
})

test('a flood of faults is cut, and the rest is counted', async () => {
  const campaigns = Array.from({ length: faultsMax + 7 }, (_, index) => ({
    id: index + 10_000,
    advertiserId: 99,
    name: 'x',
  }))

  const messages = await checkBundle({ campaigns }, snapshot, noEvents)

  assert.equal(messages.length, faultsMax + 1)
  assert.equal(messages.at(-1), 'and 7 more faults')
})

test('a market with events keeps its currency and its time zone', async () => {
  const moved: CatalogBundle = {
    markets: [{ id: 1, code: 'AT', currency: 'USD', timeZone: 'Europe/Vienna' }],
  }
  const asked: number[][] = []

  const busy = await checkBundle(moved, snapshot, (ids) => {
    asked.push([...ids])
    return Promise.resolve(new Set(ids))
  })
  const quiet = await checkBundle(moved, snapshot, noEvents)

  assert.deepEqual(busy, [
    '/markets/0/currency must stay EUR: the market has events',
    '/markets/0/timeZone must stay Europe/Berlin: the market has events',
  ])
  assert.deepEqual(asked, [[1]])
  assert.deepEqual(quiet, [])
})

test('a market whose code alone changes asks nobody about events', async () => {
  const renamed: CatalogBundle = {
    markets: [{ id: 1, code: 'GER', currency: 'EUR', timeZone: 'europe/berlin' }],
  }

  const messages = await checkBundle(renamed, snapshot, () => assert.fail('nobody is asked'))

  assert.deepEqual(messages, [])
})

test('what an attached asset has to fit stays as it is, and anything else of it may change', async () => {
  const display = { id: 5002, campaignId: 1001, name: 'Banners', type: 'DISPLAY' } as const
  const assignment = { adGroupId: 5002, creativeSizeId: 1, assetId }
  const attached = extendSnapshot(snapshot, { adGroups: [display] }, [assignment])
  const size = { id: 1, name: 'Size', width: 1, height: 1 }

  const unfit = await checkBundle(
    {
      adGroups: [{ ...display, type: 'SPA' }],
      creativeSizes: [{ ...size, width: 2 }],
      assets: [{ ...anAsset, height: 3 }],
    },
    attached,
    noEvents
  )
  const fit: CatalogBundle = {
    adGroups: [{ ...display, name: 'Other', type: 'SPONSORED_BRAND' }],
    creativeSizes: [{ ...size, name: 'Other' }],
    assets: [{ ...anAsset, fileName: 'b.png' }],
  }

  assert.deepEqual(unfit, [
    '/adGroups/0/type must stay DISPLAY: an asset is attached',
    '/creativeSizes/0/width must stay 1: an asset is attached',
    '/assets/0/height must stay 1: an asset is attached',
  ])
  assert.deepEqual(await checkBundle(fit, attached, noEvents), [])
  const resized = { creativeSizes: [{ ...size, width: 2 }], assets: [{ ...anAsset, height: 3 }] }
  assert.deepEqual(await checkBundle(resized, snapshot, noEvents), [])
})

test('markets that have had one code since before may be put again, and given codes of their own', async () => {
  const alike = extendSnapshot(snapshot, { markets: [{ ...aMarket, code: 'DE' }] })

  assert.deepEqual(
    await checkBundle({ markets: [{ ...aMarket, code: 'DE' }] }, alike, noEvents),
    []
  )
  assert.deepEqual(await checkBundle({ markets: [aMarket] }, alike, noEvents), [])
})

test('a market stays loadable when its currency has ended, and no other market may take that currency', async () => {
  const ended = { ...aMarket, currency: 'HRK' }
  const before = extendSnapshot(snapshot, { markets: [ended] })

  const again = await checkBundle({ markets: [{ ...ended, code: 'HR2' }] }, before, noEvents)
  const other = await checkBundle(
    { markets: [{ ...ended, id: ended.id + 1, code: 'XX' }] },
    before,
    noEvents
  )

  assert.deepEqual(again, [])
  assert.deepEqual(other, ['/markets/0/currency must be an active ISO 4217 currency code'])
})
