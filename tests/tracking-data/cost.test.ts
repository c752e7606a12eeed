import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { parseCostMicros, TrackingDataError } from '../../src/tracking-data/tracking-data.ts'

test('a decimal text becomes exactly its millionths', () => {
  const cases = [
    ['0', 0n],
    ['0.25', 250_000n],
    ['1', 1_000_000n],
    ['0.000001', 1n],
    ['0.10', 100_000n],
    ['1000000', 10n ** 12n],
    ['999999.999999', 10n ** 12n - 1n],
  ] as const
  for (const [text, micros] of cases) assert.equal(parseCostMicros(text), micros, text)
})

test('every amount in range survives being written with six decimals', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 12n }), (micros) => {
      const decimals = String(micros % 1_000_000n).padStart(6, '0')
      assert.equal(parseCostMicros(`${micros / 1_000_000n}.${decimals}`), micros)
    })
  )
})

// An amount that is not understood must never become a price of zero or of another size.
test('anything but a plain decimal number in range is refused with field and rule', () => {
  const texts = ['', ' ', '.5', '1.', '01', '-1', '+1', '1e3', '0,25', '0.0000001', '0x10', ' 1']
  const more = [
    '1 ',
    '1\n',
    '1_000',
    'NaN',
    '٣',
    '1000000.000001',
    '1000001',
    '99999999999999999999',
  ]
  for (const text of [...texts, ...more]) {
    assert.throws(
      () => parseCostMicros(text, '/costPerClick'),
      (error) =>
        error instanceof TrackingDataError &&
        error.field === '/costPerClick' &&
        error.message.includes('/costPerClick must be a decimal number'),
      JSON.stringify(text)
    )
  }
})
