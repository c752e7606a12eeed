// The rows of a report added up by the warehouse: what the statements of series and of summaries have in common.
import type { ReportMarket } from '../catalog/catalog-names.ts'
import { readNanos } from '../domain/money.ts'
import type { Params } from '../warehouse/warehouse.ts'
import {
  hasTargetSums,
  inOneCurrencySql,
  readTargetSums,
  targetSumsSql,
  type TargetSums,
} from './one-currency.ts'
import type { CurrencySums, CurrencyTotals } from './report.ts'
import { addUpByCurrency } from './sums.ts'

/** Sums as the warehouse gives them: digits, and amounts in nine digits. */
export interface SummedRow extends Partial<TargetSums> {
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
}

interface Summing {
  /** Keys of the rows that the sums are grouped by. */
  readonly keys: string
  /** A currency in which amounts are added up as well; null: none. */
  readonly convertTo: string | null
}

/** Rows of the report with the currencies of their markets, for `summedSql`. */
export function rowsToSumSql(rows: string, { keys, convertTo }: Summing): string {
  const named = `
  SELECT ${keys}, impressions, clicks, loads, conversions, orders, units_sold, conversion_value AS row_value,
    spend AS row_spend, unconverted AS row_unconverted,
    transform(market_id, {sumMarketIds:Array(Int32)}, {sumCurrencies:Array(String)}, '') AS currency
  FROM (${rows})`
  return convertTo === null ? named : inOneCurrencySql(named)
}

/** The columns of `SummedRow` besides the currency. */
export function summedSql(convertTo: string | null): string {
  return `toString(sum(impressions)) AS impressions, toString(sum(clicks)) AS clicks,
  toString(sum(loads)) AS loads, toString(sum(conversions)) AS conversions,
  toString(sum(orders)) AS orders, toString(sum(units_sold)) AS units_sold,
  toString(sum(row_value)) AS value, toString(sum(row_spend)) AS spend,
  toString(sum(row_unconverted)) AS unconverted${convertTo === null ? '' : `, ${targetSumsSql}`}`
}

/** The parameters that `rowsToSumSql` binds. */
export function currencyParams(markets: readonly ReportMarket[]): Params {
  return {
    // 0 comes first so that no list is empty; no market has that id.
    sumMarketIds: [0, ...markets.map((market) => market.id)],
    sumCurrencies: ['', ...markets.map((market) => market.currency)],
  }
}

export function toCurrencySums(row: SummedRow, orders: bigint | null): CurrencySums {
  return {
    currency: row.currency,
    impressions: BigInt(row.impressions),
    clicks: BigInt(row.clicks),
    loads: BigInt(row.loads),
    conversions: BigInt(row.conversions),
    orders,
    unitsSold: BigInt(row.units_sold),
    valueNanos: BigInt(readNanos(row.value)),
    spendNanos: BigInt(readNanos(row.spend)),
    ...(hasTargetSums(row) && { converted: readTargetSums(row) }),
  }
}

/** The totals of sums, and what is missing from each by the rows that were summed. */
export function totalsOf(
  sums: readonly CurrencySums[],
  rows: readonly SummedRow[]
): readonly CurrencyTotals[] {
  return addUpByCurrency(sums).map((total) => {
    const own = rows.filter(({ currency }) => currency === total.currency)
    return Object.assign(total, { unconvertedCount: unconvertedIn(own) })
  })
}

export function unconvertedIn(rows: readonly SummedRow[]): number {
  return rows.reduce((sum, row) => sum + Number(row.unconverted), 0)
}
