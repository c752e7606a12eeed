// The currency in which a page shows its figures: one of the account's, or all of them in one.
import { parseCurrency } from '../../src/domain/currency.ts'
import { t } from './language.ts'
import { withQuery } from './router.ts'

export interface ShownCurrency {
  readonly code: string
  /** Whether amounts of other currencies are converted into it. */
  readonly isConverted: boolean
}

/** What the service calls a column whose amounts are converted. */
export const convertedPrefix = 'CONVERTED_'

const prefix = 'all-'
/** In an address, where an empty text is none. */
const unknownWord = 'unknown'

/** The choice that an address names; '' is the currency of markets that the catalog does not have. */
export function readCurrency(parameter: string | null): string | null {
  return parameter === unknownWord ? '' : parameter
}

export function currencyParameter(choice: string): string {
  return choice === '' ? unknownWord : choice
}

/** The currency that `all-EUR` of an address names; null if it names none. */
export function targetOf(choice: string | null): string | null {
  if (choice === null || !choice.startsWith(prefix)) return null
  const code = choice.slice(prefix.length)
  return parseCurrency(code) === code ? code : null
}

/** Nobody looks for the figures of markets that the catalog does not have before those of the others. */
export function unknownLast(codes: readonly string[]): readonly string[] {
  return codes.toSorted((one, other) => Number(one === '') - Number(other === ''))
}

/** The choices of several currencies; sums of all are offered in each, and in euros, which every rate is against. */
export function currencyChoices(codes: readonly string[]): readonly string[] {
  if (codes.length < 2) return codes
  const targets = new Set([...codes.filter((code) => code !== ''), 'EUR'])
  return [...codes, ...[...targets].map((code) => `${prefix}${code}`)]
}

interface CurrencyChoice {
  readonly choices: readonly string[]
  /** One of them; null where there is none. */
  readonly choice: string | null
  readonly shown: ShownCurrency
}

interface Choosable {
  /** Those with figures, the one that is shown by itself first. */
  readonly found: readonly string[]
  /** Those of the markets. */
  readonly own: Pick<ReadonlyMap<string, unknown>, 'has'>
}

/** What has been chosen stays, also in a period without figures in it: no step in time changes the currency. */
export function chooseCurrency(chosen: string | null, { found, own }: Choosable): CurrencyChoice {
  const target = targetOf(chosen)
  const isMissing = chosen !== null && own.has(chosen) && !found.includes(chosen)
  const offered = currencyChoices(isMissing ? [...found, chosen] : found)
  const isAlone = chosen !== null && target !== null && !offered.includes(chosen)
  const choices = isAlone ? [...offered, chosen] : offered
  const choice = choices.find((one) => one === chosen) ?? choices[0] ?? null
  return { choices, choice, shown: { code: target ?? choice ?? '', isConverted: target !== null } }
}

/** The query of what the reader does next: the currency that is shown, where another could be, goes along. */
export function keepingCurrency(
  query: URLSearchParams,
  { choices, choice }: Pick<CurrencyChoice, 'choices' | 'choice'>
): URLSearchParams {
  if (choice === null || choices.length < 2) return query
  // First, so that an address still ends with what was chosen last.
  const first = new URLSearchParams([['currency', ''], ...query])
  return withQuery(first, { currency: currencyParameter(choice) })
}

export function currencyLabel(choice: string): string {
  const target = targetOf(choice)
  if (target !== null) return t('All, in {{currency}}', { currency: target })
  return choice === '' ? t('unknown') : choice
}
