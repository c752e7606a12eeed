import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { currencyTable } from '../../src/domain/currency-table.ts'
import { minorDigits, parseCurrency } from '../../src/domain/currency.ts'
import { formatAmount, parseDecimal } from '../../src/domain/money.ts'

const allCodes = currencyTable.flatMap(({ codes }) => codes.trim().split(/\s+/))

test('every active currency is accepted', () => {
  for (const code of [
    'EUR',
    'USD',
    'GBP',
    'JPY',
    'KWD',
    'CLF',
    'BYN',
    'VED',
    'SLE',
    'ZWG',
    'XCG',
  ]) {
    assert.equal(parseCurrency(code), code)
  }
})

test('a currency that is withdrawn by 2026 is refused', () => {
  for (const code of [
    'HRK',
    'BYR',
    'SLL',
    'ZWL',
    'ANG',
    'CUC',
    'BGN',
    'DEM',
    'VEF',
    'STD',
    'MRO',
  ]) {
    assert.equal(parseCurrency(code), null, code)
  }
})

test('a code that was withdrawn is right for what was received before, up to the end of its last month', () => {
  for (const [code, last, next] of [
    ['BGN', '2026-01-31T23:59:59Z', '2026-02-01T00:00:00Z'],
    ['HRK', '2023-01-31T23:59:59Z', '2023-02-01T00:00:00Z'],
    ['DEM', '2002-03-31T23:59:59Z', '2002-04-01T00:00:00Z'],
  ] as const) {
    assert.equal(parseCurrency(code.toLowerCase(), Date.parse(last)), code)
    assert.equal(parseCurrency(code, 0), code)
    assert.equal(parseCurrency(code, Date.parse(next)), null)
    assert.equal(minorDigits(code), 2)
  }
  assert.equal(parseCurrency('EUR', 0), 'EUR')
  assert.equal(parseCurrency('XXX', 0), null)
  assert.equal(parseCurrency('QQQ', 0), null)
})

test('a code without a minor unit is refused, as no amount in it could be printed', () => {
  const codes = ['XAU', 'XAG', 'XPT', 'XPD', 'XXX', 'XTS', 'XDR', 'XSU', 'XUA', 'XBA', 'XBB']
  for (const code of [...codes, 'XBC', 'XBD']) assert.equal(parseCurrency(code), null, code)
})

test('a currency is accepted in any case and stored in upper case', () => {
  fc.assert(
    fc.property(fc.constantFrom(...allCodes), fc.mixedCase(fc.constant('eur')), (code, euro) => {
      assert.equal(parseCurrency(code.toLowerCase()), code)
      assert.equal(parseCurrency(euro), 'EUR')
    })
  )
})

test('letters that only look like ASCII are refused, upper case or not', () => {
  // Dotless i, dotted capital I, full width, Cyrillic E, Kelvin sign, combining mark, zero width space.
  const texts = ['\u0131nr', '\u0130NR', '\uFF25\uFF35\uFF32', '\u0415UR', '\u212ARW', 'EUR\u0301']
  for (const text of [...texts, 'EUR\u200B', ' EUR', 'EUR ', 'EUR\n', 'EURO', 'EU', '', '978']) {
    assert.equal(parseCurrency(text), null, JSON.stringify(text))
  }
})

test('names that every object inherits are no currencies', () => {
  for (const text of ['constructor', '__proto__', 'toString'])
    assert.equal(parseCurrency(text), null)
})

test('an amount prints exactly, with the digits of its currency or with all nine', () => {
  const digits = { JPY: 0, ISK: 0, EUR: 2, BYN: 2, KWD: 3, TND: 3, CLF: 4, UYW: 4 }
  for (const [code, expected] of Object.entries(digits)) assert.equal(minorDigits(code), expected)
  for (const [nanos, code, expected] of [
    [10_000_000_000n, 'EUR', '10.00'],
    [252_000_000n, 'EUR', '0.252000000'],
    [252_000_000n, 'KWD', '0.252'],
    [-10_000_001n, 'EUR', '-0.010000001'],
    [5_000_000_000n, 'JPY', '5'],
    [4_000_000n, 'JPY', '0.004000000'],
    [0n, 'JPY', '0'],
    [0n, '', '0.00'],
    [10n ** 40n, 'EUR', `1${'0'.repeat(31)}.00`],
  ] as const) {
    assert.equal(formatAmount(nanos, minorDigits(code)), expected)
  }
  fc.assert(
    fc.property(
      fc.bigInt(-(10n ** 40n), 10n ** 40n),
      fc.constantFrom(0, 2, 3, 4),
      (nanos, minor) => {
        const text = formatAmount(nanos, minor)
        assert.equal(parseDecimal(text, 9), nanos)
        assert.ok([minor, 9].includes(text.split('.')[1]?.length ?? 0))
        const isSafe = nanos > -(2n ** 53n) && nanos < 2n ** 53n
        if (isSafe) assert.equal(formatAmount(Number(nanos), minor), text)
      }
    )
  )
})

test('a code withdrawn since prints with cents instead of breaking an old report', () => {
  assert.equal(minorDigits('BGN'), 2)
})

test('the table names 165 currencies, each once and well formed', () => {
  assert.equal(allCodes.length, 165)
  assert.equal(new Set(allCodes).size, 165)
  for (const code of allCodes) assert.match(code, /^[A-Z]{3}$/)
})
