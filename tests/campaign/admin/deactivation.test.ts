// What an entry with `active: false` no longer takes, one kind after the other, through the real port.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { parseCatalogBundle, type CatalogBundle } from '../../../src/contract/catalog-bundle.ts'
import { adminKey, bearer, startAdmin, type AdminHarness } from './harness.ts'
import { placement } from '../../helpers/placement.ts'
import { anAsset, aSite } from '../../helpers/bundle.ts'

let admin: AdminHarness

const market = { id: 1, code: 'DE', currency: 'EUR', timeZone: 'Europe/Berlin' }
const site = aSite()
const publisher = { id: 10, name: 'Shop', sites: [site] }
const advertiser = { id: 1, name: 'Acme', access: [{ publisherId: 10, marketIds: [1] }] }
const campaign = { id: 1001, advertiserId: 1, name: 'Spring' }
const adGroup = { id: 5001, campaignId: 1001, name: 'Banners', type: 'DISPLAY' }
const product = { marketId: 1, gtin: '4006381333931', title: 'Coffee', brand: 'Acme' }
const size = { id: 1, name: 'Leaderboard', width: 728, height: 90 }
const asset = anAsset()
const bundle = {
  markets: [market],
  publishers: [publisher],
  advertisers: [advertiser],
  campaigns: [campaign],
  adGroups: [adGroup],
  products: [product],
  creativeSizes: [size],
  assets: [asset],
}

before(async () => {
  admin = await startAdmin()
})
after(() => admin.close())

async function load(changes: object): Promise<void> {
  const parsed = parseCatalogBundle(changes)
  assert.ok(parsed.ok)
  const applied = await admin.catalog.apply(parsed.value)
  assert.ok(applied.ok)
}

async function call(method: 'GET' | 'POST', url: string, payload?: object) {
  const response = await admin.app.inject({
    method,
    url,
    headers: bearer(adminKey),
    ...(payload !== undefined && { payload }),
  })
  return { status: response.statusCode, body: response.body }
}

const mint = () =>
  call('POST', '/admin/v1/tracking-links', {
    links: [
      {
        ...placement,
        // Another spelling of the same product.
        gtin: ' 04006381333931',
        userId: 'u',
      },
    ],
  })

const attach = () =>
  call('POST', '/display/v2/advertisers/1/campaigns/1001/display/ad-groups/5001/assets', {
    creativeSizeId: 1,
    assetId: asset.id,
  })

const locations = () =>
  call('GET', '/v2/advertisers/1/eligible/site-locations?publisherId=10&marketId=1')

interface Refusals {
  readonly mint?: string
  readonly attach?: string
  readonly locations?: 'none'
}

const off = { active: false }
const kinds: readonly (readonly [kind: string, changes: object, refusals: Refusals])[] = [
  [
    'market',
    { markets: [{ ...market, ...off }] },
    { mint: '/marketId is no longer active', locations: 'none' },
  ],
  [
    'publisher',
    { publishers: [{ ...publisher, ...off }] },
    { mint: '/publisherId is no longer active', locations: 'none' },
  ],
  [
    'site',
    { publishers: [{ ...publisher, sites: [{ ...site, ...off }] }] },
    { mint: '/siteId is no longer active', locations: 'none' },
  ],
  [
    'advertiser',
    { advertisers: [{ ...advertiser, ...off }] },
    {
      mint: '/advertiserId is no longer active',
      attach: 'The advertiser is not active.',
      locations: 'none',
    },
  ],
  [
    'campaign',
    { campaigns: [{ ...campaign, ...off }] },
    { mint: '/campaignId is no longer active', attach: 'The campaign is not active.' },
  ],
  [
    'ad group',
    { adGroups: [{ ...adGroup, ...off }] },
    { mint: '/adGroupId is no longer active', attach: 'The ad group is not active.' },
  ],
  ['product', { products: [{ ...product, ...off }] }, { mint: '/gtin is no longer active' }],
  [
    'creative size',
    { creativeSizes: [{ ...size, ...off }] },
    { attach: '/creativeSizeId is not active' },
  ],
  ['asset', { assets: [{ ...asset, ...off }] }, { attach: '/assetId is not active' }],
]
for (const [kind, changes, refusals] of kinds) {
  test(`no longer active, a ${kind} takes nothing new, and it does again once active`, async () => {
    await load(bundle)
    await expectAll({})

    await load(changes)

    await expectAll(refusals)
    await load(bundle)
    await expectAll({})
  })
}

async function expectAll(refusals: Refusals): Promise<void> {
  const minted = await mint()
  const attached = await attach()
  const listed = await locations()
  assert.equal(minted.status, refusals.mint === undefined ? 200 : 422, minted.body)
  assert.ok(minted.body.includes(refusals.mint ?? ''), minted.body)
  assert.equal(attached.status, refusals.attach === undefined ? 201 : 422, attached.body)
  assert.ok(attached.body.includes(refusals.attach ?? ''), attached.body)
  assert.equal(listed.body === '[]', refusals.locations === 'none', listed.body)
}

test('links to many products name each one that is no longer active', async () => {
  const products = Array.from({ length: 50 }, (_, index) => ({
    ...product,
    gtin: `sku-${index}`,
    active: index % 10 !== 3,
  }))
  await load({ ...bundle, products } satisfies Record<keyof CatalogBundle, unknown>)
  const inactive = await admin.catalog.products.findInactive([
    ...products,
    { marketId: 2, gtin: 'sku-3' },
    { marketId: 1, gtin: 'unknown' },
  ])

  assert.deepEqual(inactive, new Set([3, 13, 23, 33, 43].map((index) => `1/sku-${index}`)))
})

test('entries that are no longer active are read back with the mark', async () => {
  await load(bundle)
  await load({ products: [{ ...product, ...off }], campaigns: [{ ...campaign, ...off }] })

  const products = await call('GET', '/admin/v1/markets/1/products?gtin=4006381333931')
  const campaigns = await call('GET', '/admin/v1/catalog/campaigns')

  assert.deepEqual(JSON.parse(products.body), { entries: [{ ...product, ...off }], next: null })
  assert.deepEqual(JSON.parse(campaigns.body), { entries: [{ ...campaign, ...off }], next: null })
})
