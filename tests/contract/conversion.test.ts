import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseConversion } from '../../src/contract/conversion.ts'
import { parseJsonBody } from '../../src/contract/json.ts'

type Body = Readonly<Record<string, unknown>>

const product = { gtin: '4006381333931', group_id: 'GRP1', brand: 'Acme', price: 10, quantity: 1 }

function aConversion(changes: Body = {}): Body {
  return {
    user_id: 'u1',
    transaction_id: 't-1',
    site_id: 101,
    publisher_id: 10,
    currency: 'EUR',
    products: [product],
    ...changes,
  }
}

function withProduct(changes: Body): Body {
  return aConversion({ products: [{ ...product, ...changes }] })
}

function without(body: Body, name: string): Body {
  return Object.fromEntries(Object.entries(body).filter(([key]) => key !== name))
}

function faults(value: unknown): readonly string[] {
  const parsed = parseConversion(value)
  return parsed.ok ? [] : parsed.messages
}

/** Through JSON, as it would come in. */
function faultsOfText(text: string): readonly string[] {
  const body = parseJsonBody(Buffer.from(text))
  assert.ok(body.ok)
  return faults(body.value)
}

/** The least of three times, as collecting garbage may fall into any of them. */
function cpuMsOf(work: () => unknown): number {
  const times = Array.from({ length: 3 }, () => {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  })
  return Math.min(...times)
}

const emoji = '😀'
const lone = '\ud83d'
const notText = 'must be text without lone surrogates or U+0000'

const lengths = [
  { field: 'user_id', max: 128, at: (text: unknown) => aConversion({ user_id: text }) },
  {
    field: 'user_logged_in_id',
    max: 128,
    at: (text: unknown) => aConversion({ user_logged_in_id: text }),
  },
  {
    field: 'transaction_id',
    max: 64,
    at: (text: unknown) => aConversion({ transaction_id: text }),
  },
  { field: 'products/0/gtin', max: 60, at: (text: unknown) => withProduct({ gtin: text }) },
  { field: 'products/0/group_id', max: 60, at: (text: unknown) => withProduct({ group_id: text }) },
  { field: 'products/0/brand', max: 128, at: (text: unknown) => withProduct({ brand: text }) },
]

for (const { field, max, at } of lengths) {
  test(`${field} takes ${max} code points and not one more, of one, two or four bytes`, () => {
    for (const character of ['a', 'ä', emoji]) {
      assert.deepEqual(faults(at(character.repeat(max))), [])
      assert.deepEqual(faults(at(character.repeat(max + 1))), [
        `/${field} must have at most ${max} characters`,
      ])
    }
    assert.deepEqual(faults(at(`a${emoji.repeat(max - 1)}`)), [])
  })

  test(`${field} takes neither lone surrogates nor U+0000`, () => {
    for (const hostile of [lone, `a${lone}b`, '\udc00', 'a\0b', `${emoji}\udc00`]) {
      assert.deepEqual(faults(at(hostile)), [`/${field} ${notText}`])
    }
  })

  test(`${field} takes nothing but text`, () => {
    for (const value of [null, 42, true, [], {}]) {
      assert.deepEqual(faults(at(value)), [`/${field} must be string`])
    }
  })
}

test('the interface allows empty user, transaction, gtin, group and brand', () => {
  assert.deepEqual(faults(aConversion({ user_id: '', transaction_id: '' })), [])
  assert.deepEqual(faults(withProduct({ gtin: '', group_id: '', brand: '' })), [])
})

test('an empty logged-in id is refused', () => {
  assert.deepEqual(faults(aConversion({ user_logged_in_id: '' })), [
    '/user_logged_in_id must have at least 1 character',
  ])
  assert.deepEqual(faults(aConversion({ user_logged_in_id: 'x' })), [])
})

const integers = [
  { field: 'site_id', at: (value: unknown) => aConversion({ site_id: value }) },
  { field: 'publisher_id', at: (value: unknown) => aConversion({ publisher_id: value }) },
  { field: 'products/0/quantity', at: (value: unknown) => withProduct({ quantity: value }) },
]

for (const { field, at } of integers) {
  test(`${field} takes every int32 and no other value`, () => {
    for (const value of [-2147483648, -1, 0, 1, 2147483647]) {
      assert.deepEqual(faults(at(value)), [])
    }
    assert.deepEqual(faults(at(2147483648)), [`/${field} must be at most 2147483647`])
    assert.deepEqual(faults(at(-2147483649)), [`/${field} must be at least -2147483648`])
    for (const value of ['2', true, null, 1.5, [1], { value: 1 }]) {
      assert.deepEqual(faults(at(value)), [`/${field} must be integer`])
    }
    assert.deepEqual(faults(at(Number.POSITIVE_INFINITY)), [`/${field} must be a finite number`])
  })
}

test('price takes every finite double and no other value', () => {
  for (const price of [0, -0, -1, 19.99, 5e-324, 1.7e308]) {
    assert.deepEqual(faults(withProduct({ price })), [])
  }
  for (const price of ['10', '10,50', true, null, [], {}]) {
    assert.deepEqual(faults(withProduct({ price })), ['/products/0/price must be number'])
  }
})

// JSON.parse turns both into an infinity, which would be stored as inf or null.
test('a number too large for a double is refused', () => {
  for (const number of ['1e999', '-1e999']) {
    const text = JSON.stringify(withProduct({ price: 42.5 })).replace('42.5', number)
    assert.deepEqual(faultsOfText(text), ['/products/0/price must be a finite number'])
  }
})

test('products is a list of 1 to 10,000 objects', () => {
  assert.deepEqual(faults(aConversion({ products: [] })), ['/products must have at least 1 item'])
  assert.deepEqual(
    faults(aConversion({ products: Array.from({ length: 10_000 }, () => product) })),
    []
  )
  assert.deepEqual(
    faults(aConversion({ products: Array.from({ length: 10_001 }, () => product) })),
    ['/products must have at most 10000 items']
  )
  assert.deepEqual(faults(aConversion({ products: product })), ['/products must be array'])
  for (const element of [null, 1, 'x', [product]]) {
    assert.deepEqual(faults(aConversion({ products: [product, element] })), [
      '/products/1 must be object',
    ])
  }
})

test('a missing field is named by its own path', () => {
  for (const name of [
    'user_id',
    'transaction_id',
    'site_id',
    'publisher_id',
    'currency',
    'products',
  ]) {
    assert.deepEqual(faults(without(aConversion(), name)), [`/${name} is required`])
  }
  for (const name of ['gtin', 'price', 'quantity']) {
    assert.deepEqual(faults(aConversion({ products: [product, without(product, name)] })), [
      `/products/1/${name} is required`,
    ])
  }
})

test('optional fields may be absent', () => {
  const parsed = parseConversion(aConversion({ products: [{ gtin: '1', price: 1, quantity: 1 }] }))

  assert.ok(parsed.ok)
  assert.deepEqual(Object.keys(parsed.value.products[0] ?? {}), ['gtin', 'price', 'quantity'])
  assert.ok(!('user_logged_in_id' in parsed.value))
})

test('a body that is no object is refused as such', () => {
  for (const value of [null, 1, 'x', true, [], [aConversion()], undefined]) {
    assert.deepEqual(faults(value), ['body must be object'])
  }
})

test('currency is an active ISO 4217 code in any case and comes out in upper case', () => {
  for (const currency of ['EUR', 'eur', 'Kwd', 'byn', 'VED', 'SLE']) {
    const parsed = parseConversion(aConversion({ currency }))
    assert.ok(parsed.ok)
    assert.equal(parsed.value.currency, currency.toUpperCase())
  }
  for (const currency of ['', 'EU', 'BYR', 'HRK', 'BGN', 'XXQ', 'E R', '€', 'eür']) {
    assert.deepEqual(faults(aConversion({ currency })), [
      '/currency must be an active ISO 4217 currency code',
    ])
  }
  assert.deepEqual(faults(aConversion({ currency: 'EURO' })), [
    '/currency must have at most 3 characters',
  ])
})

test('unknown fields are ignored and not copied, whatever they are called', () => {
  const text =
    '{"user_id":"u1","transaction_id":"t-1","site_id":101,"publisher_id":10,"currency":"EUR",' +
    '"extra":1,"__proto__":{"user_logged_in_id":"x"},"constructor":null,' +
    '"products":[{"gtin":"1","price":1,"quantity":1,"extra":[1],"__proto__":{"brand":"x"}}]}'
  const body = parseJsonBody(Buffer.from(text))
  assert.ok(body.ok)

  const parsed = parseConversion(body.value)

  assert.ok(parsed.ok)
  assert.equal(parsed.value.user_logged_in_id, undefined)
  assert.equal(parsed.value.products[0]?.brand, undefined)
  assert.deepEqual(parsed.value, {
    user_id: 'u1',
    transaction_id: 't-1',
    site_id: 101,
    publisher_id: 10,
    currency: 'EUR',
    products: [{ gtin: '1', price: 1, quantity: 1 }],
  })
})

test('of a doubled key the last value is validated and kept', () => {
  const text = JSON.stringify(aConversion())
  const doubled = text.replace('"currency":"EUR"', '"currency":"EUR","currency":"bogus"')
  assert.deepEqual(faultsOfText(doubled), ['/currency must have at most 3 characters'])

  const body = parseJsonBody(Buffer.from(text.replace('"price":10', '"price":"no","price":99')))
  assert.ok(body.ok)
  const parsed = parseConversion(body.value)
  assert.ok(parsed.ok)
  assert.equal(parsed.value.products[0]?.price, 99)
})

test('every fault of a small body is told at once, each only once', () => {
  const body = aConversion({ site_id: '1', products: [{ ...product, price: 'x', quantity: 1.5 }] })

  assert.deepEqual(faults(body), [
    '/site_id must be integer',
    '/products/0/price must be number',
    '/products/0/quantity must be integer',
  ])
})

test('no more than 20 faults are told', () => {
  const products = Array.from({ length: 100 }, () => ({ ...product, price: 'x' }))

  assert.equal(faults(aConversion({ products })).length, 20)
})

test('a body of 1 MiB full of faults is refused about as soon as it is read, with at most 20 messages', () => {
  for (const element of ['1', '{}', '""']) {
    const count = Math.floor(1_048_000 / (element.length + 1))
    const text = `{"products":[${Array.from({ length: count }, () => element).join(',')}]}`
    const parsingMs = cpuMsOf(() => JSON.parse(text))
    let messages: readonly string[] = []

    const refusingMs = cpuMsOf(() => (messages = faultsOfText(text)))

    assert.ok(refusingMs < 20 * parsingMs, `${refusingMs} ms, of which ${parsingMs} ms to parse`)
    assert.ok(messages.length >= 1 && messages.length <= 20)
  }
})

test('nesting of any depth is refused or ignored like any other value', () => {
  const deep = '['.repeat(200_000) + ']'.repeat(200_000)
  const text = JSON.stringify(aConversion())

  assert.deepEqual(faultsOfText(text.replace('"u1"', deep)), ['/user_id must be string'])
  assert.deepEqual(faultsOfText(text.replace('{', `{"extra":${deep},`)), [])
})

test('a message never repeats a value', () => {
  const secret = 'secret-value'
  const messages = faults(
    aConversion({
      user_id: secret.repeat(20),
      site_id: secret,
      currency: secret,
      products: [{ ...product, price: secret, [secret]: secret }],
    })
  )

  assert.equal(messages.length, 4)
  assert.ok(messages.every((message) => !message.includes(secret)))
})

const text = (maxLength: number) => fc.string({ unit: 'binary', maxLength })
const int32 = fc.integer({ min: -2147483648, max: 2147483647 })

test('whatever obeys the interface is taken as it is', () => {
  const productArbitrary = fc.record(
    {
      gtin: text(60),
      group_id: text(60),
      brand: text(128),
      price: fc.double({ noNaN: true, noDefaultInfinity: true }),
      quantity: int32,
    },
    { requiredKeys: ['gtin', 'price', 'quantity'], noNullPrototype: true }
  )
  const conversionArbitrary = fc.record(
    {
      user_id: text(128),
      user_logged_in_id: fc.string({ unit: 'binary', minLength: 1, maxLength: 128 }),
      transaction_id: text(64),
      site_id: int32,
      publisher_id: int32,
      currency: fc.constantFrom('EUR', 'USD', 'JPY'),
      products: fc.array(productArbitrary, { minLength: 1, maxLength: 5 }),
    },
    {
      requiredKeys: [
        'user_id',
        'transaction_id',
        'site_id',
        'publisher_id',
        'currency',
        'products',
      ],
      noNullPrototype: true,
    }
  )
  fc.assert(
    fc.property(conversionArbitrary, (conversion) => {
      fc.pre(!JSON.stringify(conversion).includes(String.raw`\u0000`))
      assert.deepEqual(parseConversion(conversion), { ok: true, value: conversion })
    })
  )
})

test('no value makes the check throw', () => {
  fc.assert(
    fc.property(fc.anything(), fc.anything(), (value, element) => {
      parseConversion(value)
      parseConversion(aConversion({ products: [element], user_id: value }))
    })
  )
})
