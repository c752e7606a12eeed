// How rows of reports are put in order. Every text comes from closed lists.

import type { OrderByColumn, SortType } from '../contract/report-request.ts'

type Ordered = OrderByColumn | 'ORDERS'

const ratios = {
  CLICK_THROUGH_RATE: ['clicks', 'impressions'],
  CONVERSION_RATE: ['conversions', 'clicks'],
  COST_PER_CLICK: ['spend', 'clicks'],
  RETURN_ON_AD_SPEND: ['conversion_value', 'spend'],
} as const

export const nameOf = (kind: 'publisher' | 'campaign' | 'adGroup', id: string): string =>
  `transform(${id}, {${kind}Ids:Array(Int32)}, {${kind}Names:Array(String)}, '')`

export const plainOrders = {
  GTIN: 'gtin',
  PRODUCT_TITLE: 'title',
  BRAND: 'brand',
  MARKET: `transform(market_id, {marketIds:Array(Int32)}, {marketCodes:Array(String)}, toString(market_id))`,
  PUBLISHER_ID: 'publisher_id',
  PUBLISHER_NAME: nameOf('publisher', 'publisher_id'),
  CAMPAIGN_ID: 'campaign_id',
  CAMPAIGN_NAME: nameOf('campaign', 'campaign_id'),
  AD_GROUP_ID: 'ad_group_id',
  AD_GROUP_NAME: nameOf('adGroup', 'ad_group_id'),
  DATE: 'day',
  IMPRESSIONS: 'impressions',
  CLICKS: 'clicks',
  LOADS: 'loads',
  CONVERSIONS: 'conversions',
  UNITS_SOLD: 'units_sold',
  CONVERSION_VALUE: 'conversion_value',
  AD_SPEND_REVENUE: 'spend',
  ORDERS: 'orders',
} as const satisfies Record<Exclude<Ordered, keyof typeof ratios>, string>

const textOrders = new Set<Ordered>([
  'PRODUCT_TITLE',
  'BRAND',
  'PUBLISHER_NAME',
  'CAMPAIGN_NAME',
  'AD_GROUP_NAME',
])

/** A total order: empty values last in both directions, then by columns in which no two rows are equal. */
export function orderTerms(
  { orderBy, sortType }: { readonly orderBy: Ordered; readonly sortType: SortType },
  ties: readonly string[]
): readonly string[] {
  if (isRatio(orderBy)) {
    const [over, under] = ratios[orderBy]
    return [
      `${under} = 0`,
      `if(${under} = 0, 0, toFloat64(${over}) / toFloat64(${under})) ${sortType}`,
      ...ties,
    ]
  }
  const term = plainOrders[orderBy]
  return [...(textOrders.has(orderBy) ? [`${term} = ''`] : []), `${term} ${sortType}`, ...ties]
}

function isRatio(column: Ordered): column is keyof typeof ratios {
  return Object.hasOwn(ratios, column)
}
