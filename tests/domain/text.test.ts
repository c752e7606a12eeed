import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  countCodePoints,
  escapeForSpreadsheet,
  isText,
  unescapeFromSpreadsheet,
} from '../../src/domain/text.ts'

const anyString = fc.string({
  unit: fc.integer({ min: 0, max: 0xffff }).map((u) => String.fromCharCode(u)),
})
const surrogates = fc.string({ unit: fc.constantFrom('\uD83D', '\uDE00', 'a') })

test('length is counted in code points, whatever UTF-16 or UTF-8 make of them', () => {
  assert.equal(countCodePoints(''), 0)
  assert.equal(countCodePoints('t'.repeat(64)), 64)
  assert.equal(countCodePoints('\u{1F600}'.repeat(64)), 64)
  assert.equal(countCodePoints('\u00E4'.repeat(128)), 128)
  // A family emoji is one picture and five code points.
  assert.equal(countCodePoints('\u{1F468}\u200D\u{1F469}\u200D\u{1F467}'), 5)
})

test('counting agrees with iterating over any string, broken ones included', () => {
  fc.assert(
    fc.property(fc.oneof(anyString, surrogates, fc.string({ unit: 'binary' })), (text) => {
      assert.equal(countCodePoints(text), Array.from(text).length)
    })
  )
})

test('lone surrogates and U+0000 are not text', () => {
  for (const text of ['\uD83D', '\uDE00', 'a\uD83Db', '\uDE00\uD83D', 'a\0b', '\0']) {
    assert.equal(isText(text), false, JSON.stringify(text))
  }
})

test('control, bidi and zero-width characters are text', () => {
  for (const text of [
    '',
    '\u202Egnp.exe\t\u0007\u200B name',
    '\u{1F600}',
    '\uFFFD',
    '\uFEFFa',
    '\r\n',
  ]) {
    assert.equal(isText(text), true, JSON.stringify(text))
  }
})

test('exactly the strings that UTF-8 gives back unchanged are text, save for U+0000', () => {
  fc.assert(
    fc.property(fc.oneof(anyString, surrogates), (text) => {
      const survives = Buffer.from(text, 'utf8').toString('utf8') === text
      assert.equal(isText(text), survives && !text.includes('\0'))
    })
  )
})

test('text that a spreadsheet would run gets a leading apostrophe', () => {
  const texts = [
    '=HYPERLINK("http://evil.example","x")',
    '+1+1',
    '-2+3',
    '@SUM(A1)',
    '\t1+1',
    '\r1+1',
  ]
  for (const text of [
    ...texts,
    '\n1+1',
    '\uFF1D1+1',
    '\uFF0B1',
    '\uFF0D1',
    '\uFF20A',
    '=',
    ' =1',
    '  -1',
  ]) {
    assert.equal(escapeForSpreadsheet(text), `'${text}`)
  }
})

test('other text is left alone', () => {
  for (const text of [
    '',
    'a=b',
    '1-2',
    "'1",
    ' 1',
    'a; b',
    'a;b',
    'a\nb',
    'a,=1',
    'a"=1',
    '\u2212 1',
    '4006381333931',
    '\u{1F600}=',
  ]) {
    assert.equal(escapeForSpreadsheet(text), text)
  }
})

test('a cell that a spreadsheet ends at a semicolon, a tab or a line end inside a text runs nothing', () => {
  for (const [text, guarded] of [
    ['a;=1+1;', "a;'=1+1;"],
    ["a;=cmd|'/c calc'!A1;b", "a;'=cmd|'/c calc'!A1;b"],
    ['a\t=1;+1', "a\t'=1;'+1"],
    ['a\r\n@A1\n-1\r\uFF1D1', "a\r\n'@A1\n'-1\r'\uFF1D1"],
    [';;=1', ";;'=1"],
    // The quotes are doubled in the file, where two of them are an empty text before the formula.
    ['a;"=1', 'a;"\'=1'],
    ['a;""=1', 'a;""\'=1'],
    ['=1;=1', "'=1;'=1"],
    ['a; =1', "a;' =1"],
    ['a;" =1', 'a;"\' =1'],
    ['\t=1', "'\t'=1"],
  ] as const) {
    assert.equal(escapeForSpreadsheet(text), guarded)
  }
})

const spreadsheetText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom('"', "'", ';', '\t', '\r', '\n', '=', '-', '\uFF1D', ' ', 'a'),
  })
)

test('no text that is guarded begins a cell with a formula, wherever a spreadsheet splits it', () => {
  fc.assert(
    fc.property(spreadsheetText, (text) => {
      const [first = '', ...others] = escapeForSpreadsheet(text).split(/[;\t\r\n]/)
      assert.doesNotMatch(first, /^ *[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/)
      for (const cell of others) assert.doesNotMatch(cell, /^"* *[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/)
    })
  )
})

test('every text comes back from its guarded form, those that look guarded too', () => {
  assert.equal(escapeForSpreadsheet("'=1"), "''=1")
  fc.assert(
    fc.property(spreadsheetText, (text) => {
      assert.equal(unescapeFromSpreadsheet(escapeForSpreadsheet(text)), text)
    })
  )
})
