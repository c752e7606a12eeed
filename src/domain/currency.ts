import { currencyTable, withdrawnCurrencies } from './currency-table.ts'

/** ISO publishes no minor units for withdrawn codes. Nearly all of those currencies had cents. */
const minorDigitsDefault = 2

const minorDigitsByCode: ReadonlyMap<string, number> = new Map(
  currencyTable.flatMap(({ minorDigits: digits, codes }) =>
    codes
      .trim()
      .split(/\s+/)
      .map((code) => [code, digits] as const)
  )
)

/** The last month of each withdrawn code, `YYYY-MM`. */
const lastMonths: ReadonlyMap<string, string> = new Map(
  Object.entries(withdrawnCurrencies).flatMap(([month, codes]) =>
    codes.split(' ').map((code) => [code, month] as const)
  )
)

/**
 * The code in upper case if it is an active ISO 4217 currency with a minor unit, given in any case; else null. With an
 * instant, a code that was withdrawn since then counts as active. Only ASCII letters are upper-cased: `toUpperCase`
 * alone would make the Turkish dotless i an I.
 */
export function parseCurrency(text: string, atMs?: number): string | null {
  if (!/^[A-Za-z]{3}$/.test(text)) return null
  const code = text.toUpperCase()
  return minorDigitsByCode.has(code) || wasActive(code, atMs) ? code : null
}

function wasActive(code: string, atMs: number | undefined): boolean {
  const lastMonth = lastMonths.get(code)
  if (lastMonth === undefined || atMs === undefined) return false
  return new Date(atMs).toISOString().slice(0, 7) <= lastMonth
}

/**
 * Digits behind the point of an amount as printed: JPY 0, EUR 2, KWD 3, CLF 4. A code that ISO has
 * withdrawn since the market was made prints with 2, so that old reports outlive a new table.
 */
export function minorDigits(code: string): number {
  return minorDigitsByCode.get(code) ?? minorDigitsDefault
}
