// The demo's little world: three markets, three publishers, three advertisers, all names invented.
import { products, type MarketCode } from './products.ts'

type AdGroupType = 'DISPLAY' | 'SPA' | 'SPONSORED_BRAND'

export interface Market {
  readonly id: number
  readonly code: MarketCode
  readonly currency: 'EUR' | 'GBP' | 'JPY'
  readonly timeZone: string
  readonly minorDigits: number
}

export interface AdGroup {
  readonly id: number
  readonly campaignId: number
  readonly advertiserId: number
  readonly name: string
  readonly type: AdGroupType
  /** Which of the advertiser's four product lines it sponsors. */
  readonly lines: readonly number[]
  /** Hundredths of a euro or a pound per click, and per thousand views. */
  readonly clickCents: number
  readonly milleCents: number
}

export const markets: readonly Market[] = [
  { id: 1, code: 'DE', currency: 'EUR', timeZone: 'Europe/Berlin', minorDigits: 2 },
  { id: 2, code: 'GB', currency: 'GBP', timeZone: 'Europe/London', minorDigits: 2 },
  { id: 3, code: 'JP', currency: 'JPY', timeZone: 'Asia/Tokyo', minorDigits: 0 },
]

const spaLocation = {
  type: 'PLATFORM_PRODUCT',
  location: 'SEARCH_PAGE',
  pagePosition: 'MAIN_GRID',
  adGroupTypes: ['SPA'],
}
const displayLocation = {
  type: 'DISPLAY',
  location: 'HOME_PAGE',
  pagePosition: 'ABOVE_THE_FOLD',
  adGroupTypes: ['DISPLAY'],
}
const brandLocation = {
  type: 'FULL_PRODUCT',
  location: 'CATEGORY_PAGE',
  pagePosition: 'CAROUSEL',
  adGroupTypes: ['SPONSORED_BRAND', 'SPA'],
}
const desktopLocations = [spaLocation, displayLocation, brandLocation]
const mobileLocations = [spaLocation, displayLocation]

export const publishers = [
  {
    id: 10,
    name: 'Marktfuchs',
    sites: [
      {
        id: 101,
        name: 'Marktfuchs Desktop',
        type: 'DESKTOP',
        marketIds: [1, 2],
        locations: desktopLocations,
      },
      {
        id: 102,
        name: 'Marktfuchs Mobil',
        type: 'MOBILE_WEB',
        marketIds: [1, 2],
        locations: mobileLocations,
      },
    ],
  },
  {
    id: 20,
    name: 'Pennywell & Rye',
    sites: [
      {
        id: 201,
        name: 'Pennywell Shop',
        type: 'DESKTOP',
        marketIds: [2],
        locations: desktopLocations,
      },
      {
        id: 202,
        name: 'Pennywell App',
        type: 'MOBILE_APP',
        marketIds: [2],
        locations: mobileLocations,
      },
    ],
  },
  {
    id: 30,
    name: '桜通り市場',
    sites: [
      {
        id: 301,
        name: '桜通り PC',
        type: 'DESKTOP',
        marketIds: [3, 1],
        locations: desktopLocations,
      },
      {
        id: 302,
        name: '桜通り アプリ',
        type: 'MOBILE_APP',
        marketIds: [3],
        locations: mobileLocations,
      },
    ],
  },
] as const

export const advertisers = [
  {
    id: 1,
    name: 'Velmora Coffee',
    access: [
      { publisherId: 10, marketIds: [1, 2] },
      { publisherId: 20, marketIds: [2] },
      { publisherId: 30, marketIds: [1, 3] },
    ],
  },
  {
    id: 2,
    name: 'Tarnwick Home',
    access: [
      { publisherId: 10, marketIds: [1, 2] },
      { publisherId: 20, marketIds: [2] },
    ],
  },
  {
    id: 3,
    name: 'Oshirako Foods',
    access: [
      { publisherId: 10, marketIds: [2] },
      { publisherId: 20, marketIds: [2], siteIds: [201, 202] },
      { publisherId: 30, marketIds: [1, 3] },
    ],
  },
] as const

/** The advertiser whose key is made and whose report is shown. */
export const shownAdvertiserId = 1

export const campaigns = advertisers.flatMap(({ id }) => [
  { id: 1_000 * id + 1, advertiserId: id, name: 'Spring offers' },
  { id: 1_000 * id + 2, advertiserId: id, name: 'Always on' },
])

export const adGroups: readonly AdGroup[] = advertisers.flatMap(({ id }) => adGroupsOf(id))

function adGroupsOf(advertiserId: number): readonly AdGroup[] {
  const first = 5_000 + 100 * advertiserId
  const spring = { advertiserId, campaignId: 1_000 * advertiserId + 1 }
  const always = { advertiserId, campaignId: 1_000 * advertiserId + 2 }
  const spa = 'SPA' as const
  const display = 'DISPLAY' as const
  const brand = 'SPONSORED_BRAND' as const
  return [
    { ...spring, id: first + 1, type: spa, name: 'Search, new', ...lines([0, 1], 46, 0) },
    { ...spring, id: first + 2, type: display, name: 'Home page', ...lines([0, 2], 0, 435) },
    { ...always, id: first + 3, type: spa, name: 'Search, all', ...lines([0, 1, 2, 3], 38, 0) },
    { ...always, id: first + 4, type: brand, name: 'Brand rows', ...lines([1, 3], 25, 215) },
    { ...always, id: first + 5, type: display, name: 'Category', ...lines([2, 3], 8, 310) },
  ]
}

function lines(ofAdvertiser: readonly number[], clickCents: number, milleCents: number) {
  return { lines: ofAdvertiser, clickCents, milleCents }
}

export const creativeSizes = [
  { id: 1, name: 'Leaderboard', width: 728, height: 90 },
  { id: 2, name: 'Medium rectangle', width: 300, height: 250 },
]

export const assets = advertisers.flatMap(({ id, name }) =>
  creativeSizes.map((size) => ({
    id: `5e1f7ace-0000-4000-8000-00000000${id}0${size.id}0`,
    advertiserId: id,
    fileName: `${size.width}x${size.height}.png`,
    url: `https://assets.example/${id}/${size.width}x${size.height}.png`,
    width: size.width,
    height: size.height,
    type: 'IMAGE',
    altText: `${name}: the picture of the season`,
    backgroundColor: '#ffffff',
    callToAction: 'Have a look',
    adCopy: 'Made with care, sold with a smile.',
    link: `https://shop.example/brands/${id}`,
  }))
)

/** The body of `PUT /admin/v1/catalog`. */
export function buildBundle() {
  return {
    markets: markets.map(({ id, code, currency, timeZone }) => ({ id, code, currency, timeZone })),
    publishers,
    advertisers,
    campaigns,
    adGroups: adGroups.map(({ id, campaignId, name, type }) => ({ id, campaignId, name, type })),
    products: markets.flatMap(({ id, code }) =>
      products.map(({ gtin, titles, brand, groupId }) => ({
        marketId: id,
        gtin,
        title: titles[code],
        brand,
        groupId,
      }))
    ),
    creativeSizes,
    assets,
  }
}

/** Amounts of the demo are made of euro cents; a yen price is 160 times as many hundredths. */
export function amountText(cents: number, market: Market): string {
  const hundredths = market.currency === 'JPY' ? cents * 160 : cents
  const text = String(hundredths).padStart(3, '0')
  return trimZeros(`${text.slice(0, -2)}.${text.slice(-2)}`)
}

/** Ends as the shortest text does, so that it is also how JSON prints the number. */
function trimZeros(text: string): string {
  return text.replace(/\.?0+$/, '')
}
