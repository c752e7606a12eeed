import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  changeOf,
  formatChange,
  formatCount,
  formatMoney,
  formatPercent,
  formatPrice,
  formatRatio,
  nothing,
} from '../../dashboard/src/format.ts'
import { pickColumns, readRecords } from '../../dashboard/src/csv.ts'
import { addressOf, parseAddress } from '../../dashboard/src/router.ts'
import { readGauges } from '../../dashboard/src/gauges.ts'
import { describeCompleteness } from '../../dashboard/src/words.ts'

// No float holds these: 2^53 and one, and cents beyond the digits of a double.
test('an amount keeps every digit that its currency has, however many stand before the point', () => {
  assert.equal(digitsOf(formatCount('9007199254740993')), '9007199254740993')
  assert.equal(digitsOf(formatMoney('90071992547409.93', 'EUR')), '9007199254740993')
  assert.equal(digitsOf(formatMoney('0.100', 'KWD')), '0100')
  assert.equal(digitsOf(formatMoney('12', 'JPY')), '12')
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 24n }), (cents) => {
      const text = String(cents).padStart(3, '0')
      const amount = `${text.slice(0, -2)}.${text.slice(-2)}`
      assert.equal(digitsOf(formatMoney(amount, 'EUR')), text)
    })
  )
})

test('an amount is shown with the digits of its currency, rounded half even, and a price with all it has', () => {
  for (const [amount, currency, shown] of [
    ['0.252000000', 'EUR', '025'],
    ['0.005000000', 'EUR', '000'],
    ['0.015000000', 'EUR', '002'],
    ['0.005000001', 'EUR', '001'],
    ['2.500000000', 'JPY', '2'],
    ['3.500000000', 'JPY', '4'],
    ['0.000500000', 'KWD', '0000'],
    ['10.00', '', '1000'],
  ] as const) {
    assert.equal(digitsOf(formatMoney(amount, currency)), shown, amount)
  }
  assert.equal(digitsOf(formatPrice('0.252000', 'EUR')), '0252')
  assert.equal(digitsOf(formatPrice('4', 'EUR')), '400')
  assert.equal(digitsOf(formatPrice('0.000001', 'JPY')), '0000001')
})

test('what is no figure is shown as none', () => {
  for (const value of [null, undefined, '', 'NaN', '1e3', 'Infinity', '1,5']) {
    const shown = [
      formatCount(value),
      formatMoney(value, 'EUR'),
      formatPrice(value, 'EUR'),
      formatPercent(value),
      formatRatio(value),
    ]
    assert.deepEqual(new Set(shown), new Set([nothing]))
  }
  assert.equal(digitsOf(formatMoney('1.50', '')), '150')
  assert.equal(digitsOf(formatMoney('1.50', 'not a code')), '150')
})

test('a change needs a figure before that is not zero', () => {
  assert.equal(changeOf('12', '10'), 0.2)
  assert.equal(changeOf('0', '10'), -1)
  for (const before of ['0', '0.00', null, undefined]) assert.equal(changeOf('12', before), null)
})

test('columns are picked out of a CSV without spelling a cell anew', () => {
  const text = 'A,B,C\r\n1,"x, ""y""\r\nz",3\r\n"",\'=2,\r\n'

  assert.deepEqual(readRecords(text), [
    ['A', 'B', 'C'],
    ['1', '"x, ""y""\r\nz"', '3'],
    ['""', "'=2", ''],
  ])
  assert.equal(pickColumns(text, ['C', 'B', 'missing']), 'C,B\r\n3,"x, ""y""\r\nz"\r\n,\'=2\r\n')
  assert.equal(pickColumns(text, ['A', 'B', 'C']), text)
})

test('an address gives back the path and the query it was made of', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ minLength: 1 })), fc.string(), (path, value) => {
      const { path: read, query } = parseAddress(addressOf(path, new URLSearchParams({ value })))
      assert.deepEqual(
        [read, query.get('value')],
        [path, new URLSearchParams({ value }).get('value')]
      )
    })
  )
  assert.deepEqual(parseAddress('#/a/%E0%A4%A').path, ['a', '%E0%A4%A'])
})

test('gauges are read out of the metrics, labels added up and told one by one', () => {
  const text = '# HELP a x\na 1.5\nb{kind="x",status="503"} 2\nb{kind="y",status="503"} 3\nc NaN\n'

  assert.deepEqual(
    [...readGauges(text)],
    [
      ['a', 1.5],
      ['b', 5],
      ['b{kind="x"}', 2],
      ['b{status="503"}', 5],
      ['b{kind="y"}', 3],
    ]
  )
})

function digitsOf(text: string): string {
  return text.replaceAll(/\D/gu, '')
}

test('the note by the figures says which days are not sealed, and which are being renewed', () => {
  const completeThrough = '2026-11-20'
  const none = describeCompleteness({ completeThrough: null, renewingDays: [] }, '2026-11-20')
  const sealed = describeCompleteness({ completeThrough, renewingDays: [] }, '2026-11-20')
  const one = describeCompleteness({ completeThrough, renewingDays: ['2026-11-18'] }, '2026-11-20')
  const some = { completeThrough, renewingDays: ['2026-11-11', '2026-11-18'] }

  assert.match(none, /^No day is sealed yet/)
  assert.equal(sealed, 'All days are sealed.')
  assert.match(one, /^All days are sealed\. .*18.* is being renewed/)
  assert.match(describeCompleteness(some, '2026-11-22'), /later days.* 2 days from .*11.* to .*18/)
})

test('growth beyond 999 % is told as a factor', () => {
  assert.equal(formatChange(9.99).startsWith('+999'), true)
  assert.equal(formatChange(11), '×12')
  assert.equal(formatChange(-0.5).includes('50'), true)
})
