// Builds the query of a report. Values are bound; the only text that varies comes from closed lists in this
// file.

import type { OrderByColumn, ReportRequest } from '../contract/report-request.ts'
import { daysBetween } from '../domain/day.ts'
import type { Params } from '../warehouse/warehouse.ts'
import { boundAdvertiserSql } from './bound-advertiser.ts'
import type { CatalogNames } from '../catalog/catalog-names.ts'
import { dayPartsSql, dayRowsParams, profilePrefix } from '../days/day-rows.ts'
import { filterParams, productConditions, rowConditions } from './filters.ts'
import type { MarketDays } from '../days/market-days.ts'
import { reachableRows } from './paged.ts'
import type { Rates } from '../days/rates.ts'
import { revisionOf, sealParams, sealedRowSql, spanParams } from '../days/seals.ts'
import type { ReportDays } from '../days/sealed-days.ts'
import type { SealedSpan } from '../days/sealed-spans.ts'

export interface ReportQuery {
  readonly sql: string
  readonly params: Params
}

export interface QuerySource {
  readonly advertiserId: number
  readonly request: ReportRequest
  readonly catalog: CatalogNames
  /** Which days are answered from the rollup, and which from the events. */
  readonly days: ReportDays
  /** Weeks and months that replace days of the seals. */
  readonly spans: readonly SealedSpan[]
  readonly rates: Rates
}

export function buildReportQuery(source: QuerySource): ReportQuery {
  const { request } = source
  return {
    sql: `
SELECT gtin, title, brand, market_id, publisher_id, campaign_id, ad_group_id, toString(day),
  loads, impressions, clicks, conversions, toString(units_sold),
  toString(conversion_value), toString(spend),
  count() OVER () AS total_rows, toString(sum(unconverted) OVER ()) AS total_unconverted,
  ${boundAdvertiserSql}
FROM (${reportRowsSql(source)})
ORDER BY ${orderTerms(request).join(', ')}
LIMIT ${reachableRows(request.limit)}
SETTINGS ${reportSettings}`,
    params: reportParams(source),
  }
}

// Each served ad and each purchase is in one partition, so FINAL need not merge across partitions. Without
// this setting a report over months is several times slower.
export const reportSettings = 'join_use_nulls = 0, do_not_merge_across_partitions_select_final = 1'

/** The rows of the report without names, of sealed and open days together. */
function grouped(source: QuerySource): string {
  const { request, days, spans } = source
  const parts = [
    ...(days.seals.length === 0 ? [] : [sealedRows(request)]),
    ...(spans.length === 0 ? [] : [spanRows(request)]),
    ...(days.hasOpenDays ? [openRows(source)] : []),
  ]
  return `
  SELECT market_id, publisher_id, campaign_id, ad_group_id, gtin_key,
    CAST(${request.dateBreakdown ? 'row_day' : 'NULL'}, 'Nullable(Date)') AS day,
    minIf(seen_gtin, seen_gtin != '') AS seen_gtin_min,
    sum(loads) AS loads, sum(impressions) AS impressions, sum(clicks) AS clicks,
    sum(conversions) AS conversions, sum(units) AS units_sold,
    sum(value) AS conversion_value, sum(spend) AS spend, sum(unconverted) AS unconverted,
    sum(orders) AS orders
  FROM (${(parts.length === 0 ? [openRows(source)] : parts).join(' UNION ALL ')})
  GROUP BY market_id, publisher_id, campaign_id, ad_group_id, gtin_key, day
  HAVING loads + impressions + clicks + conversions > 0`
}

/** Selects the columns of the request's profile. */
function figures(request: ReportRequest, day = 'day'): string {
  const prefix = profilePrefix[request.attributionProfile]
  return `market_id, publisher_id, campaign_id, ad_group_id, gtin_key, ${day} AS row_day,
    ${prefix}_gtin AS seen_gtin, loads, impressions, clicks,
    ${prefix}_conversions AS conversions, ${prefix}_units AS units, ${prefix}_value AS value,
    spend, spend_unconverted + ${prefix}_unconverted AS unconverted, ${prefix}_orders AS orders`
}

function openRows({ request, days, rates }: QuerySource): string {
  const scope = {
    profiles: [request.attributionProfile],
    condition: rowConditions(request),
    isByDay:
      request.dateBreakdown || rates.currencies.length > 0 || !days.open.every(isWithoutGaps),
  }
  return `SELECT ${figures(request)} FROM (${dayPartsSql(scope)})`
}

function isWithoutGaps({ days }: MarketDays): boolean {
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return true
  return daysBetween(first, last) === days.length - 1
}

/** Reads only the revision that counts; others may exist until they are swept. */
function sealedRows(request: ReportRequest): string {
  return `
  SELECT ${figures(request)}
  FROM product_day
  WHERE advertiser_id = {advertiserId:Int32}
    AND day >= {startDay:Date} AND day <= {endDay:Date}
    AND ${sealedRowSql('product_day')}
    AND ${rowConditions(request)}`
}

/** Weeks and months, for reports that are not by day. No two of them begin on one day, because none is covered twice. */
function spanRows(request: ReportRequest): string {
  return `
  SELECT ${figures(request, 'first_day')}
  FROM product_span
  WHERE advertiser_id = {advertiserId:Int32}
    AND first_day >= {startDay:Date} AND first_day <= {endDay:Date}
    AND revision IN {spanRevisions:Array(UInt64)}
    AND revision = ${revisionOf('unit', 'first_day', 'span')}
    AND ${rowConditions(request)}`
}

/**
 * The filtered rows of the report with their products, in no order: the names of the products, and the
 * catalog's spelling of the GTIN if there is one. The rows of the report are on the right, where ClickHouse
 * builds its hash table, and the catalog streams past them. The other way around, every product of the
 * market was held in memory: for a million products that took 1.7 s and 300 MB instead of 0.3 s.
 */
export function reportRowsSql(source: QuerySource): string {
  return `
  SELECT g.*, if(p.gtin = '', g.seen_gtin_min, p.gtin) AS gtin, p.title AS title, p.brand AS brand
  FROM (
    SELECT market_id AS product_market_id, gtin_key AS product_key, gtin, title, brand
    FROM product FINAL
    WHERE market_id IN {marketIds:Array(Int32)} AND ${rowConditions(source.request)}
  ) AS p
  RIGHT JOIN (${grouped(source)}) AS g
    ON p.product_market_id = g.market_id AND p.product_key = g.gtin_key
  WHERE ${productConditions(source.request)}`
}

const ratios = {
  CLICK_THROUGH_RATE: ['clicks', 'impressions'],
  CONVERSION_RATE: ['conversions', 'clicks'],
  COST_PER_CLICK: ['spend', 'clicks'],
  RETURN_ON_AD_SPEND: ['conversion_value', 'spend'],
} as const

const nameOf = (kind: 'publisher' | 'campaign' | 'adGroup', id: string): string =>
  `transform(${id}, {${kind}Ids:Array(Int32)}, {${kind}Names:Array(String)}, '')`

const plainOrders = {
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
} as const satisfies Record<Exclude<OrderByColumn, keyof typeof ratios>, string>

const textOrders = new Set<OrderByColumn>([
  'PRODUCT_TITLE',
  'BRAND',
  'PUBLISHER_NAME',
  'CAMPAIGN_NAME',
  'AD_GROUP_NAME',
])

/** A total order: empty values last in both directions, ties by all dimensions. */
function orderTerms(request: ReportRequest): readonly string[] {
  const { orderBy } = request
  const direction = request.sortType === 'DESC' ? 'DESC' : 'ASC'
  const ties = ['gtin_key', 'market_id', 'publisher_id', 'campaign_id', 'ad_group_id', 'day']
  if (isRatio(orderBy)) {
    const [over, under] = ratios[orderBy]
    return [
      `${under} = 0`,
      `if(${under} = 0, 0, toFloat64(${over}) / toFloat64(${under})) ${direction}`,
      ...ties,
    ]
  }
  const term = plainOrders[orderBy]
  return [...(textOrders.has(orderBy) ? [`${term} = ''`] : []), `${term} ${direction}`, ...ties]
}

function isRatio(column: OrderByColumn): column is keyof typeof ratios {
  return Object.hasOwn(ratios, column)
}

export function reportParams(source: QuerySource): Params {
  const { advertiserId, request, catalog, days, spans, rates } = source
  const names = {
    publisher: catalog.publishers(),
    campaign: catalog.campaigns(advertiserId),
    adGroup: catalog.adGroups(advertiserId),
  }
  return {
    advertiserId,
    startDay: request.startDate,
    endDay: request.endDate,
    ...sealParams(days.seals),
    ...spanParams(spans),
    ...dayRowsParams(days.open, rates),
    marketCodes: days.open.map(({ market }) => market.code),
    ...Object.fromEntries(
      Object.entries(names).flatMap(([kind, entries]) => [
        [`${kind}Ids`, [0, ...entries.map((entry) => entry.id)]],
        [`${kind}Names`, ['', ...entries.map((entry) => entry.name)]],
      ])
    ),
    ...filterParams(request, catalog),
  }
}
