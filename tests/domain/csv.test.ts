import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { escapeForSpreadsheet } from '../../src/domain/text.ts'
import { csvRow } from '../../src/domain/csv.ts'

test('a row is its cells between commas, ended by CRLF', () => {
  assert.equal(csvRow([{ text: 'Acme' }, { number: '19.99' }, { text: '' }]), 'Acme,19.99,\r\n')
})

test('text is quoted exactly where a reader would misread it', () => {
  const rows = [
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['"', '""""'],
    ['two\nlines', '"two\nlines"'],
    ['two\r\nlines', '"two\r\nlines"'],
    ['bare\rreturn', '"bare\rreturn"'],
    [' leading', '" leading"'],
    ['trailing ', '"trailing "'],
    [' ', '" "'],
    ['in ner', 'in ner'],
    ['semi;colon', 'semi;colon'],
    ['\u00E4\u{1F600}\u6F22', '\u00E4\u{1F600}\u6F22'],
  ] as const
  for (const [text, expected] of rows) assert.equal(csvRow([{ text }]), `${expected}\r\n`)
})

test('a formula in a text is made harmless and then quoted', () => {
  const rows = [
    ['=HYPERLINK("http://evil.example","x")', '"\'=HYPERLINK(""http://evil.example"",""x"")"'],
    ['+1+1', "'+1+1"],
    ['-2+3', "'-2+3"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1+1', "'\t'=1+1"],
    ['\r=1+1', '"\'\r\'=1+1"'],
    ['a;=1+1;', "a;'=1+1;"],
    ['a;"=1', '"a;""\'=1"'],
    ["=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"],
    ['\uFF1D1+1', "'\uFF1D1+1"],
  ] as const
  for (const [text, expected] of rows) assert.equal(csvRow([{ text }]), `${expected}\r\n`)
})

test('a number is never escaped, and an absent one is an empty field', () => {
  const numbers = ['-1234.5', '0.00', '1000000000000000000000.00', '']

  const row = csvRow(numbers.map((number) => ({ number })))

  assert.equal(row, '-1234.5,0.00,1000000000000000000000.00,\r\n')
})

test('what is no plain decimal never passes as a number', () => {
  const texts = [
    '=1',
    '+1',
    '1e21',
    'NaN',
    'Infinity',
    '1,5',
    '1\u00A0000',
    '\u22121',
    '.5',
    '1.',
    '-',
  ]
  for (const number of [...texts, ' 1', '1\n']) {
    assert.throws(() => csvRow([{ number }]), /a number cell holds a plain decimal/, number)
  }
})

test('any texts come back from a standard reader as one row, unchanged but for the apostrophes', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('"', ',', '\r', '\n', ' ', '=', "'", 'a', '\u2028', '\t') })
  )
  fc.assert(
    fc.property(fc.array(text, { minLength: 2, maxLength: 6 }), (texts) => {
      const records: unknown = parse(csvRow(texts.map((cell) => ({ text: cell }))), {
        recordDelimiter: '\r\n',
      })
      assert.deepEqual(records, [texts.map(escapeForSpreadsheet)])
    })
  )
})
