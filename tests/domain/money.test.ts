import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  divideHalfEven,
  formatDecimal,
  isOutOfRange,
  lineValueNanos,
  nanosScale,
  parseDecimal,
  priceNanos,
  readNanos,
  timesPowerOfTen,
} from '../../src/domain/money.ts'

const trillion = 1_000_000_000_000
const amount = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n })

test('a price is read from its shortest decimal text, not from the bits of its double', () => {
  assert.equal(priceNanos(19.99), 19_990_000_000n)
  assert.equal(priceNanos(1.234), 1_234_000_000n)
  assert.equal(priceNanos(0.1234), 123_400_000n)
  assert.equal(priceNanos(1.005), 1_005_000_000n)
  assert.equal(priceNanos(40), 40_000_000_000n)
})

test('a price with more than 9 digits is rounded to them', () => {
  // 0.1 + 0.2 is 0.30000000000000004.
  assert.equal(priceNanos(0.1 + 0.2), 300_000_000n)
  assert.equal(priceNanos(0.123456789012), 123_456_789n)
  assert.equal(priceNanos(2 / 3), 666_666_667n)
})

test('a price half way between two nanos goes to the even one', () => {
  assert.equal(priceNanos(0.0000000005), 0n)
  assert.equal(priceNanos(0.0000000015), 2n)
  assert.equal(priceNanos(0.0000000025), 2n)
  assert.equal(priceNanos(0.00000000250001), 3n)
  assert.equal(priceNanos(-0.0000000015), -2n)
})

test('a price that prints with an exponent is expanded exactly', () => {
  assert.equal(priceNanos(1e21), 10n ** 30n)
  assert.equal(priceNanos(1.5e21), 15n * 10n ** 29n)
  assert.equal(priceNanos(1.7e308), 17n * 10n ** 316n)
  assert.equal(priceNanos(1e-7), 100n)
  assert.equal(priceNanos(1.25e-7), 125n)
})

test('a price too small for a nano is 0, and so is -0', () => {
  assert.equal(priceNanos(5e-324), 0n)
  assert.equal(priceNanos(-5e-324), 0n)
  assert.equal(priceNanos(0), 0n)
  assert.equal(priceNanos(-0), 0n)
})

test('a price that is no number is a fault of the caller', () => {
  for (const price of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    assert.throws(() => priceNanos(price), /a price is finite/)
  }
})

test('a price with up to 9 digits survives the way to nanos and back', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), (nanos) => {
      assert.equal(priceNanos(Number(formatDecimal(nanos, nanosScale, nanosScale))), nanos)
    })
  )
})

test('the value of a line is the sum of its pieces', () => {
  assert.equal(lineValueNanos(19.99, 3), 59_970_000_000n)
  assert.equal(lineValueNanos(0, 5), 0n)
  fc.assert(
    fc.property(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer({ min: 1, max: 20 }),
      (price, quantity) => {
        let sumNanos = 0n
        for (let piece = 0; piece < quantity; piece += 1) sumNanos += priceNanos(price)
        assert.equal(lineValueNanos(price, quantity), sumNanos)
      }
    )
  )
})

test('a line without a quantity or with a negative price is out of range', () => {
  assert.equal(isOutOfRange(10, 0), true)
  assert.equal(isOutOfRange(10, -0), true)
  assert.equal(isOutOfRange(10, -1), true)
  assert.equal(isOutOfRange(-50, 1), true)
  assert.equal(isOutOfRange(-5e-324, 1), true)
})

test('a price of 0 is in range with either sign of zero', () => {
  assert.equal(isOutOfRange(0, 1), false)
  assert.equal(isOutOfRange(-0, 1), false)
  assert.equal(isOutOfRange(5e-324, 2_147_483_647), false)
})

test('a line value of 10^12 is in range and anything above it is not', () => {
  assert.equal(isOutOfRange(trillion, 1), false)
  assert.equal(isOutOfRange(1, trillion), false)
  assert.equal(isOutOfRange(500_000_000_000, 2), false)
  assert.equal(isOutOfRange(trillion + 0.001, 1), true)
  assert.equal(isOutOfRange(1e21, 1), true)
  assert.equal(isOutOfRange(1.7e308, 2), true)
})

test('a line value one nano above 10^12 is out of range although its double is 10^12', () => {
  // 10^21 + 1 nanos = 1,270,000,127 x 787,401,496,063 nanos.
  assert.equal(787.401496063 * 1_270_000_127, trillion)
  assert.equal(lineValueNanos(787.401496063, 1_270_000_127), 10n ** 21n + 1n)
  assert.equal(isOutOfRange(787.401496063, 1_270_000_127), true)
  assert.equal(isOutOfRange(787.401496063, 1_270_000_126), false)
})

test('amounts print with exactly the digits asked for', () => {
  assert.equal(formatDecimal(19_990_000_000n, 9, 2), '19.99')
  assert.equal(formatDecimal(19_990_000_000n, 9, 0), '20')
  assert.equal(formatDecimal(1_234_000_000n, 9, 3), '1.234')
  assert.equal(formatDecimal(123_400_000n, 9, 4), '0.1234')
  assert.equal(formatDecimal(0n, 9, 2), '0.00')
  assert.equal(formatDecimal(5n, 0, 2), '5.00')
  assert.equal(formatDecimal(5n, 2, 9), '0.050000000')
})

test('printing rounds half to the even digit, in both directions', () => {
  assert.equal(formatDecimal(125n, 3, 2), '0.12')
  assert.equal(formatDecimal(135n, 3, 2), '0.14')
  assert.equal(formatDecimal(-125n, 3, 2), '-0.12')
  assert.equal(formatDecimal(-135n, 3, 2), '-0.14')
  assert.equal(formatDecimal(125_000_001n, 9, 2), '0.13')
  assert.equal(formatDecimal(995n, 3, 2), '1.00')
  assert.equal(formatDecimal(500_000_000n, 9, 0), '0')
  assert.equal(formatDecimal(1_500_000_000n, 9, 0), '2')
})

test('a negative amount that rounds to zero prints without a sign', () => {
  assert.equal(formatDecimal(-1n, 9, 2), '0.00')
  assert.equal(formatDecimal(-4_999_999n, 9, 2), '0.00')
  assert.equal(formatDecimal(-5_000_001n, 9, 2), '-0.01')
})

test('an amount of any size prints without an exponent and reads back as itself', () => {
  assert.equal(formatDecimal(10n ** 30n, 9, 2), '1000000000000000000000.00')
  fc.assert(
    fc.property(amount, fc.integer({ min: 0, max: 12 }), (value, scale) => {
      const text = formatDecimal(value, scale, scale)
      assert.match(text, /^-?[0-9]+(\.[0-9]+)?$/)
      assert.equal(parseDecimal(text, scale), value)
    })
  )
})

test('no printed amount is further than half a digit from the exact one', () => {
  fc.assert(
    fc.property(amount, fc.integer({ min: 0, max: 9 }), (value, digits) => {
      const printed =
        parseDecimal(formatDecimal(value, nanosScale, digits), digits) ?? assert.fail()
      const unit = 10n ** BigInt(nanosScale - digits)
      const error = printed * unit - value
      assert.ok(2n * error <= unit && -2n * error <= unit)
      if (2n * error === unit || -2n * error === unit) assert.equal(printed % 2n, 0n)
    })
  )
})

test('a ratio is rounded once, half even', () => {
  assert.equal(divideHalfEven(1n, 3n, 6), '0.333333')
  assert.equal(divideHalfEven(2n, 3n, 6), '0.666667')
  assert.equal(divideHalfEven(1n, 8n, 2), '0.12')
  assert.equal(divideHalfEven(3n, 8n, 2), '0.38')
  assert.equal(divideHalfEven(5n, 2n, 0), '2')
  assert.equal(divideHalfEven(7n, 2n, 0), '4')
  // Rounded first to 4 digits and then to 2 this would be 0.13.
  assert.equal(divideHalfEven(1_249_999n, 10_000_000n, 2), '0.12')
})

test('a ratio of small integers is rounded like one of huge integers', () => {
  // Factors push the same ratio out of the range in which doubles are exact.
  const factor = 10n ** 20n
  const small = fc.bigInt({ min: -(2n ** 53n), max: 2n ** 53n })
  fc.assert(
    fc.property(
      small,
      fc.oneof(fc.bigInt({ min: 1n, max: 100n }), fc.bigInt({ min: 1n, max: 2n ** 53n })),
      fc.integer({ min: 0, max: 6 }),
      (numerator, denominator, digits) => {
        assert.equal(
          divideHalfEven(numerator, denominator, digits),
          divideHalfEven(numerator * factor, denominator * factor, digits)
        )
      }
    )
  )
  for (const [numerator, denominator] of [
    [2n ** 53n - 1n, 2n],
    [2n ** 53n - 1n, 2n ** 53n - 1n],
    [2n ** 53n - 2n, 2n ** 53n - 1n],
    [-(2n ** 53n) + 1n, 2n],
  ] as const) {
    assert.equal(
      divideHalfEven(numerator, denominator, 0),
      divideHalfEven(numerator * factor, denominator * factor, 0)
    )
  }
})

test('a ratio over zero is empty and a zero ratio is not', () => {
  assert.equal(divideHalfEven(5n, 0n, 4), '')
  assert.equal(divideHalfEven(0n, 0n, 4), '')
  assert.equal(divideHalfEven(0n, 5n, 4), '0.0000')
})

test('a ratio takes the sign of its parts and never prints a negative zero', () => {
  assert.equal(divideHalfEven(-1n, 2n, 1), '-0.5')
  assert.equal(divideHalfEven(1n, -2n, 1), '-0.5')
  assert.equal(divideHalfEven(-1n, -2n, 1), '0.5')
  assert.equal(divideHalfEven(-1n, 1_000n, 2), '0.00')
  assert.equal(divideHalfEven(0n, -7n, 2), '0.00')
})

test('a ratio does not change when both parts grow by the same factor', () => {
  fc.assert(
    fc.property(
      amount,
      amount.filter((value) => value !== 0n),
      fc.bigInt({ min: 1n, max: 10n ** 9n }),
      (numerator, denominator, factor) => {
        assert.equal(
          divideHalfEven(numerator * factor, denominator * factor, 6),
          divideHalfEven(numerator, denominator, 6)
        )
      }
    )
  )
})

test('a plain decimal is read exactly', () => {
  assert.equal(parseDecimal('0.25', 6), 250_000n)
  assert.equal(parseDecimal('0', 6), 0n)
  assert.equal(parseDecimal('-0', 6), 0n)
  assert.equal(parseDecimal('-3', 9), -3_000_000_000n)
  assert.equal(parseDecimal('-0.000001', 6), -1n)
  assert.equal(parseDecimal('1.950000', 6), 1_950_000n)
  assert.equal(parseDecimal('12', 0), 12n)
})

test('what is no plain decimal of the scale is refused rather than guessed', () => {
  const signs = [
    '',
    ' ',
    ' 1',
    '1 ',
    '1\n',
    '+1',
    '--1',
    '-',
    '.',
    '.5',
    '5.',
    '1.2.3',
    '1,5',
    "1'000",
  ]
  const forms = ['1e3', '1E3', '0x10', 'Infinity', 'NaN', '007', '00', '01.5', '1_000', '0.0000001']
  const scripts = ['\u0661', '\uFF11', '\u22125']
  const refused = [...signs, ...forms, ...scripts, '1'.repeat(101)]
  for (const text of refused) assert.equal(parseDecimal(text, 6), null, JSON.stringify(text))
  assert.equal(parseDecimal('1.0', 0), null)
})

test('doubles print as the bigints of the same value do, up to where doubles end and beyond', () => {
  const safe = fc.oneof(
    fc.integer({ min: -100, max: 100 }),
    fc.maxSafeInteger(),
    fc.constantFrom(Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, -0)
  )
  fc.assert(
    fc.property(safe, safe, fc.integer({ min: 0, max: 12 }), (one, other, digits) => {
      const [numerator, denominator] = [BigInt(one), BigInt(other)]
      assert.equal(
        divideHalfEven(one, other, digits),
        divideHalfEven(numerator, denominator, digits)
      )
      assert.equal(
        formatDecimal(one, nanosScale, digits),
        formatDecimal(numerator, nanosScale, digits)
      )
      assert.equal(BigInt(timesPowerOfTen(one, digits)), numerator * 10n ** BigInt(digits))
    })
  )
})

test('an amount of the warehouse is read to the nano at any size', () => {
  const nanos = fc.oneof(
    amount,
    // Around where the double next to the text is no longer close enough, and where doubles end.
    fc.bigInt({ min: 2n ** 50n - 5_000n, max: 2n ** 50n + 5_000n }),
    fc.bigInt({ min: 2n ** 53n - 5_000n, max: 2n ** 53n + 5_000n })
  )
  fc.assert(
    fc.property(nanos, fc.boolean(), (value, isNegative) => {
      const signed = isNegative ? -value : value
      const text = formatDecimal(signed, nanosScale, nanosScale)
      assert.equal(BigInt(readNanos(text)), signed)
      // The engine leaves out zeros at the end.
      assert.equal(BigInt(readNanos(text.replace(/\.?0+$/, ''))), signed)
    }),
    { numRuns: 2_000 }
  )
})

test('what is no amount is never read as one', () => {
  for (const text of ['', 'nan', 'inf', 'x', '1e30', '1,5']) {
    assert.throws(() => readNanos(text), /plain decimal/u, text)
  }
})
