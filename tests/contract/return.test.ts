import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseReturn } from '../../src/contract/return.ts'

type Body = Readonly<Record<string, unknown>>

const product = { gtin: '4006381333931', quantity: 1 }

function aReturn(changes: Body = {}): Body {
  return {
    publisher_id: 10,
    transaction_id: 't-1',
    return_id: 'r-1',
    products: [product],
    ...changes,
  }
}

function withProduct(changes: Body): Body {
  return aReturn({ products: [{ ...product, ...changes }] })
}

function withProducts(count: number): Body {
  return aReturn({ products: Array.from({ length: count }, () => product) })
}

function faults(value: unknown): readonly string[] {
  const parsed = parseReturn(value)
  return parsed.ok ? [] : parsed.messages
}

for (const field of ['transaction_id', 'return_id']) {
  test(`${field} is 1 to 64 code points of text, one of them visible`, () => {
    const visible = `/${field} must be text with a visible character`

    for (const text of ['x', ' x', '😀'.repeat(64), '\u00a0-', `${' '.repeat(63)}1`]) {
      assert.deepEqual(faults(aReturn({ [field]: text })), [])
    }
    for (const text of ['', ' ', '\t\r\n', '\u00a0\u2003', ' '.repeat(64)]) {
      assert.deepEqual(faults(aReturn({ [field]: text })), [visible])
    }
    assert.deepEqual(faults(aReturn({ [field]: '😀'.repeat(65) })), [
      `/${field} must have at most 64 characters`,
    ])
    for (const text of ['a\ud83d', 'a\0b']) {
      assert.deepEqual(faults(aReturn({ [field]: text })), [
        `/${field} must be text without lone surrogates or U+0000`,
      ])
    }
    for (const value of [null, 1, true, [], {}]) {
      assert.deepEqual(faults(aReturn({ [field]: value })), [`/${field} must be string`])
    }
  })
}

test('characters that nobody sees make no id', () => {
  const invisible = /[\s\p{Cc}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]/u
  for (let code = 1; code <= 0xff_ff; code += 1) {
    if (code >= 0xd8_00 && code <= 0xdf_ff) continue
    const text = String.fromCodePoint(code)
    // Reserved, so a later Unicode may show it.
    if (/\p{Cn}/u.test(text)) continue
    const named = `U+${code.toString(16)}`
    assert.equal(faults(aReturn({ return_id: text })).length, invisible.test(text) ? 1 : 0, named)
  }
  for (const field of ['transaction_id', 'return_id']) {
    for (const text of ['\u200b', '\u2060\u200d', ' \u200b\t\ufeff', '\u0001\u00ad']) {
      assert.deepEqual(faults(aReturn({ [field]: text })), [
        `/${field} must be text with a visible character`,
      ])
    }
    assert.deepEqual(faults(aReturn({ [field]: '\u200b7' })), [])
  }
})

test('a quantity is a whole number from 1 to the greatest int32', () => {
  for (const quantity of [1, 2_147_483_647]) assert.deepEqual(faults(withProduct({ quantity })), [])
  for (const quantity of [0, -1]) {
    assert.deepEqual(faults(withProduct({ quantity })), ['/products/0/quantity must be at least 1'])
  }
  assert.deepEqual(faults(withProduct({ quantity: 2_147_483_648 })), [
    '/products/0/quantity must be at most 2147483647',
  ])
  for (const quantity of ['1', 1.5, null, true]) {
    assert.deepEqual(faults(withProduct({ quantity })), ['/products/0/quantity must be integer'])
  }
})

test('products are 1 to 1,000, the same one also twice', () => {
  assert.deepEqual(faults(withProducts(0)), ['/products must have at least 1 item'])
  assert.deepEqual(faults(withProducts(2)), [])
  assert.deepEqual(faults(withProducts(10_000)), [])
  assert.deepEqual(faults(withProducts(10_001)), ['/products must have at most 10000 items'])
})

test('a gtin is what a gtin of a conversion is', () => {
  for (const gtin of ['', 'Sku-1', ' 4006381333931 ', '😀'.repeat(60)]) {
    assert.deepEqual(faults(withProduct({ gtin })), [])
  }
  assert.deepEqual(faults(withProduct({ gtin: 'x'.repeat(61) })), [
    '/products/0/gtin must have at most 60 characters',
  ])
  assert.deepEqual(faults(withProduct({ gtin: 4_006_381_333_931 })), [
    '/products/0/gtin must be string',
  ])
})

test('a missing field is named, and all faults are told at once', () => {
  assert.deepEqual(faults({}), [
    '/publisher_id is required',
    '/transaction_id is required',
    '/return_id is required',
    '/products is required',
  ])
  assert.deepEqual(faults(aReturn({ products: [{}], publisher_id: 2_147_483_648 })), [
    '/publisher_id must be at most 2147483647',
    '/products/0/gtin is required',
    '/products/0/quantity is required',
  ])
  for (const value of [null, 1, 'x', []]) assert.deepEqual(faults(value), ['body must be object'])
})

test('unknown fields are ignored and not copied', () => {
  const body = aReturn({ user_id: 'u1', products: [{ ...product, price: 9.99 }] })

  assert.deepEqual(parseReturn(body), { ok: true, value: aReturn() })
})

test('no value makes the check throw', () => {
  fc.assert(
    fc.property(fc.anything(), fc.anything(), (value, element) => {
      parseReturn(value)
      parseReturn(aReturn({ products: [element], return_id: value }))
    })
  )
})
