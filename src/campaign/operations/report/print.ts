// A report as it leaves the port: which value goes into which column, and the JSON forms with their sums.
import { listColumns, type Column } from '../../../contract/report-columns.ts'
import type { JsonReport, JsonSeries } from '../../../contract/report-json.ts'
import type { ReportRequest } from '../../../contract/report-request.ts'
import { minorDigits } from '../../../domain/currency.ts'
import { divideHalfEven, formatAmount, nanosScale, readNanos } from '../../../domain/money.ts'
import type { CsvCell } from '../../../domain/csv.ts'
import type {
  Amounts,
  CurrencySums,
  CurrencyTotals,
  ReportResult,
  ReportRow,
  ReportSums,
} from '../../../reports/report.ts'
import type { SeriesResult } from '../../../reports/series.ts'
import { addUpDays, addUpInto, type OneCurrencySums } from '../../../reports/sums.ts'

/** The cell of each column. Text is made safe for spreadsheets, numbers are not. */
export const cellOf: Readonly<Record<Column, (row: ReportRow) => CsvCell>> = {
  GTIN: ({ gtin }) => ({ text: gtin }),
  PRODUCT_TITLE: ({ title }) => ({ text: title }),
  BRAND: ({ brand }) => ({ text: brand }),
  MARKET: ({ market }) => ({ text: market }),
  PUBLISHER_ID: ({ publisherId }) => ({ number: String(publisherId) }),
  PUBLISHER_NAME: ({ publisherName }) => ({ text: publisherName }),
  CAMPAIGN_ID: ({ campaignId }) => ({ number: String(campaignId) }),
  CAMPAIGN_NAME: ({ campaignName }) => ({ text: campaignName }),
  AD_GROUP_ID: ({ adGroupId }) => ({ number: String(adGroupId) }),
  AD_GROUP_NAME: ({ adGroupName }) => ({ text: adGroupName }),
  DATE: ({ date }) => ({ text: date ?? '' }),
  IMPRESSIONS: ({ impressions }) => ({ number: impressions }),
  CLICKS: ({ clicks }) => ({ number: clicks }),
  LOADS: ({ loads }) => ({ number: loads }),
  CONVERSIONS: ({ conversions }) => ({ number: conversions }),
  UNITS_SOLD: ({ unitsSold }) => ({ number: unitsSold }),
  CLICK_THROUGH_RATE: ({ clickThroughRate }) => ({ number: clickThroughRate }),
  CONVERSION_RATE: ({ conversionRate }) => ({ number: conversionRate }),
  CONVERSION_VALUE: ({ conversionValue }) => ({ number: conversionValue }),
  AD_SPEND_REVENUE: ({ adSpendRevenue }) => ({ number: adSpendRevenue }),
  COST_PER_CLICK: ({ costPerClick }) => ({ number: costPerClick }),
  RETURN_ON_AD_SPEND: ({ returnOnAdSpend }) => ({ number: returnOnAdSpend }),
  CURRENCY: ({ currency }) => ({ text: currency }),
}

type JsonRow = JsonReport['rows'][number]

/** One page, bounded by `limit` (at most 10,000 rows), so it is built in memory. */
export function jsonReport(result: ReportResult, request: ReportRequest): JsonReport {
  const columns = listColumns(request)
  const rows: JsonRow[] = []
  const totals = new Map<string, Totals>()
  for (const row of result.rows) {
    rows.push(toJsonRow(row, columns))
    addRow(totalsOf(totals, row.currency), row)
  }
  return {
    rows,
    totals: [...totals].toSorted(byCode).map(([currency, sums]) => printSums(sums, currency)),
    page: request.page,
    limit: request.limit,
    totalRows: result.totalRows,
    completeThrough: result.completeThrough,
    renewingDays: [...(result.renewingDays ?? [])],
    unconverted: result.unconvertedCount,
  }
}

/** The same values as in the CSV, but unescaped, and null for a ratio over zero. */
function toJsonRow(row: ReportRow, columns: readonly Column[]): JsonRow {
  const values: Partial<Record<Column, string | null>> = {}
  for (const column of columns) {
    values[column] = valueOf(cellOf[column](row))
  }
  // Every column was set just now, and no number but a ratio is ever empty.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return values as JsonRow
}

export function valueOf(cell: CsvCell): string | null {
  if ('text' in cell) return cell.text
  return cell.number === '' ? null : cell.number
}

type Totals = { -readonly [Sum in keyof ReportSums]: ReportSums[Sum] }

function totalsOf(totals: Map<string, Totals>, currency: string): Totals {
  const known = totals.get(currency)
  if (known !== undefined) return known
  const made: Totals = {
    impressions: 0n,
    clicks: 0n,
    loads: 0n,
    conversions: 0n,
    unitsSold: 0n,
    valueNanos: 0n,
    spendNanos: 0n,
  }
  totals.set(currency, made)
  return made
}

function addRow(totals: Totals, row: ReportRow): void {
  totals.impressions += BigInt(row.impressions)
  totals.clicks += BigInt(row.clicks)
  totals.loads += BigInt(row.loads)
  totals.conversions += BigInt(row.conversions)
  totals.unitsSold += BigInt(row.unitsSold)
  totals.valueNanos += BigInt(readNanos(row.conversionValue))
  totals.spendNanos += BigInt(readNanos(row.adSpendRevenue))
}

function byCode([one]: readonly [string, Totals], [other]: readonly [string, Totals]): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

/** With a currency, the sums of all in it are added. */
export function jsonSeries(result: SeriesResult, convertTo: string | null = null): JsonSeries {
  return {
    days: result.days.map(({ day, ...sums }) => ({ DATE: day, ...printWithOrders(sums) })),
    totals: result.totals.map(printTotals),
    ...(convertTo !== null && {
      converted: {
        days: addUpDays(convertTo, result.days).map(printDay),
        totals: printIfAny(addUpInto(convertTo, result.totals)),
      },
    }),
    completeThrough: result.completeThrough,
    firstDay: result.firstDay,
    renewingDays: [...result.renewingDays],
    unconverted: result.unconvertedCount,
  }
}

function printDay({ day, sums }: { readonly day: string; readonly sums: OneCurrencySums }) {
  return { DATE: day, ...printInOneCurrency(sums) }
}

export function printWithOrders({ currency, orders, ...sums }: CurrencySums) {
  return { ...printSums(sums, currency), ORDERS: orders === null ? null : String(orders) }
}

export function printTotals({ unconvertedCount, ...sums }: CurrencyTotals) {
  return { ...printWithOrders(sums), UNCONVERTED: String(unconvertedCount) }
}

export function printIfAny(sums: OneCurrencySums | null) {
  return sums === null ? null : printInOneCurrency(sums)
}

/** An amount of which nothing has a rate is unknown, and never 0. */
export function printInOneCurrency({ withoutRate, ...sums }: OneCurrencySums) {
  const printed = printWithOrders(sums)
  const isLeft = (amount: keyof Amounts) =>
    sums[amount] === 0n && withoutRate.some((left) => left[amount] !== 0n)
  return {
    ...printed,
    ...(isLeft('valueNanos') && { CONVERSION_VALUE: null }),
    ...(isLeft('spendNanos') && { AD_SPEND_REVENUE: null }),
    ...(withoutRate.some((left) => left.spendNanos !== 0n) && { COST_PER_CLICK: null }),
    ...((isLeft('valueNanos') || isLeft('spendNanos')) && { RETURN_ON_AD_SPEND: null }),
    WITHOUT_RATE: withoutRate.map(({ currency, valueNanos, spendNanos }) => ({
      CURRENCY: currency,
      CONVERSION_VALUE: formatAmount(valueNanos, minorDigits(currency)),
      AD_SPEND_REVENUE: formatAmount(spendNanos, minorDigits(currency)),
    })),
  }
}

/** Exact sums, printed like the figures of a row; ratios are computed from the sums, null over zero. */
function printSums(sums: ReportSums, currency: string): JsonReport['totals'][number] {
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
