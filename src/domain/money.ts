// Money is a bigint count of nanos (10^-9 of a currency unit), never a float: the sum of a report
// must not depend on the order of its rows. Every text leaves here without an exponent or a `-0`.
import { assert } from '../lib/assert.ts'

/** Digits behind the decimal point of a nano; equals the scale of Decimal128(9) in the warehouse. */
export const nanosScale = 9

/** 10^12 currency units: no real line of a purchase is worth more, and sums of such lines still fit. */
const lineValueNanosMax = 10n ** 12n * 10n ** 9n

/** Longer texts are not amounts, and turning a megabyte of digits into a bigint would take seconds. */
const decimalTextLengthMax = 100

const decimalPattern = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?$/

/**
 * The shortest decimal text that reads back as the same double, rounded half even to 9 digits: 19.99
 * is 19990000000 nanos although its double is a little less. The price must be finite; -0 is 0.
 */
export function priceNanos(price: number): bigint {
  assert(Number.isFinite(price), 'a price is finite')
  const [mantissa = '', exponentText = '0'] = String(price).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const coefficient = BigInt(whole + fraction)
  const shift = Number(exponentText) - fraction.length + nanosScale
  return rescale(coefficient, shift)
}

/** Price times quantity in nanos. Exact, since the price has been rounded before. */
export function lineValueNanos(price: number, quantity: number): bigint {
  return priceNanos(price) * BigInt(quantity)
}

/**
 * Whether a line may never earn credit: quantity of 0 or less, a negative price, or a value above 10^12
 * units of its currency. -0 is a price of 0, a sale of value 0. The value is that of the price in nanos
 * and compared as a bigint: as doubles, 10^12 and one nano above it are the same number.
 */
export function isOutOfRange(price: number, quantity: number): boolean {
  if (quantity <= 0 || price < 0) return true
  // The product of doubles is off by far less than half of it.
  if (price * quantity < 5e11) return false
  return lineValueNanos(price, quantity) > lineValueNanosMax
}

/**
 * A whole number, as a double while it is below 2^53, as a bigint at any size. Both give the same; a report
 * of thousands of rows in doubles takes a third of the time.
 */
export type Whole = number | bigint

/** `value` x 10^-`scale` with exactly `digits` digits behind the point, rounded half even. */
export function formatDecimal(value: Whole, scale: number, digits: number): string {
  return digits >= scale
    ? printQuotient(timesPowerOfTen(value, digits - scale), 1, digits)
    : printQuotient(value, timesPowerOfTen(1, scale - digits), digits)
}

/**
 * An amount as it is printed, never rounded: with the `minorDigits` of its currency where these are exact,
 * else with all nine. Nothing in between: many spreadsheets read `0.252` as 252.
 */
export function formatAmount(nanos: Whole, minorDigits: number): string {
  const unit = timesPowerOfTen(1, nanosScale - minorDigits)
  const isRound =
    typeof nanos === 'number' ? nanos % Number(unit) === 0 : nanos % BigInt(unit) === 0n
  return formatDecimal(nanos, nanosScale, isRound ? minorDigits : nanosScale)
}

/**
 * `numerator` / `denominator`, both of the same scale, with exactly `digits` digits behind the point.
 * The ratio is exact until its single rounding, half even. A ratio over zero has no value: ''.
 */
export function divideHalfEven(numerator: Whole, denominator: Whole, digits: number): string {
  if (Number(denominator) === 0) return ''
  return printQuotient(timesPowerOfTen(numerator, digits), denominator, digits)
}

/** `value` x 10^`exponent`, for an exponent of 0 or more. */
export function timesPowerOfTen(value: Whole, exponent: number): Whole {
  const product = Number(value) * 10 ** exponent
  return Number.isSafeInteger(product) ? product : BigInt(value) * powerOfTen(exponent)
}

/**
 * Nanos of an amount as the warehouse prints it, with up to 9 digits behind the point. Up to a million
 * units the double next to the text, and its product, are together less than half a nano away.
 */
export function readNanos(text: string): Whole {
  const nanos = Math.round(Number(text) * 1e9)
  // An empty text is not an amount, although Number() reads it as 0.
  if (text !== '' && Math.abs(nanos) < 2 ** 50) return nanos
  const exact = parseDecimal(text, nanosScale)
  assert(exact !== null, 'an amount of the warehouse is a plain decimal')
  return exact
}

/**
 * Reads a plain decimal (`0.25`, `-3`) as units of 10^-`scale`, or null. Refused rather than guessed:
 * exponents, `+`, blanks, separators, leading zeros, a bare point, more than `scale` digits behind it.
 */
export function parseDecimal(text: string, scale: number): bigint | null {
  if (text.length > decimalTextLengthMax) return null
  const match = decimalPattern.exec(text)
  if (match === null) return null
  const [, sign = '', whole = '', fraction = ''] = match
  if (fraction.length > scale) return null
  const units = BigInt(whole + fraction.padEnd(scale, '0'))
  return sign === '-' ? -units : units
}

/** `value` x 10^`shift`; half even where digits are lost. */
function rescale(value: bigint, shift: number): bigint {
  return shift >= 0 ? value * powerOfTen(shift) : divideRounded(value, powerOfTen(-shift))
}

const powersOfTen = Array.from({ length: 20 }, (_, exponent) => 10n ** BigInt(exponent))

function powerOfTen(exponent: number): bigint {
  return powersOfTen[exponent] ?? 10n ** BigInt(exponent)
}

/** The rounded quotient in units of 10^-`digits`, printed. */
function printQuotient(numerator: Whole, denominator: Whole, digits: number): string {
  // A bigint that is not a safe integer is not one as a double either.
  const [dividend, divisor] = [Number(numerator), Number(denominator)]
  return Number.isSafeInteger(dividend) && Number.isSafeInteger(divisor)
    ? printSafeQuotient(dividend, divisor, digits)
    : printScaled(divideRounded(BigInt(numerator), BigInt(denominator)), digits)
}

/**
 * The same in doubles, several times faster; a report prints six quotients a row. Exact: two integers
 * below 2^53 have a quotient at least 1/denominator away from the next integer, further than a double
 * rounds, so its floor is the true one, and the rest follows without a rounding.
 */
function printSafeQuotient(numerator: number, denominator: number, digits: number): string {
  const dividend = Math.abs(numerator)
  const divisor = Math.abs(denominator)
  const floor = Math.floor(dividend / divisor)
  const rest = dividend - floor * divisor
  const isUp = rest > divisor - rest || (rest === divisor - rest && floor % 2 === 1)
  const rounded = isUp ? floor + 1 : floor
  const isNegative = rounded !== 0 && numerator < 0 !== denominator < 0
  return printDigits(String(rounded), { isNegative, digits })
}

/** Rounds half even, so that the rounding of many amounts does not drift in one direction. */
function divideRounded(numerator: bigint, denominator: bigint): bigint {
  const isNegative = numerator < 0n !== denominator < 0n
  const dividend = magnitude(numerator)
  const divisor = magnitude(denominator)
  const floor = dividend / divisor
  const doubledRest = (dividend % divisor) * 2n
  const isUp = doubledRest > divisor || (doubledRest === divisor && floor % 2n === 1n)
  const rounded = isUp ? floor + 1n : floor
  return isNegative ? -rounded : rounded
}

/** A bigint has no negative zero, so a value that rounded to zero prints without a sign. */
function printScaled(value: bigint, digits: number): string {
  return printDigits(magnitude(value).toString(), { isNegative: value < 0n, digits })
}

interface Print {
  readonly isNegative: boolean
  readonly digits: number
}

function printDigits(units: string, { isNegative, digits }: Print): string {
  const sign = isNegative ? '-' : ''
  if (digits === 0) return sign + units
  const text = units.padStart(digits + 1, '0')
  const pointAt = text.length - digits
  return `${sign}${text.slice(0, pointAt)}.${text.slice(pointAt)}`
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value
}
