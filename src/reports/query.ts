// Builds the query of a report. Values are bound; the only text that varies comes from closed lists in this
// file.

import type { OrderByColumn, ReportRequest } from '../contract/report-request.ts'
import { daysBetween } from '../domain/day.ts'
import type { Params } from '../warehouse/warehouse.ts'
import { boundAdvertiserSql } from './bound-advertiser.ts'
import type { CatalogNames } from '../catalog/catalog-names.ts'
import { dayPartsSql, dayRowsParams, profilePrefix } from '../days/day-rows.ts'
import { openRowsSql } from '../days/open-rows.ts'
import { filterParams, productConditions, productKeyConditions, rowConditions } from './filters.ts'
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
  /** True: amounts of open days are converted. False: they are counted as unconverted, which is much faster. */
  readonly converts: boolean
}

export function buildReportQuery(source: QuerySource): ReportQuery {
  const { request } = source
  return {
    sql: `
SELECT if(product_gtin = '', seen_gtin, product_gtin) AS gtin, title, brand,
  market_id, publisher_id, campaign_id, ad_group_id, ${request.dateBreakdown ? 'toString(day)' : 'NULL'},
  loads, impressions, clicks, conversions, toString(units_sold), toString(conversion_value), toString(spend),
  count() OVER () AS total_rows, toString(sum(unconverted) OVER ()) AS total_unconverted,
  ${boundAdvertiserSql}
${fromProductsSql(source)}
ORDER BY ${orderTerms(request).join(', ')}
LIMIT ${reachableRows(request.limit)}
SETTINGS ${reportSettings}`,
    params: reportParams(source),
  }
}

// Each served ad and each purchase is in one partition, so FINAL need not merge across partitions. Without
// this setting a report over months is several times slower.
export const reportSettings = 'join_use_nulls = 0, do_not_merge_across_partitions_select_final = 1'

/**
 * The rows of the report without products, of sealed and open days together, in no order. By day, a row of a sealed
 * day is one of the report, so those are not added up: that took as long as sorting all of them.
 */
function rowsSql(source: QuerySource, withOrders = false): string {
  const { request, days, spans } = source
  const isReady = request.dateBreakdown && days.areSealsWhole
  const sealed = days.seals.length === 0 ? [] : [sealedRows(request)]
  const parts = [
    ...(isReady ? [] : sealed),
    ...(spans.length === 0 ? [] : [spanRows(request)]),
    ...(days.hasOpenDays ? [openRows(source)] : []),
  ]
  const named = { isByDay: request.dateBreakdown, withOrders }
  const ready = isReady ? sealed.map((rows) => readyRows(rows, named)) : []
  const addedUp = parts.length > 0 ? [addedUpRows(parts.join(' UNION ALL '), named)] : []
  if (ready.length + addedUp.length === 0) return addedUpRows(openRows(source), named)
  return [...ready, ...addedUp].join(' UNION ALL ')
}

interface Named {
  readonly isByDay: boolean
  readonly withOrders: boolean
}

function keyColumns({ isByDay }: Named): string {
  return `market_id, publisher_id, campaign_id, ad_group_id, gtin_key${isByDay ? ', day' : ''}`
}

function readyRows(rows: string, named: Named): string {
  return `
  SELECT ${keyColumns(named)}, gtin_seen AS seen_gtin, loads, impressions, clicks, conversions, units AS units_sold,
    value AS conversion_value, spend, unconverted${named.withOrders ? ', orders' : ''}
  FROM (${rows})`
}

function addedUpRows(rows: string, named: Named): string {
  return `
  SELECT ${keyColumns(named)}, min(gtin_seen) AS seen_gtin,
    sum(loads) AS loads, sum(impressions) AS impressions, sum(clicks) AS clicks,
    sum(conversions) AS conversions, sum(units) AS units_sold,
    sum(value) AS conversion_value, sum(spend) AS spend, sum(unconverted) AS unconverted
    ${named.withOrders ? ', sum(orders) AS orders' : ''}
  FROM (${rows})
  GROUP BY ${keyColumns(named)}`
}

/** Selects the columns of the request's profile. */
function figures(request: ReportRequest, day: 'day' | 'first_day AS day' = 'day'): string {
  const prefix = profilePrefix[request.attributionProfile]
  return `market_id, publisher_id, campaign_id, ad_group_id, gtin_key, ${day},
    ${prefix}_gtin AS gtin_seen, loads, impressions, clicks,
    ${prefix}_conversions AS conversions, ${prefix}_units AS units, ${prefix}_value AS value,
    spend, spend_unconverted + ${prefix}_unconverted AS unconverted, ${prefix}_orders AS orders`
}

/**
 * Rows that have figures in the profile, and with them a GTIN: the others, of other profiles, have none. Without a
 * figure there is nothing to add.
 */
function hasFigures(request: ReportRequest): string {
  const prefix = profilePrefix[request.attributionProfile]
  return `loads + impressions + clicks + ${prefix}_conversions > 0`
}

function openRows({ request, days, converts }: QuerySource): string {
  const condition = rowConditions(request)
  const profile = request.attributionProfile
  if (request.dateBreakdown || converts || !days.open.every(isWithoutGaps)) {
    return `SELECT ${figures(request)} FROM (${dayPartsSql({ profiles: [profile], condition })})`
  }
  return `SELECT market_id, publisher_id, campaign_id, ad_group_id, gtin_key, toDate(0) AS day, seen_gtin AS gtin_seen,
    loads, impressions, clicks, conversions, units, value, spend, unconverted, toUInt64(0) AS orders
  FROM (${openRowsSql({ profile, condition })})`
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
    AND ${hasFigures(request)}
    AND ${rowConditions(request)}`
}

/** Weeks and months under their first day. No two of them begin on one day, because none is covered twice. */
function spanRows(request: ReportRequest): string {
  return `
  SELECT ${figures(request, 'first_day AS day')}
  FROM product_span
  WHERE advertiser_id = {advertiserId:Int32}
    AND first_day >= {startDay:Date} AND first_day <= {endDay:Date}
    AND revision IN {spanRevisions:Array(UInt64)}
    AND revision = ${revisionOf('unit', 'first_day', 'span')}
    AND ${hasFigures(request)}
    AND ${rowConditions(request)}`
}

/**
 * The filtered rows with their products: the names, and the catalog's spelling of the GTIN if there is one. The rows of
 * the report are on the right, where ClickHouse builds its hash table, and the catalog streams past them. The other way
 * around, every product of the market was held in memory: for a million products that took 1.7 s and 300 MB instead of
 * 0.3 s.
 */
function fromProductsSql(source: QuerySource, withOrders = false): string {
  return `FROM (
    SELECT market_id AS product_market_id, gtin_key AS product_key, gtin AS product_gtin, title, brand
    FROM product FINAL
    WHERE market_id IN {marketIds:Array(Int32)} AND ${productKeyConditions(source.request)}
  ) AS p
  RIGHT JOIN (${rowsSql(source, withOrders)}) AS g
    ON p.product_market_id = g.market_id AND p.product_key = g.gtin_key
  WHERE ${productConditions(source.request)}`
}

/** The filtered rows with orders and without names, for callers that sum them. */
export function reportRowsSql(source: QuerySource): string {
  if (productConditions(source.request) === '1') return rowsSql(source, true)
  return `SELECT g.* ${fromProductsSql(source, true)}`
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
  const ties = ['gtin_key', 'market_id', 'publisher_id', 'campaign_id', 'ad_group_id']
  if (request.dateBreakdown) ties.push('day')
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
