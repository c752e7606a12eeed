import { currencyTable } from './currency-table.ts'

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

/**
 * The code in upper case if it is an active ISO 4217 currency with a minor unit, given in any case;
 * else null. Only ASCII letters are upper-cased: `toUpperCase` alone would make the Turkish dotless i
 * an I.
 */
export function parseCurrency(text: string): string | null {
  if (!/^[A-Za-z]{3}$/.test(text)) return null
  const code = text.toUpperCase()
  return minorDigitsByCode.has(code) ? code : null
}

/**
 * Digits behind the point of an amount as printed: JPY 0, EUR 2, KWD 3, CLF 4. A code that ISO has
 * withdrawn since the market was made prints with 2, so that old reports outlive a new table.
 */
export function minorDigits(code: string): number {
  return minorDigitsByCode.get(code) ?? minorDigitsDefault
}
