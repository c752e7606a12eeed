// Amounts of several currencies in one, at the reference rates of their days. An amount is that of a row of the report
// by day, which is the same however days are sealed: it is converted once, and everything else is a sum of these. So
// totals, days, groups and advertisers add up to the last digit, whichever report shows them.
import type { ReportMarket } from '../catalog/catalog-names.ts'
import type { DayRange } from '../days/market-days.ts'
import { atRatesSql, loadRates, rateParams } from '../days/rates.ts'
import { listDays } from '../domain/day.ts'
import { readNanos } from '../domain/money.ts'
import type { Params, Warehouse } from '../warehouse/warehouse.ts'
import type { ConvertedAmounts } from './report.ts'

/**
 * Adds to rows with `day`, `currency`, `row_value` and `row_spend`: `target_value` and `target_spend` in the currency
 * bound as `targetCurrency`, which are 0 where `is_without_rate`.
 */
export function inOneCurrencySql(rows: string): string {
  return `
  SELECT *, NOT is_same AND (from_nanos = 0 OR to_nanos = 0) AS is_without_rate,
    ${inTarget('row_value')} AS target_value, ${inTarget('row_spend')} AS target_spend
  FROM (
    SELECT *, currency = {targetCurrency:String} AS is_same,
      ${rateOf('currency')} AS from_nanos, ${rateOf('{targetCurrency:String}')} AS to_nanos
    FROM (${rows})
  )`
}

function inTarget(amount: 'row_value' | 'row_spend'): string {
  return `multiIf(is_same, ${amount}, ${amount} = 0 OR is_without_rate, toDecimal128(0, 9), ${atRatesSql(amount)})`
}

function rateOf(currency: 'currency' | '{targetCurrency:String}'): string {
  return `if(${currency} = 'EUR', toInt64(1000000000), transform(concat(${currency}, toString(day)),
      {targetRateKeys:Array(String)}, {targetRateNanos:Array(Int64)}, toInt64(0)))`
}

/** The sums of what `inOneCurrencySql` adds, as text. */
export const targetSumsSql = `toString(sum(target_value)) AS targetValue, toString(sum(target_spend)) AS targetSpend,
  toString(sumIf(row_value, is_without_rate)) AS valueWithoutRate,
  toString(sumIf(row_spend, is_without_rate)) AS spendWithoutRate`

export interface TargetSums {
  readonly targetValue: string
  readonly targetSpend: string
  readonly valueWithoutRate: string
  readonly spendWithoutRate: string
}

export function hasTargetSums(row: Partial<TargetSums>): row is TargetSums {
  return row.targetValue !== undefined
}

export function readTargetSums(row: TargetSums): ConvertedAmounts {
  return {
    valueNanos: BigInt(readNanos(row.targetValue)),
    spendNanos: BigInt(readNanos(row.targetSpend)),
    withoutRate: {
      valueNanos: BigInt(readNanos(row.valueWithoutRate)),
      spendNanos: BigInt(readNanos(row.spendWithoutRate)),
    },
  }
}

/** The caller has passed the barrier of its days. Only the rates of currencies that amounts can be in, and of the one that is asked for. */
export async function readTargetParams(
  warehouse: Pick<Warehouse, 'rows'>,
  markets: readonly ReportMarket[],
  { currency, ...range }: DayRange & { readonly currency: string }
): Promise<Params> {
  const rates = await loadRates(warehouse, range)
  const needed = new Set([currency, ...markets.map((market) => market.currency)])
  const currencies = rates.currencies.filter((one) => needed.has(one))
  const { rateKeys, rateNanos } = rateParams(
    { ...rates, currencies },
    listDays(range.first, range.last)
  )
  return { targetCurrency: currency, targetRateKeys: rateKeys, targetRateNanos: rateNanos }
}
