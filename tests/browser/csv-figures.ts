// The CSV added up apart from the service, as a reader with a spreadsheet would.
import { parse } from 'csv-parse/sync'
import {
  divideHalfEven,
  formatAmount,
  formatDecimal,
  parseDecimal,
} from '../../src/domain/money.ts'

export type CsvRow = Readonly<Record<string, string>>

export function parseCsv(text: string): readonly CsvRow[] {
  return parse(text, { columns: true })
}

const moneyDigits: Readonly<Record<string, number>> = { EUR: 2, GBP: 2, JPY: 0 }

/** Sums of rows of one currency, and the ratios of the sums; empty over zero. */
export function addUp(rows: readonly CsvRow[]): Readonly<Record<string, string>> {
  const sum = (name: string) =>
    rows.reduce((total, row) => total + (parseDecimal(row[name] ?? '', 9) ?? 0n), 0n)
  const digits = moneyDigits[rows[0]?.['CURRENCY'] ?? ''] ?? 2
  const count = (name: string) => formatDecimal(sum(name), 9, 0)
  const money = (name: string) => formatAmount(sum(name), digits)
  return {
    IMPRESSIONS: count('IMPRESSIONS'),
    CLICKS: count('CLICKS'),
    CLICK_THROUGH_RATE: divideHalfEven(sum('CLICKS'), sum('IMPRESSIONS'), 6),
    AD_SPEND_REVENUE: money('AD_SPEND_REVENUE'),
    UNITS_SOLD: count('UNITS_SOLD'),
    ...(rows[0]?.['ORDERS'] !== undefined && { ORDERS: count('ORDERS') }),
    CONVERSION_VALUE: money('CONVERSION_VALUE'),
    RETURN_ON_AD_SPEND: divideHalfEven(sum('CONVERSION_VALUE'), sum('AD_SPEND_REVENUE'), 4),
  }
}
