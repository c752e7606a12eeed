// Neighbours of faults that other trackers are known for: what senders put into a purchase. What the
// contract admits is taken, and nothing is bent into shape.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aConversion, messagesOf, startTracker } from '../tracking/fixture.ts'

const line = { gtin: '4006381333931', price: 10, quantity: 1 }

function withLine(fields: object): object {
  return aConversion({ products: [{ ...line, ...fields }] })
}

/** By what they change: a value of a type that only looks like the right one. */
const bent: readonly (readonly [string, object])[] = [
  ['a site as text', aConversion({ site_id: '101' })],
  ['a site in a list', aConversion({ site_id: [101] })],
  ['a site of true', aConversion({ site_id: true })],
  ['half a site', aConversion({ site_id: 101.5 })],
  ['a site beyond int32', aConversion({ site_id: 2_147_483_648 })],
  ['a publisher of null', aConversion({ publisher_id: null })],
  ['a publisher as a UUID', aConversion({ publisher_id: '3f2504e0-4f89-41d3-9a0c-0305e82c3301' })],
  ['a transaction as a number', aConversion({ transaction_id: 1001 })],
  ['a transaction of null', aConversion({ transaction_id: null })],
  ['a user as a number', aConversion({ user_id: 7 })],
  ['a user as an object', aConversion({ user_id: { id: 'u1' } })],
  ['a currency as a list', aConversion({ currency: ['EUR'] })],
  ['a currency by its symbol', aConversion({ currency: '€' })],
  ['a currency by its number', aConversion({ currency: '978' })],
  ['a currency with a blank', aConversion({ currency: 'EU ' })],
  ['a lone product', aConversion({ products: line })],
  ['products by their numbers', aConversion({ products: { 0: line } })],
  ['no products', aConversion({ products: [] })],
  ['a product of null', aConversion({ products: [null] })],
  ['a product in a list', aConversion({ products: [[line]] })],
  ['a price as text', withLine({ price: '10.00' })],
  ['a price with a comma', withLine({ price: '10,00' })],
  ['a price of null', withLine({ price: null })],
  ['a price of true', withLine({ price: true })],
  ['a price as an object', withLine({ price: { amount: 10, currency: 'EUR' } })],
  ['a quantity as text', withLine({ quantity: '2' })],
  ['half a quantity', withLine({ quantity: 1.5 })],
  ['a quantity beyond int32', withLine({ quantity: 2_147_483_648 })],
  ['a gtin as a number', withLine({ gtin: 4_006_381_333_931 })],
  ['a gtin of null', withLine({ gtin: null })],
  ['a gtin of 61 characters', withLine({ gtin: '1'.repeat(61) })],
  ['a brand of null', withLine({ brand: null })],
  ['a group as a number', withLine({ group_id: 7 })],
]

for (const [name, body] of bent) {
  test(`${name} is 400 with messages and nothing is stored`, async (t) => {
    const tracker = await startTracker(t)

    const reply = await tracker.send('POST', '/conversion', { body: JSON.stringify(body) })

    assert.equal(reply.status, 400)
    assert.ok(messagesOf(reply).length > 0)
    assert.equal(tracker.records().length, 0)
  })
}

/** Article codes and ids as shops have them, each another one than all others. */
const codes = [
  '4006381333931',
  '4006381333932',
  '0',
  '00',
  '0000000000000',
  '1e5',
  '100000',
  '9.11111E+24',
  '0x1F',
  '31',
  '978-0-552-13326-5',
  'R690157_9960',
  'a b',
  'A B',
  'ａ',
  'é',
  'e\u0301',
  '=1+1',
  '+49',
  '-1',
  '@x',
  'null',
  'NaN',
  'true',
  '\u202e1',
  '日本',
  '\u{1f600}',
]

test('article codes come through as they were sent, none as a number and none as another', async (t) => {
  const tracker = await startTracker(t)
  const products = codes.map((gtin) => ({ ...line, gtin, group_id: gtin, brand: gtin }))

  const body = JSON.stringify(aConversion({ products }))
  const reply = await tracker.send('POST', '/conversion', { body })

  assert.equal(reply.status, 200)
  const [record] = tracker.conversions()
  const stored = JSON.stringify(record)
  for (const code of codes) assert.ok(stored.includes(JSON.stringify(code)), code)
})

const spellings: readonly (readonly [string, string, number])[] = [
  ['1e2', '1e2', 200],
  ['100.00', '100.00', 200],
  ['1E+2', '1E+2', 200],
  ['-0', '-0', 200],
  ['-0.0', '-0.0', 200],
  ['5e-324', '5e-324', 200],
  ['a price of 3,000 digits', `0.${'3'.repeat(3_000)}`, 200],
  ['1e308', '1e308', 200],
  ['1e309', '1e309', 400],
  ['-1e999', '-1e999', 400],
  ['309 nines', '9'.repeat(310), 400],
  ['+1', '+1', 400],
  ['01', '01', 400],
  ['.5', '.5', 400],
  ['5.', '5.', 400],
  ['0x10', '0x10', 400],
  ['NaN', 'NaN', 400],
  ['Infinity', 'Infinity', 400],
  ['1_000', '1_000', 400],
  ['1,000', '1,000', 400],
]

for (const [name, spelling, status] of spellings) {
  test(`a price spelled ${name} is ${status}`, async (t) => {
    const tracker = await startTracker(t)
    const text = JSON.stringify(withLine({ price: 77 })).replace('77', spelling)

    const reply = await tracker.send('POST', '/conversion', { body: text })

    assert.equal(reply.status, status)
    assert.equal(tracker.records().length, status === 200 ? 1 : 0)
  })
}
