// Exact decimals of the demo's expectation. Written apart from the service on purpose: a fault they
// shared would not show in the comparison.

const nanosPerUnit = 1_000_000_000n
const plainDecimal = /^(-?)(\d+)(?:\.(\d{1,9}))?$/

/** Billionths of a plain decimal text with at most nine digits after the point. */
export function nanosOf(text: string): bigint {
  const match = plainDecimal.exec(text)
  if (match === null) throw new Error(`not a decimal with at most 9 digits: ${text}`)

  const [, sign, whole = '0', fraction = ''] = match
  const nanos = BigInt(whole) * nanosPerUnit + BigInt(fraction.padEnd(9, '0'))
  return sign === '-' ? -nanos : nanos
}

interface Ratio {
  readonly over: bigint
  readonly under: bigint
  readonly digits: number
}

/** A quotient of integers, neither negative, with one rounding half to even; empty over zero. */
export function printRatio({ over, under, digits }: Ratio): string {
  if (under === 0n) return ''

  const scaled = over * 10n ** BigInt(digits)
  const whole = scaled / under
  const twiceRest = (scaled % under) * 2n
  const isUp = twiceRest > under || (twiceRest === under && whole % 2n === 1n)
  const text = (isUp ? whole + 1n : whole).toString().padStart(digits + 1, '0')
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`
}

/** Not negative, and exact: with the digits of its currency where they suffice, else with all nine. */
export function printAmount(nanos: bigint, minorDigits: number): string {
  const isRound = nanos % 10n ** BigInt(9 - minorDigits) === 0n
  return printRatio({ over: nanos, under: nanosPerUnit, digits: isRound ? minorDigits : 9 })
}
