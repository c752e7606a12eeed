// Adds up sums of the same currency, and sums of several in one.
import type { Amounts, ConvertedAmounts, CurrencySums, ReportSums } from './report.ts'

/** The sums by currency. */
export function addUpByCurrency(rows: readonly CurrencySums[]): readonly CurrencySums[] {
  const totals = new Map<string, CurrencySums>()
  for (const row of rows) {
    const known = totals.get(row.currency)
    totals.set(row.currency, known === undefined ? row : add(known, row))
  }
  return [...totals.values()].toSorted((one, other) => (one.currency < other.currency ? -1 : 1))
}

function add(one: CurrencySums, other: CurrencySums): CurrencySums {
  const converted = addConverted(one.converted, other.converted)
  return {
    currency: one.currency,
    ...addCounts(one, other),
    ...addAmounts(one, other),
    ...(converted !== undefined && { converted }),
  }
}

function addCounts(one: Counts, other: Counts): Counts {
  return {
    impressions: one.impressions + other.impressions,
    clicks: one.clicks + other.clicks,
    loads: one.loads + other.loads,
    conversions: one.conversions + other.conversions,
    orders: one.orders === null || other.orders === null ? null : one.orders + other.orders,
    unitsSold: one.unitsSold + other.unitsSold,
  }
}

const noCounts: Counts = {
  impressions: 0n,
  clicks: 0n,
  loads: 0n,
  conversions: 0n,
  orders: 0n,
  unitsSold: 0n,
}

type Counts = Omit<ReportSums, keyof Amounts> & Pick<CurrencySums, 'orders'>

function addAmounts(one: Amounts, other: Amounts): Amounts {
  return {
    valueNanos: one.valueNanos + other.valueNanos,
    spendNanos: one.spendNanos + other.spendNanos,
  }
}

function addConverted(
  one: ConvertedAmounts | undefined,
  other: ConvertedAmounts | undefined
): ConvertedAmounts | undefined {
  if (one === undefined || other === undefined) return one ?? other
  const withoutRate = addAmounts(one.withoutRate, other.withoutRate)
  return { ...addAmounts(one, other), withoutRate }
}

/** Sums of all currencies in one. */
export interface OneCurrencySums extends ReportSums, Pick<CurrencySums, 'currency' | 'orders'> {
  /** What is not in the amounts for want of a rate, in its own currency. */
  readonly withoutRate: readonly (Amounts & Pick<CurrencySums, 'currency'>)[]
}

/** Null if there is nothing to add up. */
export function addUpInto(currency: string, rows: readonly CurrencySums[]): OneCurrencySums | null {
  const byCurrency = addUpByCurrency(rows)
  if (byCurrency.length === 0) return null
  const converted = byCurrency.map((row): Amounts => row.converted ?? row).reduce(addAmounts)
  return {
    currency,
    ...byCurrency.reduce<Counts>(addCounts, noCounts),
    valueNanos: converted.valueNanos,
    spendNanos: converted.spendNanos,
    withoutRate: byCurrency.flatMap(({ currency: own, converted: amounts }) => {
      const left = amounts?.withoutRate
      const isNone = left === undefined || (left.valueNanos === 0n && left.spendNanos === 0n)
      return isNone ? [] : [{ currency: own, ...left }]
    }),
  }
}

/** The same for each day, in order. */
export function addUpDays(
  currency: string,
  rows: readonly (CurrencySums & { readonly day: string })[]
) {
  const days = [...new Set(rows.map((row) => row.day))]
  const byDay = new Map(days.map((day): [string, CurrencySums[]] => [day, []]))
  for (const { day, ...sums } of rows) byDay.get(day)?.push(sums)
  return [...byDay].flatMap(([day, own]) => {
    const sums = addUpInto(currency, own)
    return sums === null ? [] : [{ day, sums }]
  })
}
