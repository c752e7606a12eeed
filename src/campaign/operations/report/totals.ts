import type { JsonReport } from '../../../contract/report-json.ts'
import { minorDigits } from '../../../domain/currency.ts'
import { divideHalfEven, formatAmount, nanosScale } from '../../../domain/money.ts'
import type { ReportSums } from '../../../reports/series.ts'

/** Exact sums as a row prints its figures; the ratios are made from the sums, null over zero. */
export function printSums(sums: ReportSums, currency: string): JsonReport['totals'][number] {
  const { impressions, clicks, conversions, valueNanos, spendNanos } = sums
  const digits = minorDigits(currency)
  return {
    IMPRESSIONS: String(impressions),
    CLICKS: String(clicks),
    LOADS: String(sums.loads),
    CONVERSIONS: String(conversions),
    UNITS_SOLD: String(sums.unitsSold),
    CLICK_THROUGH_RATE: ratio(clicks, impressions, 6),
    CONVERSION_RATE: ratio(conversions, clicks, 6),
    CONVERSION_VALUE: formatAmount(valueNanos, digits),
    AD_SPEND_REVENUE: formatAmount(spendNanos, digits),
    COST_PER_CLICK: ratio(spendNanos, clicks * 10n ** BigInt(nanosScale), 6),
    RETURN_ON_AD_SPEND: ratio(valueNanos, spendNanos, 4),
    CURRENCY: currency,
  }
}

function ratio(numerator: bigint, denominator: bigint, digits: number): string | null {
  return denominator === 0n ? null : divideHalfEven(numerator, denominator, digits)
}
