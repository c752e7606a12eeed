// The rows of the overview: one for each advertiser, with what deserves a look.
import type { JsonSummary } from '../../src/contract/report-json.ts'
import { csvRow } from '../../src/domain/csv.ts'
import { minorDigits } from '../../src/domain/currency.ts'
import { addDays, listDays } from '../../src/domain/day.ts'
import { divideHalfEven, formatAmount, parseDecimal } from '../../src/domain/money.ts'
import { findNoBase, lastWholeDay, type NoBase } from './comparison-base.ts'
import { changeOf } from './format.ts'
import type { Days, MarketDays } from './periods.ts'
import { convertedPrefix, type ShownCurrency } from './shown-currency.ts'

export const figureNames = [
  'AD_SPEND_REVENUE',
  'CONVERSION_VALUE',
  'RETURN_ON_AD_SPEND',
  'ORDERS',
  'CLICKS',
  'IMPRESSIONS',
] as const
export type FigureName = (typeof figureNames)[number]

export interface Figures extends Readonly<Record<FigureName, string | null>> {
  readonly CURRENCY: string
}

interface Amounts {
  readonly CURRENCY: string
  readonly AD_SPEND_REVENUE: string
  readonly CONVERSION_VALUE: string
}

/** What deserves a look, without its words. */
export type Sign =
  | { readonly kind: 'never' }
  | { readonly kind: 'silent'; readonly days: number; readonly isAtLeast: boolean }
  | { readonly kind: 'roas'; readonly change: number }
  | { readonly kind: 'unconverted'; readonly count: number }

export interface BrandRow {
  readonly id: number
  readonly name: string
  /** Null if nothing was counted in the currency. */
  readonly total: Figures | null
  /** Of the value against the period before; null if they are not compared. */
  readonly change: number | null
  /** Why they are not compared; null if they are, or if nothing is compared. */
  readonly reason: NoBase | null
  /** The value of each day of the trend. */
  readonly trend: readonly number[]
  readonly signs: readonly Sign[]
  /** Converted: what it was converted from. Else: what is counted in other currencies. */
  readonly others: readonly Amounts[]
  /** What is not in the figures for want of a rate. */
  readonly withoutRate: readonly Amounts[]
  /** Amounts that are missing from the figures, since they have no rate into the currency of their market. */
  readonly unconverted: number
}

export interface Asked {
  readonly shown: ShownCurrency
  readonly period: Days
  readonly base: Days | null
  readonly market: MarketDays
}

type Summary = JsonSummary['advertisers'][number]

export const trendDays = 28
/** A day without events happens to small brands. */
const silentDaysMin = 2
/** Of the return on ad spend; with fewer orders before, one purchase more or less would do it. */
const roasRule = { fall: -0.4, ordersMin: 10 } as const

export function brandRow(brand: Summary, asked: Asked): BrandRow {
  const { shown } = asked
  const total = totalIn(brand, shown)
  const { before, reason } = baseIn(brand, asked)
  const unconverted = unconvertedIn(brand, shown)
  return {
    id: brand.id,
    name: brand.name,
    total,
    change: changeOf(total?.CONVERSION_VALUE, before?.CONVERSION_VALUE),
    reason,
    trend: trendIn(brand, asked),
    signs: [...silence(brand, asked), ...fallen(total, before), ...missing(unconverted)],
    others: shown.isConverted
      ? brand.totals
      : brand.totals.filter(({ CURRENCY }) => CURRENCY !== shown.code),
    withoutRate: shown.isConverted ? (brand.converted?.totals?.WITHOUT_RATE ?? []) : [],
    unconverted,
  }
}

function totalIn({ totals, converted }: Summary, { code, isConverted }: ShownCurrency) {
  if (isConverted) return converted?.totals ?? null
  return totals.find(({ CURRENCY }) => CURRENCY === code) ?? null
}

function unconvertedIn({ totals }: Summary, { code, isConverted }: ShownCurrency): number {
  const own = isConverted ? totals : totals.filter(({ CURRENCY }) => CURRENCY === code)
  return own.reduce((sum, { UNCONVERTED }) => sum + Number(UNCONVERTED), 0)
}

function missing(count: number): readonly Sign[] {
  return count === 0 ? [] : [{ kind: 'unconverted', count }]
}

function baseIn(
  { comparison, converted, firstDay }: Summary,
  { shown, period, base, market }: Asked
): { readonly before: Figures | null; readonly reason: BrandRow['reason'] } {
  if (base === null) return { before: null, reason: null }
  const lastWhole = shown.isConverted ? market.lastWhole : lastWholeDay(market, shown.code)
  const reason = findNoBase({ period, base, lastWhole, firstDay })
  if (reason !== null) return { before: null, reason }
  const before = shown.isConverted
    ? (converted?.comparison ?? null)
    : (comparison.find(({ CURRENCY }) => CURRENCY === shown.code) ?? null)
  return { before, reason: null }
}

function daysOfTrend({ endDate }: Days): readonly string[] {
  return listDays(addDays(endDate, 1 - trendDays), endDate)
}

function trendIn({ days, converted }: Summary, { shown, period }: Asked): readonly number[] {
  const own = shown.isConverted
    ? (converted?.days ?? [])
    : days.filter(({ CURRENCY }) => CURRENCY === shown.code)
  const values = new Map(own.map(({ DATE, CONVERSION_VALUE }) => [DATE, Number(CONVERSION_VALUE)]))
  return daysOfTrend(period).map((day) => values.get(day) ?? 0)
}

/** Days without an event up to the last one that is over everywhere; said only of a period that goes on until then. */
function silence({ days, firstDay }: Summary, { period, market }: Asked): readonly Sign[] {
  if (firstDay === null) return [{ kind: 'never' }]
  if (period.endDate < market.lastWhole) return []
  const withEvents = days
    .filter(({ IMPRESSIONS, CLICKS, LOADS }) => [IMPRESSIONS, CLICKS, LOADS].some(isMoreThanNone))
    .map(({ DATE }) => DATE)
  const last = withEvents.toSorted().at(-1)
  const whole = daysOfTrend(period).filter((day) => day <= market.lastWhole)
  const silentDays = last === undefined ? whole : whole.filter((day) => day > last)
  const isAtLeast = last === undefined
  return silentDays.length < silentDaysMin
    ? []
    : [{ kind: 'silent', days: silentDays.length, isAtLeast }]
}

function isMoreThanNone(count: string): boolean {
  return count !== '0'
}

function fallen(total: Figures | null, before: Figures | null): readonly Sign[] {
  const change = changeOf(total?.RETURN_ON_AD_SPEND, before?.RETURN_ON_AD_SPEND)
  const isFew = Number(before?.ORDERS ?? 0) < roasRule.ordersMin
  return change === null || change > roasRule.fall || isFew ? [] : [{ kind: 'roas', change }]
}

/** The exact sum of all rows; null if none has figures. What has no rate is in none of them. */
export function sumRows(rows: readonly BrandRow[], currency: string): Figures | null {
  const totals = rows.flatMap(({ total }) => total ?? [])
  if (totals.length === 0) return null
  const sum = (name: FigureName) =>
    totals.reduce((all, row) => all + (parseDecimal(row[name] ?? '0', 9) ?? 0n), 0n)
  const [spend, value] = [sum('AD_SPEND_REVENUE'), sum('CONVERSION_VALUE')]
  const count = (name: FigureName) => String(sum(name) / 1_000_000_000n)
  const digits = minorDigits(currency)
  return {
    AD_SPEND_REVENUE: formatAmount(spend, digits),
    CONVERSION_VALUE: formatAmount(value, digits),
    RETURN_ON_AD_SPEND: spend === 0n ? null : divideHalfEven(value, spend, 4),
    ORDERS: totals.some(({ ORDERS }) => ORDERS === null) ? null : count('ORDERS'),
    CLICKS: count('CLICKS'),
    IMPRESSIONS: count('IMPRESSIONS'),
    CURRENCY: currency,
  }
}

export type OrderName = FigureName | 'NAME' | 'CHANGE'
export const orderNames: readonly OrderName[] = ['NAME', ...figureNames, 'CHANGE']

/** Rows without a figure come last in both directions, and equal ones by name. */
export function orderRows(
  rows: readonly BrandRow[],
  { by, isDescending }: { readonly by: OrderName; readonly isDescending: boolean }
): readonly BrandRow[] {
  const direction = isDescending ? -1 : 1
  const byName = (one: BrandRow, other: BrandRow) =>
    one.name.localeCompare(other.name) || one.id - other.id
  return rows.toSorted((one, other) => {
    if (by === 'NAME') return direction * byName(one, other)
    const [a, b] = [valueOf(one, by), valueOf(other, by)]
    if (a === null || b === null)
      return Number(a === null) - Number(b === null) || byName(one, other)
    return direction * (a - b) || byName(one, other)
  })
}

function valueOf(row: BrandRow, by: FigureName | 'CHANGE'): number | null {
  if (by === 'CHANGE') return row.change
  const figure = row.total?.[by] ?? null
  return figure === null ? null : Number(figure)
}

/** What depends on the currency, as in the CSV of the service. */
const moneyColumns: ReadonlySet<string> = new Set([
  'AD_SPEND_REVENUE',
  'CONVERSION_VALUE',
  'RETURN_ON_AD_SPEND',
  'CURRENCY',
  'CHANGE_OF_VALUE',
])

/** The rows as they are shown, exactly. What is converted is never called like an amount that is not. */
export function csvOf(rows: readonly BrandRow[], { code, isConverted }: ShownCurrency): string {
  const columns = [...figureNames, 'CURRENCY', 'CHANGE_OF_VALUE', 'UNCONVERTED'].map((name) =>
    isConverted && moneyColumns.has(name) ? `${convertedPrefix}${name}` : name
  )
  const header = ['ADVERTISER_ID', 'ADVERTISER_NAME', ...columns]
  const more = isConverted ? ['CONVERTED_FROM', 'WITHOUT_RATE'] : []
  const lines = rows.map((row) =>
    csvRow([
      { number: String(row.id) },
      { text: row.name },
      ...figureNames.map((name) => ({ number: row.total?.[name] ?? '' })),
      { text: code },
      { number: row.change === null ? '' : row.change.toFixed(6) },
      { number: String(row.unconverted) },
      ...(isConverted
        ? [row.others, row.withoutRate].map((list) => ({ text: listAmounts(list) }))
        : []),
    ])
  )
  return csvRow([...header, ...more].map((text) => ({ text }))) + lines.join('')
}

/** Spend and value of each currency. */
function listAmounts(amounts: readonly Amounts[]): string {
  return amounts
    .map((one) => `${one.CURRENCY} ${one.AD_SPEND_REVENUE} / ${one.CONVERSION_VALUE}`)
    .join('; ')
}
