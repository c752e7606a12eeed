import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseLanguage } from '../../src/domain/language.ts'

test('a malformed tag names no language', () => {
  const locales = [
    '',
    ' ',
    '../../etc/passwd',
    'de-DE,en;q=0.5',
    'a'.repeat(4_000),
    'de DE',
    'de-',
    '-',
  ]
  for (const locale of [...locales, '_', 'de__DE', 'd', '12', 'de\0', 'de\n', '*', 'de_DE.UTF-8']) {
    assert.equal(parseLanguage(locale), null, JSON.stringify(locale))
  }
})

test('a tag of endless length names no language although it is well-formed', () => {
  assert.equal(parseLanguage(`de-x${'-aaaaaaaa'.repeat(500)}`), null)
})

test('no string whatever makes it throw', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[a-zA-Z_-]{0,20}$/)),
      (locale) => {
        parseLanguage(locale)
      }
    )
  )
})
