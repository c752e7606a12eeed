// Builds the query of a report by groups: the rows of the report, added up by some of their keys and by currency. Orders
// cannot be added up over groups, so they come from the attributions, as rows of their own that are added to the others.

import { anyCaseSql } from '../domain/any-case.ts'
import type { Grouping, GroupRequest } from '../contract/group-request.ts'
import { listDays } from '../domain/day.ts'
import type { Params } from '../warehouse/warehouse.ts'
import { boundAdvertiserSql } from './bound-advertiser.ts'
import { linesOfAdvertisersSql } from '../days/day-rows.ts'
import { productConditions, productKeyConditions, rowConditions } from './filters.ts'
import { placeInDaysSql, placeParams, runsOf } from '../days/market-days.ts'
import {
  addedUpInOneSql,
  inTargetSql,
  noTargetSql,
  sumsByCurrencySql,
  unknownLast,
} from './groups-in-one.ts'
import { orderTerms } from './order.ts'
import { reachableRows } from './paged.ts'
import {
  fromProductsSql,
  reportParams,
  reportSettings,
  rowKeysOf,
  rowsByKeysSql,
  type ReportQuery,
  type RowKey,
  type RowsQuestion,
  type RowsSource,
} from './query.ts'
import { currencyParams } from './summed-rows.ts'

export type GroupsQuestion = RowsQuestion &
  Pick<GroupRequest, 'groupBy' | 'orderBy' | 'sortType' | 'limit' | 'currency'>

export interface GroupsSource extends RowsSource {
  readonly request: GroupsQuestion
  /** Whether the orders of groups are counted. */
  readonly withOrders: boolean
  /** Binds the currency in which the amounts of a group are added up; absent if each has a row of its own. */
  readonly target?: Params
  /** On the columns of the answer, from a closed list. */
  readonly condition?: string
}

export type GroupKey = RowKey | 'brand_key'

const keysOfGrouping = {
  CAMPAIGN: ['campaign_id'],
  AD_GROUP: ['campaign_id', 'ad_group_id'],
  PRODUCT: ['gtin_key'],
  BRAND: ['brand_key'],
  PUBLISHER: ['publisher_id'],
  MARKET: ['market_id'],
  DATE: ['day'],
} as const satisfies Record<Grouping, readonly GroupKey[]>

function keysOf({ groupBy }: GroupsQuestion): readonly GroupKey[] {
  return [...new Set(groupBy.flatMap((grouping) => keysOfGrouping[grouping]))]
}

export function buildGroupsQuery(source: GroupsSource): ReportQuery {
  const { request, condition = '1' } = source
  const keys = keysOf(request)
  const isConverted = source.target !== undefined
  const ties = [...keys, 'currency']
  const order = [...(isConverted ? unknownLast(request) : []), ...orderTerms(request, ties)]
  return {
    sql: `
SELECT ${columnsSql(keys)},
  loads, impressions, clicks, conversions, toString(units_sold), toString(conversion_value), toString(spend),
  currency, toString(orders), ${sumsByCurrencySql(isConverted)} AS sums,
  count() OVER () AS total_rows, toString(sum(unconverted) OVER ()) AS total_unconverted,
  ${isConverted ? 'own_sums' : `''`}, ${boundAdvertiserSql}
FROM (${addedUpSql(source, keys)})
WHERE ${condition}${onlyCurrencySql(request)}
ORDER BY ${order.join(', ')}
LIMIT ${reachableRows(request.limit)}
SETTINGS ${reportSettings}`,
    params: groupsParams(source),
  }
}

/** The last step: before it, an order is placed by its first line in whatever currency, as in series.json. */
function onlyCurrencySql({ currency }: GroupsQuestion): string {
  return currency === undefined ? '' : ' AND currency = {onlyCurrency:String}'
}

/** Columns that say what a row is of, in the order of the report; those that it does not have are empty. */
function columnsSql(keys: readonly GroupKey[]): string {
  const id = (key: GroupKey) => (keys.includes(key) ? key : '0')
  return `gtin, title, brand, ${id('market_id')}, ${id('publisher_id')}, ${id('campaign_id')}, ${id('ad_group_id')},
  ${keys.includes('day') ? 'toString(day)' : 'NULL'}`
}

function addedUpSql(source: GroupsSource, keys: readonly GroupKey[]): string {
  const parts = [figuresSql(source, keys), ...(source.withOrders ? [ordersSql(source, keys)] : [])]
  const rows = parts.join(' UNION ALL ')
  const names = namesSql(source.request)
  if (source.target !== undefined) return addedUpInOneSql(rows, { keys, names })
  const by = [...keys, 'currency'].join(', ')
  return `
  SELECT ${by}, ${names},
    sum(loads) AS loads, sum(impressions) AS impressions, sum(clicks) AS clicks, sum(conversions) AS conversions,
    sum(units_sold) AS units_sold, sum(conversion_value) AS conversion_value, sum(spend) AS spend,
    sum(unconverted) AS unconverted, sum(orders) AS orders, sum(first_orders) AS first_orders
  FROM (${rows})
  GROUP BY ${by}`
}

/** A product has the names of the first of its markets in which the catalog has it. */
function namesSql({ groupBy }: GroupsQuestion): string {
  const hasProduct = groupBy.includes('PRODUCT')
  const hasBrand = groupBy.includes('BRAND')
  if (!hasProduct) return `'' AS gtin, '' AS title, ${hasBrand ? 'min(brand_name)' : `''`} AS brand`
  return `argMinIf((product_gtin, product_title, brand_name), named_in, product_gtin != '') AS named,
    multiIf(named.1 != '', named.1, max(seen_gtin) != '', minIf(seen_gtin, seen_gtin != ''), gtin_key) AS gtin,
    named.2 AS title, named.3 AS brand`
}

function needsProducts(request: GroupsQuestion): boolean {
  const { groupBy } = request
  return (
    groupBy.includes('PRODUCT') || groupBy.includes('BRAND') || productConditions(request) !== '1'
  )
}

const currencySql = `transform(market_id, {sumMarketIds:Array(Int32)}, {sumCurrencies:Array(String)}, '')`

/** The rows of the report, by no more keys than are needed: what is converted is each of the rows by day. */
function figuresSql(source: GroupsSource, keys: readonly GroupKey[]): string {
  const { request, target } = source
  const withProducts = needsProducts(request)
  const stored = new Set<RowKey>(['market_id', ...(withProducts ? ['gtin_key' as const] : [])])
  for (const key of keys) if (key !== 'brand_key') stored.add(key)
  const rows = rowsByKeysSql(source, target === undefined ? [...stored] : rowKeysOf(request))
  const select = `
    SELECT ${keys.map(selected).join(', ')}, ${currencySql} AS currency, ${namesOfRowsSql(request)}
      loads, impressions, clicks, conversions, units_sold, conversion_value, spend, unconverted,
      toUInt64(0) AS orders, toUInt64(0) AS first_orders`
  const from = withProducts ? fromProductsSql(source, rows) : `FROM (${rows})`
  return target === undefined ? `${select} ${from}` : inTargetSql({ select, from }, keys)
}

function selected(key: GroupKey): string {
  return key === 'brand_key' ? `${anyCaseSql('brand')} AS brand_key` : key
}

function namesOfRowsSql({ groupBy }: GroupsQuestion): string {
  if (groupBy.includes('PRODUCT')) {
    return `market_id AS named_in, seen_gtin, product_gtin, title AS product_title, brand AS brand_name,`
  }
  return groupBy.includes('BRAND') ? 'brand AS brand_name,' : ''
}

/** The names of rows that have none: what is of a product comes with the figures. */
function noNamesSql({ groupBy }: GroupsQuestion): string {
  if (groupBy.includes('PRODUCT')) {
    return `market_id AS named_in, '' AS seen_gtin, '' AS product_gtin, '' AS product_title, '' AS brand_name,`
  }
  return groupBy.includes('BRAND') ? 'own_brand AS brand_name,' : ''
}

/**
 * One row for each order of a group, at its first line in it, and `first_orders` for the group that has the first one
 * of all. This is what series.json counts under filters that name the group, and without them.
 */
function ordersSql({ request, target }: GroupsSource, keys: readonly GroupKey[]): string {
  const groups = keys.filter((key) => key !== 'day' && key !== 'market_id')
  const ofBrand = groups.includes('brand_key') ? ['any(brand) AS own_brand'] : []
  const byMarket = keys.includes('market_id') ? ['own_market'] : []
  const by = ['purchase_key', 'happened_at', ...groups, ...byMarket].join(', ')
  const first = `
      SELECT ${by}, argMin(own_market, line_index) AS market_id, ${[...ofBrand, 'min(line_index) AS first_line'].join(', ')}
      FROM (${linesSql(request, groups)})
      GROUP BY ${by}`
  const marked = `
      SELECT *, first_line = min(first_line) OVER (PARTITION BY purchase_key) AS is_first FROM (${first})`
  return `
    SELECT ${keys.join(', ')}, if(market_currency = '-', '', market_currency) AS currency, ${noNamesSql(request)}
      toUInt64(0) AS loads, toUInt64(0) AS impressions, toUInt64(0) AS clicks, toUInt64(0) AS conversions,
      toInt64(0) AS units_sold, toDecimal128(0, 9) AS conversion_value, toDecimal128(0, 9) AS spend,
      toUInt64(0) AS unconverted, toUInt64(1) AS orders, toUInt64(is_first) AS first_orders${target === undefined ? '' : noTargetSql}
    FROM (${placeInDaysSql(marked, { instant: 'happened_at', runs: 'asked' })})`
}

/** The credited lines that pass the filters. */
function linesSql(request: GroupsQuestion, groups: readonly GroupKey[]): string {
  const scope = {
    advertisers: 'one',
    profiles: [request.attributionProfile],
    condition: rowConditions(request),
    range: 'asked',
  } as const
  const lines = linesOfAdvertisersSql(scope, true)
  const withBrand = groups.includes('brand_key')
  if (!withBrand && productConditions(request) === '1') {
    return `SELECT *, market_id AS own_market FROM (${lines})`
  }
  return `
        SELECT l.*, l.market_id AS own_market, brand${withBrand ? `, ${anyCaseSql('brand')} AS brand_key` : ''}
        FROM (
          SELECT market_id AS product_market_id, gtin_key AS product_key, title, brand
          FROM product FINAL
          WHERE market_id IN {marketIds:Array(Int32)} AND ${productKeyConditions(request)}
        ) AS p
        RIGHT JOIN (${lines}) AS l
          ON p.product_market_id = l.market_id AND p.product_key = l.gtin_key
        WHERE ${productConditions(request)}`
}

function groupsParams(source: GroupsSource): Params {
  const { request, catalog, days } = source
  const markets = catalog.markets()
  const { startDate, endDate } = request
  const askedDays = listDays(startDate, endDate)
  const asked = days.open.map(({ market }) => ({ market, days: askedDays }))
  return {
    ...currencyParams(markets),
    ...(source.withOrders && {
      askedMin: startDate,
      askedMax: endDate,
      ...placeParams(runsOf(asked), 'asked'),
    }),
    ...source.target,
    ...(request.currency !== undefined && { onlyCurrency: request.currency }),
    ...reportParams(source),
  }
}
