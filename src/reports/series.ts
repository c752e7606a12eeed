// A report day by day and as a whole, for charts and headings: the rows themselves stay in the engine.

import type { ReportRequest } from '../contract/report-request.ts'
import { minorDigits } from '../domain/currency.ts'
import { nanosScale } from '../domain/money.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import type { CatalogNames } from './catalog-names.ts'
import { reportParams, reportRowsSql, reportSettings, type QuerySource } from './query.ts'
import { loadRates, noRates } from './rates.ts'
import { readParts, spanOf } from './run-report.ts'

/** Sums of the rows of a report as they are printed. */
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
  /** Null: of all days, by the rows of the report without a breakdown by date. */
  readonly day: string | null
  /** Empty: of markets that the catalog does not know. */
  readonly currency: string
}

export interface SeriesResult {
  /** By day, then by currency; days without a row are left out. */
  readonly days: readonly SeriesSums[]
  readonly totals: readonly SeriesSums[]
  readonly completeThrough: string | null
  readonly unconvertedCount: number
}

export interface SeriesCall {
  readonly advertiserId: number
  /** Paging, order and breakdown are of no effect. */
  readonly request: ReportRequest
  readonly signal: AbortSignal
}

export type ReadSeries = (call: SeriesCall) => Promise<SeriesResult>

export interface SeriesDeps {
  readonly warehouse: Warehouse
  readonly catalog: () => CatalogNames
}

export function createSeriesReader(deps: SeriesDeps): ReadSeries {
  return async ({ advertiserId, request, signal }) => {
    const read = async (dateBreakdown: boolean) => {
      signal.throwIfAborted()
      const asked = { ...request, dateBreakdown }
      const { days, spans } = await readParts(deps, { request: asked })
      const rates = days.hasOpenDays ? await loadRates(deps.warehouse, spanOf(days.open)) : noRates
      const catalog = deps.catalog()
      const source = { advertiserId, request: asked, catalog, days, spans, rates }
      return { ...(await readSums(deps.warehouse, source)), completeThrough: days.completeThrough }
    }
    // One after the other: a reader of charts should not take two sessions of the warehouse.
    const byDay = await read(true)
    const whole = await read(false)
    return {
      days: byDay.sums,
      totals: whole.sums,
      completeThrough: whole.completeThrough,
      unconvertedCount: whole.unconvertedCount,
    }
  }
}

interface SumsRow {
  readonly day: string | null
  readonly currency: string
  readonly impressions: string
  readonly clicks: string
  readonly loads: string
  readonly conversions: string
  readonly units_sold: string
  readonly value_nanos: string
  readonly spend_nanos: string
  readonly unconverted: string
}

async function readSums(warehouse: SeriesDeps['warehouse'], source: QuerySource) {
  const markets = source.catalog.markets()
  const rows = await warehouse.rows<SumsRow>(sumsSql(source), {
    ...reportParams(source),
    // 0 stands first so that no list is empty; no market has that id.
    sumMarketIds: [0, ...markets.map((market) => market.id)],
    sumCurrencies: ['', ...markets.map((market) => market.currency)],
    sumUnits: [unitNanos(''), ...markets.map((market) => unitNanos(market.currency))],
    sumUnitDefault: unitNanos(''),
  })
  return {
    sums: rows.map(toSums),
    unconvertedCount: rows.reduce((sum, row) => sum + Number(row.unconverted), 0),
  }
}

/** Nanos of the smallest amount that is printed: 10,000,000 for cents. */
function unitNanos(currency: string): number {
  return 10 ** (nanosScale - minorDigits(currency))
}

function toSums(row: SumsRow): SeriesSums {
  return {
    day: row.day,
    currency: row.currency,
    impressions: BigInt(row.impressions),
    clicks: BigInt(row.clicks),
    loads: BigInt(row.loads),
    conversions: BigInt(row.conversions),
    unitsSold: BigInt(row.units_sold),
    valueNanos: BigInt(row.value_nanos),
    spendNanos: BigInt(row.spend_nanos),
  }
}

// 731 days in as many currencies as a catalog of markets has.
const sumsMax = 200_000

/**
 * Each row is rounded as it is printed before it is added, so that whoever adds the column of the CSV
 * gets the same. The engine rounds decimals away from zero only, so half even is spelled out.
 */
function sumsSql(source: QuerySource): string {
  return `
SELECT toString(day) AS day, currency,
  toString(sum(impressions)) AS impressions, toString(sum(clicks)) AS clicks,
  toString(sum(loads)) AS loads, toString(sum(conversions)) AS conversions,
  toString(sum(units_sold)) AS units_sold,
  toString(sum(${printed('conversion_value')})) AS value_nanos,
  toString(sum(${printed('spend')})) AS spend_nanos,
  toString(sum(row_unconverted)) AS unconverted
FROM (
  SELECT day, impressions, clicks, loads, conversions, units_sold, unconverted AS row_unconverted,
    toInt128(conversion_value * 1000000000) AS conversion_value_nanos,
    toInt128(spend * 1000000000) AS spend_nanos_exact,
    transform(market_id, {sumMarketIds:Array(Int32)}, {sumCurrencies:Array(String)}, '') AS currency,
    toInt128(transform(market_id, {sumMarketIds:Array(Int32)}, {sumUnits:Array(Int64)}, {sumUnitDefault:Int64}))
      AS unit_nanos
  FROM (${reportRowsSql(source)})
)
GROUP BY day, currency
ORDER BY day, currency
LIMIT ${sumsMax}
SETTINGS ${reportSettings}`
}

/** By size and sign, as half even is the same on both sides of zero and plain division is not. */
function printed(column: 'conversion_value' | 'spend'): string {
  const nanos = column === 'spend' ? 'spend_nanos_exact' : 'conversion_value_nanos'
  const size = `if(${nanos} < 0, -${nanos}, ${nanos})`
  const units = `intDiv(${size}, unit_nanos)`
  const doubledRest = `(2 * (${size} - ${units} * unit_nanos))`
  const isUp = `(${doubledRest} > unit_nanos OR (${doubledRest} = unit_nanos AND ${units} % 2 = 1))`
  return `if(${nanos} < 0, -1, 1) * (${units} + toInt128(${isUp})) * unit_nanos`
}
