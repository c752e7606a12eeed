// Reads a report as sums by day and in total, for charts and headings. The rows stay in the warehouse.

import type { ReportRequest } from '../contract/report-request.ts'
import { readNanos } from '../domain/money.ts'
import { assert } from '../lib/assert.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { assertAnswersFor, boundAdvertiserSql } from './bound-advertiser.ts'
import type { CatalogNames } from '../catalog/catalog-names.ts'
import { readFilteredOrders, type CountOrders } from './orders.ts'
import { reportParams, reportRowsSql, reportSettings, type QuerySource } from './query.ts'
import { DayFacts } from '../days/day-facts.ts'
import { areKept, readKept } from '../days/kept-revisions.ts'
import { loadRates, noRates } from '../days/rates.ts'
import { readParts, rangeOf } from './run-report.ts'
import type { FactDeps } from './run-report.ts'

/** Exact sums of the rows of a report. */
export interface ReportSums {
  readonly impressions: bigint
  readonly clicks: bigint
  readonly loads: bigint
  readonly conversions: bigint
  readonly unitsSold: bigint
  readonly valueNanos: bigint
  readonly spendNanos: bigint
}

export interface SeriesSums extends ReportSums {
  /** Empty for markets that the catalog does not know. */
  readonly currency: string
  /** Distinct purchases; null if they can no longer be counted. */
  readonly orders: bigint | null
}

export interface DaySums extends SeriesSums {
  readonly day: string
}

export interface SeriesResult {
  /** By day, then by currency; days without rows are left out. */
  readonly days: readonly DaySums[]
  /** The sums of all days, by currency. */
  readonly totals: readonly SeriesSums[]
  readonly completeThrough: string | null
  /** Days that received events after they were sealed, oldest first. */
  readonly renewingDays: readonly string[]
  readonly unconvertedCount: number
}

export interface SeriesCall {
  readonly advertiserId: number
  /** Paging, order and breakdown have no effect. */
  readonly request: ReportRequest
  readonly signal: AbortSignal
}

export type ReadSeries = (call: SeriesCall) => Promise<SeriesResult>

export interface SeriesDeps {
  readonly warehouse: Warehouse
  readonly catalog: () => CatalogNames
}

/**
 * One reading by day gives the totals too: every figure is exact and belongs to one day, so the sums of the
 * days are those of the report without a breakdown.
 */
export function createSeriesReader(given: SeriesDeps): ReadSeries {
  const deps = { ...given, facts: new DayFacts(given.warehouse) }
  return (call) => readKept(() => readOnce(deps, call))
}

/** Null if the sealed days were replaced so long ago that their rows may be gone. */
async function readOnce(
  deps: SeriesDeps & FactDeps,
  { advertiserId, request, signal }: SeriesCall
): Promise<SeriesResult | null> {
  signal.throwIfAborted()
  const byDay = { ...request, dateBreakdown: true }
  const { days, spans } = await readParts(deps, byDay)
  const rates = days.hasOpenDays ? await loadRates(deps.warehouse, rangeOf(days.open)) : noRates
  const catalog = deps.catalog()
  const source = { advertiserId, request: byDay, catalog, days, spans, rates, converts: true }
  const rows = await readSums(deps.warehouse, source)
  signal.throwIfAborted()
  const filteredOrders =
    request.filters.length === 0 ? null : await readFilteredOrders(deps.warehouse, source)
  if (!(await areKept(deps.warehouse, { ...days, spans }))) return null
  const sums = rows.map((row) => toSums(row, { filteredOrders, days }))
  return {
    days: sums,
    totals: addUp(sums),
    completeThrough: days.completeThrough,
    renewingDays: days.renewingDays,
    unconvertedCount: rows.reduce((sum, row) => sum + Number(row.unconverted), 0),
  }
}

interface SumsRow {
  readonly day: string
  readonly currency: string
  readonly impressions: string
  readonly clicks: string
  readonly loads: string
  readonly conversions: string
  readonly orders: string
  readonly units_sold: string
  readonly value: string
  readonly spend: string
  readonly unconverted: string
  readonly bound_advertiser_id: number
}

async function readSums(warehouse: SeriesDeps['warehouse'], source: QuerySource) {
  const markets = source.catalog.markets()
  const rows = await warehouse.rows<SumsRow>(sumsSql(source), {
    ...reportParams(source),
    // 0 comes first so that no list is empty; no market has that id.
    sumMarketIds: [0, ...markets.map((market) => market.id)],
    sumCurrencies: ['', ...markets.map((market) => market.currency)],
  })
  for (const row of rows) assertAnswersFor(source.advertiserId, row.bound_advertiser_id)
  assert(rows.length < sumsMax, 'the sums of days and currencies fit into the list')
  return rows
}

interface OrdersSource {
  readonly filteredOrders: CountOrders | null
  readonly days: QuerySource['days']
}

function toSums(row: SumsRow, { filteredOrders, days }: OrdersSource): DaySums {
  const summed = days.withoutOrders.has(row.day) ? null : BigInt(row.orders)
  return {
    day: row.day,
    currency: row.currency,
    impressions: BigInt(row.impressions),
    clicks: BigInt(row.clicks),
    loads: BigInt(row.loads),
    conversions: BigInt(row.conversions),
    orders: filteredOrders === null ? summed : filteredOrders(row.day, row.currency),
    unitsSold: BigInt(row.units_sold),
    valueNanos: BigInt(readNanos(row.value)),
    spendNanos: BigInt(readNanos(row.spend)),
  }
}

function addUp(days: readonly DaySums[]): readonly SeriesSums[] {
  const totals = new Map<string, SeriesSums>()
  for (const { day: _day, ...sums } of days) {
    const known = totals.get(sums.currency)
    totals.set(sums.currency, known === undefined ? sums : add(known, sums))
  }
  return [...totals.values()].toSorted((one, other) => (one.currency < other.currency ? -1 : 1))
}

function add(one: SeriesSums, other: SeriesSums): SeriesSums {
  return {
    currency: one.currency,
    impressions: one.impressions + other.impressions,
    clicks: one.clicks + other.clicks,
    loads: one.loads + other.loads,
    conversions: one.conversions + other.conversions,
    orders: one.orders === null || other.orders === null ? null : one.orders + other.orders,
    unitsSold: one.unitsSold + other.unitsSold,
    valueNanos: one.valueNanos + other.valueNanos,
    spendNanos: one.spendNanos + other.spendNanos,
  }
}

// Holds 731 days in the currencies of all markets.
const sumsMax = 200_000

function sumsSql(source: QuerySource): string {
  return `
SELECT toString(day) AS day, currency,
  toString(sum(impressions)) AS impressions, toString(sum(clicks)) AS clicks,
  toString(sum(loads)) AS loads, toString(sum(conversions)) AS conversions,
  toString(sum(orders)) AS orders, toString(sum(units_sold)) AS units_sold,
  toString(sum(conversion_value)) AS value, toString(sum(row_spend)) AS spend,
  toString(sum(row_unconverted)) AS unconverted, ${boundAdvertiserSql}
FROM (
  SELECT day, impressions, clicks, loads, conversions, orders, units_sold, conversion_value,
    spend AS row_spend, unconverted AS row_unconverted,
    transform(market_id, {sumMarketIds:Array(Int32)}, {sumCurrencies:Array(String)}, '') AS currency
  FROM (${reportRowsSql(source)})
)
GROUP BY day, currency
ORDER BY day, currency
LIMIT ${sumsMax}
SETTINGS ${reportSettings}`
}
