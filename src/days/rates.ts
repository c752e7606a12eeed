// Amounts in another currency than the market's are converted by the European Central Bank's
// reference rates: that of the day, else the last one of the 7 days before.

import { addDays } from '../domain/day.ts'
import { nanosScale, parseDecimal } from '../domain/money.ts'
import { assert } from '../lib/assert.ts'
import type { DayRange } from './market-days.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'

/** Weekends and holidays have no rate; no closing of the central bank is longer than this. */
const rateAgeDaysMax = 7

export interface Rates {
  /** Every currency that has a rate on some day of the range; the euro is not among them. */
  readonly currencies: readonly string[]
  /** Billionths of the currency's unit for one euro, or null without a rate young enough. */
  find(currency: string, day: string): bigint | null
}

export const noRates: Rates = { currencies: [], find: () => null }

/** 30 currencies over 90 years. Beyond that, reports fail loudly rather than convert with a part of the rates. */
const ratesMax = 1_000_000

/** The rates that days from `first` to `last` may need. */
export async function loadRates(
  warehouse: Pick<Warehouse, 'rows'>,
  { first, last }: DayRange
): Promise<Rates> {
  const rows = await warehouse.rows<{ currency: string; day: string; units: string }>(
    `SELECT currency, toString(rate.day) AS day, toString(units_per_euro) AS units
     FROM rate FINAL WHERE rate.day >= {first:Date} AND rate.day <= {last:Date}
     ORDER BY currency, rate.day LIMIT ${ratesMax}`,
    { first: addDays(first, -rateAgeDaysMax), last }
  )
  assert(rows.length < ratesMax, 'the rates of a range fit into the list')
  const nanosByDay = new Map(rows.map((row) => [`${row.currency}${row.day}`, readNanos(row.units)]))
  const found = new Map<string, bigint | null>()
  return {
    currencies: [...new Set(rows.map((row) => row.currency))],
    find(currency, day) {
      // Many markets ask for the same day, and going back over calendar days is slow.
      const key = `${currency}${day}`
      const known = found.get(key)
      if (known !== undefined) return known
      const nanos = findNanos(nanosByDay, currency, day)
      found.set(key, nanos)
      return nanos
    },
  }
}

function findNanos(
  nanosByDay: ReadonlyMap<string, bigint>,
  currency: string,
  day: string
): bigint | null {
  for (let ageDays = 0; ageDays <= rateAgeDaysMax; ageDays++) {
    const nanos = nanosByDay.get(`${currency}${addDays(day, -ageDays)}`)
    if (nanos !== undefined) return nanos
  }
  return null
}

function readNanos(units: string): bigint {
  const nanos = parseDecimal(units, nanosScale)
  assert(nanos !== null && nanos > 0n, 'a rate is a positive decimal of 9 digits')
  return nanos
}

/** The parameters that `convertedSql` binds for the days. */
export function rateParams(rates: Rates, days: readonly string[]) {
  // ClickHouse refuses an empty list; no currency is called ''.
  const keys = ['']
  const nanos = [0n]
  for (const currency of rates.currencies) {
    for (const day of new Set(days)) {
      const found = rates.find(currency, day)
      if (found === null) continue
      keys.push(`${currency}${day}`)
      nanos.push(found)
    }
  }
  return { rateKeys: keys, rateNanos: nanos }
}

/**
 * Adds to rows with `day`, `currency` and `market_currency`: `is_foreign`, `is_unconverted` (then
 * `converted` is 0), and `converted`, rounded once per row, half even to 9 digits. 256 bits, since an
 * amount of 10^12 times a rate of 10^5, both in billionths, does not fit into 128. Amounts are never
 * negative.
 */
export function convertedSql(amount: 'charge' | 'value', rows: string): string {
  // ClickHouse evaluates `multiIf` lazily, so nothing is computed for rows in the market's own currency.
  return `
  SELECT *, is_foreign AND (from_nanos = 0 OR to_nanos = 0) AS is_unconverted,
    multiIf(NOT is_foreign, ${amount}, is_unconverted, toDecimal128(0, 9), ${atRatesSql(amount)}) AS converted
  FROM (
    SELECT *, currency != market_currency AND ${amount} != 0 AS is_foreign,
      ${rateOf('currency')} AS from_nanos, ${rateOf('market_currency')} AS to_nanos
    FROM (${rows})
  )`
}

/** An amount times `to_nanos` through `from_nanos`, half even to 9 digits. `from_nanos` must not be 0. */
export function atRatesSql(amount: 'charge' | 'value' | 'row_value' | 'row_spend'): string {
  // With D = 2 * from_nanos, the quotient plus a half is N / D. It is one too many where the quotient was
  // halfway to an odd number: exactly where N leaves D when divided by 2 * D.
  const dividend = `(2 * toInt256(${amount} * 1000000000) * to_nanos + from_nanos)`
  const isHalfToOdd = `${dividend} % (4 * toInt256(from_nanos)) = 2 * toInt256(from_nanos)`
  const nanos = `intDiv(${dividend}, 2 * toInt256(from_nanos)) - (${isHalfToOdd})`
  return `toDecimal128(toDecimal256(${nanos}, 9) / 1000000000, 9)`
}

/** 0 without a rate, or where none is needed. */
function rateOf(currency: 'currency' | 'market_currency'): string {
  return `if(NOT is_foreign, toInt64(0), if(${currency} = 'EUR', toInt64(1000000000),
    transform(concat(${currency}, toString(day)), {rateKeys:Array(String)}, {rateNanos:Array(Int64)}, toInt64(0))))`
}

/** The rates that a day was converted with, as its seal stores them; null for a rate that was missing. */
export function printUsedRates(
  used: { readonly day: string; readonly currencies: readonly string[] },
  rates: Pick<Rates, 'find'>
): string {
  const currencies = [...new Set(used.currencies)].filter((one) => one !== 'EUR').toSorted()
  if (currencies.length === 0) return ''
  const entries = currencies.map((one) => [one, rates.find(one, used.day)?.toString() ?? null])
  return JSON.stringify(Object.fromEntries(entries))
}

interface SealWithRates {
  readonly day: string
  readonly rates: string
}

/**
 * The seals whose figures would be different with the rates of now. Markets with the same currencies share the
 * rates of a day, which are compared once.
 */
export function withOtherRates<Seal extends SealWithRates>(
  seals: readonly Seal[],
  rates: Pick<Rates, 'find'>
): readonly Seal[] {
  const compared = new Map<string, boolean>()
  return seals.filter(({ day, rates: text }) => {
    const key = `${day} ${text}`
    const known = compared.get(key)
    if (known !== undefined) return known
    const isOther = hasOtherRates(day, text, rates)
    compared.set(key, isOther)
    return isOther
  })
}

function hasOtherRates(day: string, text: string, rates: Pick<Rates, 'find'>): boolean {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const used = JSON.parse(text) as Readonly<Record<string, string | null>>
  return Object.entries(used).some(
    ([currency, nanos]) => (rates.find(currency, day)?.toString() ?? null) !== nanos
  )
}
