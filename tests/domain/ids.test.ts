import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isInt32, isPositiveInt32, parsePositiveInt32 } from '../../src/domain/ids.ts'

test('int32 reaches from -2^31 to 2^31 - 1 and no further', () => {
  for (const value of [0, -0, 1, -1, 2_147_483_647, -2_147_483_648])
    assert.equal(isInt32(value), true)
  for (const value of [2_147_483_648, -2_147_483_649, Number.POSITIVE_INFINITY, 1e300])
    assert.equal(isInt32(value), false)
})

test('fractions and other types are no int32', () => {
  for (const value of [1.5, Number.NaN, '1', 1n, true, null, undefined, [1], {}]) {
    assert.equal(isInt32(value), false)
    assert.equal(isPositiveInt32(value), false)
  }
})

test('zero and negative numbers are no ids', () => {
  assert.equal(isPositiveInt32(1), true)
  assert.equal(isPositiveInt32(2_147_483_647), true)
  for (const value of [0, -0, -1, 2_147_483_648]) assert.equal(isPositiveInt32(value), false)
})

test('an id in a path is read in its one spelling', () => {
  assert.equal(parsePositiveInt32('1'), 1)
  assert.equal(parsePositiveInt32('1001'), 1001)
  assert.equal(parsePositiveInt32('2147483647'), 2_147_483_647)
})

test('other spellings of an id are refused', () => {
  const texts = ['', '0', '00', '007', '-1', '+1', ' 1', '1 ', '1\n', '1.0', '1e3', '0x10', '1_000']
  for (const text of [
    ...texts,
    '2147483648',
    '9999999999',
    '99999999999',
    '\u0661',
    '\uFF11',
    'a',
  ]) {
    assert.equal(parsePositiveInt32(text), null, JSON.stringify(text))
  }
  assert.equal(parsePositiveInt32('9'.repeat(100_000)), null)
})

test('every id reads back from its text', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2_147_483_647 }), (id) => {
      assert.equal(parsePositiveInt32(String(id)), id)
      assert.equal(isPositiveInt32(id), true)
    })
  )
})
