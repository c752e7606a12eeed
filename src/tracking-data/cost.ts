import { TrackingDataError } from './tracking-data-error.ts'

/** A million currency units. A higher cost is a misplaced decimal point. */
export const costMicrosMax = 1_000_000_000_000n

const costText = /^(0|[1-9]\d{0,6})(?:\.(\d{1,6}))?$/
const rule = 'must be a decimal number from 0 to 1000000 with at most 6 decimals, such as "0.25"'

/**
 * `"0.25"` is 250000n. Goes from text to integer without a floating-point number in between, and
 * throws a TrackingDataError on anything else: an amount that is not understood must never become
 * a price of zero.
 */
export function parseCostMicros(text: string, field = '/cost'): bigint {
  const match = costText.exec(text)
  const [, units = '', decimals = ''] = match ?? []
  const micros = BigInt(units + decimals.padEnd(6, '0'))
  if (match === null || micros > costMicrosMax)
    throw new TrackingDataError('cost', [{ field, rule }])
  return micros
}
