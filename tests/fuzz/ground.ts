// What a run stands on: a service with a catalog, keys of every kind, and tokens.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { placement } from '../helpers/placement.ts'
import type { Service } from '../helpers/service.ts'
import { day, type Vocabulary } from './sample.ts'
import { aBundle, anAsset } from '../helpers/bundle.ts'

export const assetId = anAsset().id
const { products, creativeSizes } = aBundle()

const location = {
  type: 'DISPLAY',
  location: 'HOME_PAGE',
  pagePosition: 'L1',
  adGroupTypes: ['DISPLAY'],
}

export const catalog = {
  markets: [
    { id: 1, code: 'DE', currency: 'EUR', timeZone: 'Europe/Berlin' },
    { id: 2, code: 'JP', currency: 'JPY', timeZone: 'Asia/Tokyo' },
  ],
  publishers: [
    {
      id: 10,
      name: 'Example Shop',
      sites: [
        { id: 101, name: 'Desktop', type: 'DESKTOP', marketIds: [1, 2], locations: [location] },
      ],
    },
    {
      id: 20,
      name: 'Other Shop',
      sites: [{ id: 201, name: 'Mobile', type: 'MOBILE_WEB', marketIds: [1], locations: [] }],
    },
  ],
  advertisers: [
    { id: 1, name: 'Acme', access: [{ publisherId: 10, marketIds: [1, 2] }] },
    { id: 2, name: 'Rival', access: [{ publisherId: 10, marketIds: [1] }] },
  ],
  campaigns: [
    { id: 1001, advertiserId: 1, name: 'Spring' },
    { id: 2001, advertiserId: 2, name: 'Summer' },
  ],
  adGroups: [
    { id: 5001, campaignId: 1001, name: 'Coffee', type: 'SPA' },
    { id: 5002, campaignId: 1001, name: 'Banner', type: 'DISPLAY' },
    { id: 6001, campaignId: 2001, name: 'Tea', type: 'SPONSORED_BRAND' },
  ],
  products,
  creativeSizes,
  assets: [anAsset()],
}

/** Right bodies that a schema alone would seldom give, by operation: every second body of it. */
export const rightTexts: Readonly<Record<string, string>> = {
  putCatalog: JSON.stringify(catalog),
  putRates: 'Date,USD,JPY,SEK\n2026-03-02,1.0842,163.2,11.42\n2026-03-03,1.0851,N/A,11.4\n',
  putProducts:
    'gtin\ttitle\tbrand\titem_group_id\n4006381333931\tGround coffee\tAcme\tGRP1\n96385074\tTea\tAcme\t\n',
  mintTrackingLinks: JSON.stringify({
    links: [{ ...placement, gtin: '4006381333931', userId: 'shopper-1', costPerClick: '0.25' }],
  }),
  addDisplayAdGroupAsset: JSON.stringify({ creativeSizeId: 1, assetId }),
}

export type KeyKind = 'admin' | 'scoped' | 'narrow' | 'expired' | 'revoked'

export interface Ground {
  readonly service: Service
  readonly ports: Readonly<Record<'tracking' | 'campaign', number>>
  readonly keys: Readonly<Record<KeyKind, string>>
  readonly tokens: readonly string[]
  readonly vocabulary: Vocabulary
  /** What no answer may hold. */
  readonly secrets: readonly string[]
}

const allScopes = [
  'report:read',
  'asset:write',
  'site:read',
  'link:mint',
  'events:write',
  'metrics:read',
  'intake:read',
  'delivery:write',
]
const everything = { advertisers: 'all', publishers: 'all', scopes: allScopes }

/** Whom a proxy at our address may name. */
export const signedOn = 'anna@example.com'

const narrow = {
  advertisers: [2],
  publishers: [20],
  scopes: ['report:read', 'asset:write', 'site:read', 'intake:read'],
}

export async function layGround(service: Service): Promise<Ground> {
  await ask(service, 'PUT', '/admin/v1/catalog', catalog)
  const revoked = await makeKey(service, everything)
  await ask(service, 'DELETE', `/admin/v1/keys/${revoked.id}`)
  const disposable = [await makeKey(service, everything), await makeKey(service, everything)]
  const expiresAt = new Date(Date.now() + 1_500).toISOString()
  const keys = {
    admin: service.adminKey,
    scoped: (await makeKey(service, everything)).key,
    narrow: (await makeKey(service, narrow)).key,
    expired: (await makeKey(service, { ...everything, expiresAt })).key,
    revoked: revoked.key,
  }
  await ask(service, 'POST', '/admin/v1/people', { person: signedOn, ...everything })
  const tokens = await mint(service)
  return {
    service,
    keys,
    tokens,
    ports: { tracking: portOf(service.trackingUrl), campaign: portOf(service.campaignUrl) },
    vocabulary: buildVocabulary(
      tokens,
      disposable.map(({ id }) => id)
    ),
    secrets: [...Object.values(keys), ...readSecrets(service)],
  }
}

async function mint(service: Service): Promise<readonly string[]> {
  const links = Array.from({ length: 200 }, (_, index) => ({
    ...placement,
    gtin: '4006381333931',
    groupId: 'GRP1',
    userId: `shopper-${index}`,
    currency: 'EUR',
    costPerClick: '0.25',
    landingUrl: index % 3 === 0 ? undefined : 'https://shop.example/coffee?x=1',
  }))
  const body = (await ask(service, 'POST', '/admin/v1/tracking-links', { links })) as {
    links: readonly { trackingData: string }[]
  }
  return body.links.map(({ trackingData }) => trackingData)
}

async function makeKey(service: Service, request: object): Promise<{ id: string; key: string }> {
  const made = await ask(service, 'POST', '/admin/v1/keys', { name: 'Fuzz', ...request })
  return made as { id: string; key: string }
}

async function ask(
  service: Service,
  method: string,
  path: string,
  body?: unknown
): Promise<unknown> {
  const response = await service.admin(method, path, body)
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return text === '' ? null : JSON.parse(text)
}

/** Every longer text of the secrets file, whatever its fields are called. */
function readSecrets(service: Service): readonly string[] {
  const text = readFileSync(join(service.dataDir, 'secrets.json'), 'utf8')
  return [...text.matchAll(/"([A-Za-z0-9+/=_-]{32,})"/g)].map(([, secret = '']) => secret)
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}

function buildVocabulary(tokens: readonly string[], keyIds: readonly string[]): Vocabulary {
  const days = [day(-2), day(-1), day(0)]
  const instant = new Date().toISOString()
  return {
    advertiserId: [1, 2],
    advertiserIds: [1, 2],
    advertisers: [1, 2],
    publishers: [10, 20],
    publisherId: [10, 20],
    siteId: [101, 201],
    siteIds: [101, 201],
    marketId: [1, 2],
    marketIds: [1, 2],
    campaignId: [1001, 2001],
    adGroupId: [5001, 5002, 6001],
    creativeSizeId: [1],
    id: [1, 1, 1, 2, 2, 10, 101, 1001, 5001, ...keyIds],
    assetId: [assetId],
    gtin: ['4006381333931', '96385074', '4006381333932', 'SKU-7 a'],
    groupId: ['GRP1', 'GRP2', ''],
    brand: ['Acme', 'Bolt'],
    currency: ['EUR', 'JPY', 'KWD', 'usd'],
    timeZone: ['Europe/Berlin', 'Asia/Tokyo'],
    code: ['DE', 'JP'],
    userId: Array.from({ length: 200 }, (_, index) => `shopper-${index}`),
    userLoggedInId: ['login-1', 'login-2'],
    trackingData: tokens,
    link: tokens.flatMap((token) => [token, `https://track.example/click/${token}?x=1`]),
    startDate: [day(-9), ...days],
    endDate: days,
    locale: ['de-DE', 'fr', 'en-GB', 'pl_PL'],
    page: [0, 0, 0, 1, 2],
    limit: [1, 10, 1_000],
    costPerClick: ['0.25', '1', '0'],
    costPerMille: ['2.5', '0'],
    conversionSources: ['127.0.0.1/32', '10.0.0.0/8'],
    type: ['impression', 'click', 'load', 'conversion'],
    receivedAt: [instant],
    servedAt: [instant],
    landingUrl: ['https://shop.example/tea'],
    quantity: [1, 2, 5],
    price: [0.01, 9.99, 19.99],
  }
}
