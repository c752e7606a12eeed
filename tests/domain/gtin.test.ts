import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { gtinKey } from '../../src/domain/gtin.ts'

test('the short and the long spelling of one GTIN are one product', () => {
  assert.equal(gtinKey('96385074'), '00000096385074')
  assert.equal(gtinKey('036000291452'), '00036000291452')
  assert.equal(gtinKey('4006381333931'), '04006381333931')
  assert.equal(gtinKey('04006381333931'), '04006381333931')
})

test('digits of another length are article codes and stay as they are', () => {
  for (const text of [
    '0',
    '1234567',
    '123456789',
    '8500000001',
    '12345678901',
    '123456789012345',
  ]) {
    assert.equal(gtinKey(text), text)
  }
})

test('an article code is exact text, case included', () => {
  const texts = ['978-0-552-13326-5', 'R690157_9960', 'SKU/\u00E4-01', '9.11111E+24', '1e5', '0x10']
  for (const text of [...texts, '100000', 'abc', 'ABC', '-4006381', '+4006381']) {
    assert.equal(gtinKey(text), text)
  }
  assert.equal(new Set(['1e5', '100000', 'abc', 'ABC'].map(gtinKey)).size, 4)
})

test('a wrong check digit and all zeros are still products', () => {
  assert.equal(gtinKey('4006381333932'), '04006381333932')
  assert.equal(gtinKey('00000000'), '00000000000000')
})

test('ASCII white space around a GTIN is ignored, and inside it is not', () => {
  assert.equal(gtinKey(' \t\n\v\f\r4006381333931\r\f\v\n\t '), '04006381333931')
  assert.equal(gtinKey('  ab c '), 'ab c')
  assert.equal(gtinKey(' \t '), '')
  assert.equal(gtinKey(''), '')
})

test('white space and digits beyond ASCII are ordinary text, as they are in SQL', () => {
  for (const text of ['\u00A096385074', '96385074\uFEFF', '\u200396385074', '\u008596385074']) {
    assert.equal(gtinKey(text), text)
  }
  assert.equal(gtinKey('\uFF19\uFF16\uFF13\uFF18\uFF15\uFF10\uFF17\uFF14').length, 8)
  assert.equal(gtinKey('\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668').length, 8)
})

test('the key of a key is itself, so keys can be compared with texts', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'grapheme' }),
        fc.stringMatching(/^[ \t]{0,2}[0-9]{7,15}[ \r]{0,2}$/)
      ),
      (text) => {
        assert.equal(gtinKey(gtinKey(text)), gtinKey(text))
      }
    )
  )
})

test('GTINs are one product exactly when their numbers are equal', () => {
  const gtin = fc.stringMatching(/^(?:[0-9]{8}|[0-9]{12}|[0-9]{13}|[0-9]{14})$/)
  fc.assert(
    fc.property(gtin, gtin, (first, second) => {
      assert.equal(gtinKey(first) === gtinKey(second), BigInt(first) === BigInt(second))
    })
  )
})
