// The currency in which sums of several currencies are shown as well.
import { parseCurrency } from '../domain/currency.ts'
import { optional, text } from './fields.ts'

export const convertToField = optional(
  text({
    title: 'an ISO 4217 currency code such as EUR',
    pattern: '^[A-Z]{3}$',
    description:
      'A currency in which the amounts of all currencies are added up as well, each at the reference rate of its ' +
      'day. The answer has these sums apart, under `converted`.',
  })
)

/** Null: none. */
export function parseConvertTo(given: string | undefined): {
  readonly convertTo: string | null
  readonly faults: readonly string[]
} {
  const convertTo = given === undefined ? null : parseCurrency(given)
  const isUnknown = given !== undefined && convertTo === null
  const faults = isUnknown ? ['/convertTo must be an ISO 4217 currency code such as EUR'] : []
  return { convertTo, faults }
}
