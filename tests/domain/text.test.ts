import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { countCodePoints, escapeForSpreadsheet, isText } from '../../src/domain/text.ts'

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
    '\t=1+1',
    '\r=1+1',
  ]
  for (const text of [...texts, '\n=1+1', '\uFF1D1+1', '\uFF0B1', '\uFF0D1', '\uFF20A', '=']) {
    assert.equal(escapeForSpreadsheet(text), `'${text}`)
  }
})

test('other text is left alone', () => {
  for (const text of ['', 'a=b', '1-2', "'=1", ' =1', '\u2212 1', '4006381333931', '\u{1F600}=']) {
    assert.equal(escapeForSpreadsheet(text), text)
  }
})
