// Which rates the figures of a sealed day were made with, and whether they are others now.

import type { Rates } from './rates.ts'

/** The rates that a day used, as they stand beside its seal; null for one that was wanting. */
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
 * Those of the seals whose figures would come out otherwise by the rates as they are. Markets with the same
 * currencies share the rates of a day, which are compared once.
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
