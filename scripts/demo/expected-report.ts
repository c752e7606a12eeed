// The expected figures as the CSV must print them.
import { adGroups, campaigns, markets, publishers, type Market } from './catalog.ts'
import { printAmount, printRatio } from './decimal.ts'
import type { ExpectedRow } from './expectation.ts'
import { productKey } from './sales.ts'
import { products } from './products.ts'

export const columns = [
  'GTIN',
  'PRODUCT_TITLE',
  'BRAND',
  'MARKET',
  'PUBLISHER_ID',
  'PUBLISHER_NAME',
  'CAMPAIGN_ID',
  'CAMPAIGN_NAME',
  'AD_GROUP_ID',
  'AD_GROUP_NAME',
  'IMPRESSIONS',
  'CLICKS',
  'LOADS',
  'CONVERSIONS',
  'UNITS_SOLD',
  'CLICK_THROUGH_RATE',
  'CONVERSION_RATE',
  'CONVERSION_VALUE',
  'AD_SPEND_REVENUE',
  'COST_PER_CLICK',
  'RETURN_ON_AD_SPEND',
  'CURRENCY',
] as const

export type Column = (typeof columns)[number]

export type PrintedRow = Readonly<Record<Column, string>>

const productsByKey = new Map(products.map((product) => [productKey(product.gtin), product]))

export function printRow(row: ExpectedRow): PrintedRow {
  const market = byId(markets, row.marketId)
  const product = productsByKey.get(row.product)
  if (product === undefined) throw new Error(`no product ${row.product}`)
  return {
    GTIN: product.gtin,
    PRODUCT_TITLE: product.titles[market.code],
    BRAND: product.brand,
    MARKET: market.code,
    PUBLISHER_ID: String(row.publisherId),
    PUBLISHER_NAME: byId(publishers, row.publisherId).name,
    CAMPAIGN_ID: String(row.campaignId),
    CAMPAIGN_NAME: byId(campaigns, row.campaignId).name,
    AD_GROUP_ID: String(row.adGroupId),
    AD_GROUP_NAME: byId(adGroups, row.adGroupId).name,
    ...printFigures(row, market),
  }
}

function printFigures(row: ExpectedRow, { currency, minorDigits }: Market) {
  const { impressions, clicks, loads, conversions, units, valueNanos, spendNanos } = row
  const nanosPerClick = BigInt(clicks) * 10n ** 9n
  return {
    IMPRESSIONS: String(impressions),
    CLICKS: String(clicks),
    LOADS: String(loads),
    CONVERSIONS: String(conversions),
    UNITS_SOLD: String(units),
    CLICK_THROUGH_RATE: rate(clicks, impressions),
    CONVERSION_RATE: rate(conversions, clicks),
    CONVERSION_VALUE: printAmount(valueNanos, minorDigits),
    AD_SPEND_REVENUE: printAmount(spendNanos, minorDigits),
    COST_PER_CLICK: printRatio({ over: spendNanos, under: nanosPerClick, digits: 6 }),
    RETURN_ON_AD_SPEND: printRatio({ over: valueNanos, under: spendNanos, digits: 4 }),
    CURRENCY: currency,
  }
}

function rate(over: number, under: number): string {
  return printRatio({ over: BigInt(over), under: BigInt(under), digits: 6 })
}

function byId<T extends { readonly id: number }>(entries: readonly T[], wanted: number): T {
  const entry = entries.find(({ id }) => id === wanted)
  if (entry === undefined) throw new Error(`no entry ${wanted} in the demo's catalog`)
  return entry
}
