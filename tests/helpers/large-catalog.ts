// The catalog and the rates of a large account: pure functions of its size.
import type { CatalogBundle } from '../../src/contract/catalog-bundle.ts'
import { addDays, dayOf, listDays } from '../../src/domain/day.ts'

export interface AccountSize {
  /** Of the first advertiser, the large one, in every market. */
  readonly products: number
  /** Each with a currency of its own; at most eight. */
  readonly markets: number
  /** Up to yesterday. */
  readonly days: number
  /** Served ads of the large advertiser on all days together. */
  readonly ads: number
  /** All in all; those behind the first one are small. */
  readonly advertisers: number
  /** Served ads of all small advertisers together, on the last eight weeks. */
  readonly smallAds: number
  /** Today for whoever makes the account. */
  readonly nowMs: number
}

export const largeAdvertiserId = 1
const dayMs = 86_400_000
const productsPerBundle = 10_000

export const allMarkets = [
  { id: 1, code: 'DE', currency: 'EUR', timeZone: 'Europe/Berlin', perEuro: 1 },
  { id: 2, code: 'GB', currency: 'GBP', timeZone: 'Europe/London', perEuro: 0.87 },
  { id: 3, code: 'US', currency: 'USD', timeZone: 'America/New_York', perEuro: 1.16 },
  { id: 4, code: 'JP', currency: 'JPY', timeZone: 'Asia/Tokyo', perEuro: 180 },
  { id: 5, code: 'SE', currency: 'SEK', timeZone: 'Europe/Stockholm', perEuro: 11 },
  { id: 6, code: 'PL', currency: 'PLN', timeZone: 'Europe/Warsaw', perEuro: 4.25 },
  { id: 7, code: 'CH', currency: 'CHF', timeZone: 'Europe/Zurich', perEuro: 0.93 },
  { id: 8, code: 'CZ', currency: 'CZK', timeZone: 'Europe/Prague', perEuro: 24.5 },
] as const
/** Of the large advertiser; the others have one each. */
export const campaignCount = 40
export const adGroupsPerCampaign = 4

/** The bundles, in the order in which they are put. */
export function bundlesOf(size: AccountSize): readonly CatalogBundle[] {
  const products = productsOf(size)
  const slices = Array.from(
    { length: Math.ceil(products.length / productsPerBundle) },
    (_, index) => ({
      products: products.slice(index * productsPerBundle, (index + 1) * productsPerBundle),
    })
  )
  return [placesOf(size), ...slices]
}

function placesOf(size: AccountSize): CatalogBundle {
  const markets = marketsOf(size)
  const marketIds = markets.map(({ id }) => id)
  const ids = Array.from({ length: size.advertisers }, (_, index) => index + 1)
  const campaigns = ids.flatMap((advertiserId) =>
    Array.from({ length: advertiserId === largeAdvertiserId ? campaignCount : 1 }, (_, index) => ({
      id: campaignIdOf(advertiserId, index),
      advertiserId,
      name: `Campaign ${index + 1}`,
    }))
  )
  return {
    markets: markets.map(({ id, code, currency, timeZone }) => ({ id, code, currency, timeZone })),
    publishers: [1, 2, 3].map((id) => ({
      id,
      name: `Shop ${id}`,
      sites: [{ id: siteIdOf(id), name: `Shop ${id}`, type: 'DESKTOP', marketIds, locations: [] }],
    })),
    advertisers: ids.map((id) => ({
      id,
      name: id === largeAdvertiserId ? 'Large Brand' : `Brand ${id}`,
      access: [1, 2, 3].map((publisherId) => ({ publisherId, marketIds })),
    })),
    campaigns,
    adGroups: campaigns.flatMap(({ id: campaignId }) =>
      Array.from({ length: adGroupsPerCampaign }, (_, index) => ({
        id: adGroupIdOf(campaignId, index),
        campaignId,
        name: `Ad group ${index + 1}`,
        type: 'SPA' as const,
      }))
    ),
  }
}

function productsOf(size: AccountSize) {
  return marketsOf(size).flatMap(({ id: marketId, code }) =>
    Array.from({ length: size.products }, (_, index) => ({
      marketId,
      gtin: gtinOf(index),
      title: `Product ${index + 1} with a title as long as shops have them (${code})`,
      brand: `Line ${index % 20}`,
    }))
  )
}

export function campaignIdOf(advertiserId: number, index: number): number {
  return advertiserId * 100 + index
}

export function adGroupIdOf(campaignId: number, index: number): number {
  return campaignId * 10 + index
}

export function siteIdOf(publisherId: number): number {
  return publisherId * 100 + 1
}

export function marketsOf({ markets }: AccountSize) {
  return allMarkets.slice(0, markets)
}

export function gtinOf(index: number): string {
  return String(4_000_000_000_000 + index * 10)
}

/** As the European Central Bank has them: on working days alone. Each day has rates of its own. */
export function ratesOf(size: AccountSize): string {
  const others = allMarkets.filter(({ currency }) => currency !== 'EUR')
  const today = dayOf(size.nowMs, 'UTC')
  const header = ['Date', ...others.map(({ currency }) => currency)].join(',')
  const lines = listDays(addDays(today, -size.days - 7), today)
    .filter((day) => ![0, 6].includes(new Date(day).getUTCDay()))
    .map((day) => {
      const turn = Math.round(Date.parse(day) / dayMs) % 50
      const rates = others.map(({ perEuro }) => (perEuro * (1 + turn / 1_000)).toFixed(4))
      return `${day},${rates.join(',')}`
    })
  return [header, ...lines].map((line) => `${line},\n`).join('')
}
