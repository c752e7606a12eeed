// The currency in which a page shows its figures: one of the account's, or all of them in one.
import { parseCurrency } from '../../src/domain/currency.ts'
import { t } from './language.ts'

export interface ShownCurrency {
  readonly code: string
  /** Whether amounts of other currencies are converted into it. */
  readonly isConverted: boolean
}

const prefix = 'all-'

/** The currency that `all-EUR` of an address names; null if it names none. */
export function targetOf(choice: string | null): string | null {
  if (choice === null || !choice.startsWith(prefix)) return null
  const code = choice.slice(prefix.length)
  return parseCurrency(code) === code ? code : null
}

/** The choices of several currencies; sums of all are offered in each, and in euros, which every rate is against. */
export function currencyChoices(codes: readonly string[]): readonly string[] {
  if (codes.length < 2) return codes
  const targets = new Set([...codes.filter((code) => code !== ''), 'EUR'])
  return [...codes, ...[...targets].map((code) => `${prefix}${code}`)]
}

export function currencyLabel(choice: string): string {
  const target = targetOf(choice)
  if (target !== null) return t('All, in {{currency}}', { currency: target })
  return choice === '' ? t('unknown') : choice
}
