// Lists what an advertiser was credited, line by line: the purchases behind CONVERSIONS, UNITS_SOLD and
// CONVERSION_VALUE of its report. It is always read from the attributions, also for sealed days.

import type { CreditRule } from '../contract/explanation.ts'
import type { AttributionProfile, AttributionRule, SortType } from '../contract/report-request.ts'
import { minorDigits } from '../domain/currency.ts'
import { listDays } from '../domain/day.ts'
import { formatAmount, readNanos } from '../domain/money.ts'
import { assert } from '../lib/assert.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { boundAdvertiserSql } from './bound-advertiser.ts'
import type { CatalogNames } from '../catalog/catalog-names.ts'
import { attributedRowsSql, creditedLinesSql, dayRowsParams } from '../days/day-rows.ts'
import { readFinalDays } from '../days/final-days.ts'
import type { KeptPages } from './kept-pages.ts'
import { questionOf } from './kept-pages.ts'
import { answerPage, reachableRows } from './paged.ts'
import type { Computed, PagedResult } from './paged.ts'
import { loadRates } from '../days/rates.ts'
import { marketOf, namesById } from './report-rows.ts'
import { listUnits } from '../days/market-days.ts'

/** One credited line, as printed. */
export interface AttributionRow {
  /** ISO day of the purchase in the market's time zone. */
  readonly date: string
  readonly purchasedAtMs: number
  readonly market: string
  readonly publisherId: number
  readonly publisherName: string
  readonly transactionId: string
  /** From 1. */
  readonly line: number
  readonly purchasedGtin: string
  readonly campaignId: number
  readonly adGroupId: number
  readonly advertisedGtin: string
  readonly rule: CreditRule
  readonly touchedAtMs: number
  readonly units: string
  /** Exact, in the market's currency; '' without a rate. */
  readonly conversionValue: string
  readonly currency: string
  /** 32 hex digits. */
  readonly servedAdId: string
}

export interface AttributionsRequest {
  /** ISO days in the market's time zone, both included. */
  readonly startDate: string
  readonly endDate: string
  readonly attributionProfile: AttributionProfile
  readonly page: number
  readonly limit: number
  readonly sortType: SortType
  readonly publisherId?: number | undefined
  readonly rule?: AttributionRule | undefined
  readonly transactionId?: string | undefined
}

export interface AttributionsCall {
  readonly advertiserId: number
  readonly request: AttributionsRequest
  readonly keyId: string
  readonly signal: AbortSignal
}

export type AttributionsResult = PagedResult<AttributionRow>

/** Days before this one are final: their attributions are dropped, and only the sums are left. */
export interface FinalDaysAsked {
  readonly finalBefore: string
}

/** Resolves with the whole page. */
export type ListAttributions = (
  call: AttributionsCall
) => Promise<AttributionsResult | FinalDaysAsked>

export interface AttributionsDeps {
  readonly warehouse: Pick<Warehouse, 'rows' | 'stream' | 'barrier'>
  readonly catalog: () => CatalogNames
  readonly keptPages: KeptPages
}

export function createAttributionsLister(deps: AttributionsDeps): ListAttributions {
  return async (call) => {
    const { page, ...body } = call.request
    const { announcedBefore } = await readFinalDays(deps.warehouse)
    if (announcedBefore !== null && body.startDate < announcedBefore) {
      return { finalBefore: announcedBefore }
    }
    const question = questionOf(['attributions', call.keyId, call.advertiserId, body])
    const asked = { question, owner: call.keyId, page, limit: body.limit, signal: call.signal }
    return await answerPage(deps.keptPages, asked, (signal) => compute(deps, { ...call, signal }))
  }
}

async function compute(
  { warehouse, catalog }: AttributionsDeps,
  { advertiserId, request, signal }: AttributionsCall
): Promise<Computed<AttributionRow>> {
  const { startDate, endDate, attributionProfile } = request
  const names = catalog()
  const days = listDays(startDate, endDate)
  const asked = listUnits(names.markets()).map((market) => ({ market, days }))
  await warehouse.barrier(['attribution', 'delivery', 'product', 'rate'])
  const rates = await loadRates(warehouse, { first: startDate, last: endDate })
  const params = { advertiserId, ...dayRowsParams(asked, rates), ...filterParams(request) }
  const sql = listSql(attributionProfile, request)
  return {
    advertiserId,
    blocks: warehouse.stream(sql, params, signal),
    readTotals: (row) => {
      const { totalRows, unconvertedCount } = row === null ? noRows : readRow(row)
      return { totalRows, unconvertedCount, completeThrough: null }
    },
    format: createRowFormat(names),
  }
}

const noRows = { totalRows: 0, unconvertedCount: 0 }

/**
 * The credited lines are on the right of both joins, where ClickHouse builds its hash table; deliveries and
 * products stream past them. A delivery that was shipped twice shows once.
 */
function listSql(profile: AttributionProfile, request: AttributionsRequest): string {
  const scope = { advertisers: 'one', profiles: [profile], condition: '1' } as const
  return `
SELECT toString(day), instant_ms, market_id, publisher_id, transaction_id, line_index, purchased_gtin,
  campaign_id, ad_group_id, if(p.gtin = '', l.gtin, p.gtin), rule, toUnixTimestamp64Milli(touched_at),
  quantity, toString(converted), toUInt8(is_unconverted), lower(hex(served_ad_id)),
  count() OVER () AS total_rows, toUInt64(sum(is_unconverted) OVER ()) AS total_unconverted,
  ${boundAdvertiserSql}
FROM (
  SELECT market_id AS product_market_id, gtin_key AS product_key, gtin
  FROM product FINAL WHERE market_id IN {marketIds:Array(Int32)}
) AS p
RIGHT JOIN (
  SELECT c.*, d.line_gtin[c.line_index + 1] AS purchased_gtin
  FROM (
    SELECT delivery_id AS lines_of, line_gtin FROM delivery
    WHERE (day, publisher_id, purchase_key, delivery_id) IN (
      SELECT day, publisher_id, purchase_key, delivery_id FROM (${attributedRowsSql(scope)})
    )
    LIMIT 1 BY delivery_id
  ) AS d
  RIGHT JOIN (
    SELECT * FROM (${creditedLinesSql(scope, true)}) WHERE ${filterSql(request)}
  ) AS c ON d.lines_of = c.delivery_id
) AS l ON p.product_market_id = l.market_id AND p.product_key = l.gtin_key
ORDER BY instant_ms ${request.sortType}, purchase_key, line_index
LIMIT ${reachableRows(request.limit)}
SETTINGS join_use_nulls = 0, do_not_merge_across_partitions_select_final = 1`
}

const rulesByName = {
  DIRECT_CLICK: 'direct',
  IN_GROUP_CLICK: 'in-group',
  VIEW: 'view',
} as const satisfies Record<AttributionRule, CreditRule>

type Filters = Pick<AttributionsRequest, 'publisherId' | 'rule' | 'transactionId'>

function filterSql({ publisherId, rule, transactionId }: Filters): string {
  const conditions = [
    ...(publisherId === undefined ? [] : ['publisher_id = {publisherId:Int32}']),
    ...(rule === undefined ? [] : ['rule = {rule:String}']),
    ...(transactionId === undefined ? [] : ['transaction_id = {transactionId:String}']),
  ]
  return conditions.length === 0 ? '1' : conditions.join(' AND ')
}

function filterParams({ publisherId, rule, transactionId }: Filters) {
  return {
    ...(publisherId !== undefined && { publisherId }),
    ...(rule !== undefined && { rule: rulesByName[rule] }),
    ...(transactionId !== undefined && { transactionId }),
  }
}

interface AnswerRow {
  readonly day: string
  readonly purchasedAtMs: number
  readonly marketId: number
  readonly publisherId: number
  readonly transactionId: string
  readonly lineIndex: number
  readonly purchasedGtin: string
  readonly campaignId: number
  readonly adGroupId: number
  readonly advertisedGtin: string
  readonly rule: CreditRule
  readonly touchedAtMs: number
  readonly quantity: number
  readonly value: string
  readonly isUnconverted: number
  readonly servedAdId: string
  readonly totalRows: number
  readonly unconvertedCount: number
  readonly boundAdvertiserId: number
}

/** In the order of the statement. */
const answerColumns = [
  'day',
  'purchasedAtMs',
  'marketId',
  'publisherId',
  'transactionId',
  'lineIndex',
  'purchasedGtin',
  'campaignId',
  'adGroupId',
  'advertisedGtin',
  'rule',
  'touchedAtMs',
  'quantity',
  'value',
  'isUnconverted',
  'servedAdId',
  'totalRows',
  'unconvertedCount',
  'boundAdvertiserId',
] as const satisfies readonly (keyof AnswerRow)[]

function readRow(values: readonly unknown[]): AnswerRow {
  assert(values.length === answerColumns.length, 'the warehouse answers the columns asked for')
  // The types are those of the statement above, which ClickHouse keeps to; tests compare each column.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(
    answerColumns.map((name, index) => [name, values[index]])
  ) as unknown as AnswerRow
}

function createRowFormat(catalog: CatalogNames): (values: readonly unknown[]) => AttributionRow {
  const markets = new Map(catalog.markets().map((market) => [market.id, market]))
  const publishers = namesById(catalog.publishers())
  return (values) => {
    const { day, marketId, lineIndex, quantity, value, isUnconverted, ...row } = readRow(values)
    const { totalRows: _rows, unconvertedCount: _count, boundAdvertiserId: _bound, ...shown } = row
    const place = marketOf(markets, marketId)
    return {
      ...shown,
      ...place,
      date: day,
      publisherName: publishers.get(row.publisherId) ?? '',
      line: lineIndex + 1,
      units: String(quantity),
      conversionValue:
        isUnconverted === 1 ? '' : formatAmount(readNanos(value), minorDigits(place.currency)),
    }
  }
}
