import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { dateText, decimalText, double, int32, nullOr, wordOf } from '../../src/contract/fields.ts'
import { compile, compileParser } from '../../src/contract/validate.ts'

const schema = Type.Object({
  word: Type.Optional(wordOf(['A', 'B'])),
  either: Type.Optional(
    Type.Union([Type.Literal('all'), Type.Array(int32())], { title: '"all" or a list of ids' })
  ),
  code: Type.Optional(Type.String({ pattern: '^[0-9]+$', title: 'digits' })),
  bare: Type.Optional(Type.String({ pattern: '^[0-9]+$' })),
  day: Type.Optional(Type.String({ format: 'date' })),
  at: Type.Optional(Type.String({ format: 'date-time' })),
  id: Type.Optional(Type.String({ format: 'uuid' })),
  few: Type.Optional(Type.Array(double(), { maxItems: 2 })),
  pair: Type.Optional(Type.String({ minLength: 2, maxLength: 2 })),
  free: Type.Optional(Type.Unknown()),
  price: Type.Optional(nullOr(decimalText({}))),
  end: Type.Optional(nullOr(dateText())),
  isOn: Type.Optional(nullOr(Type.Boolean())),
  part: Type.Optional(nullOr(Type.Object({}, { title: 'Part' }))),
  ids: Type.Optional(Type.Array(int32(), { uniqueItems: true })),
})
const validate = compile(schema)

test('a word outside its list is answered with the list, whatever its type', () => {
  for (const word of ['a', '', 'constructor', '__proto__', 1, null, ['A']]) {
    assert.deepEqual(validate({ word }), ['/word must be one of: A, B'])
  }
})

test('a union says what it takes instead of the faults of its branches', () => {
  for (const either of ['some', 1, [1, '2'], null]) {
    assert.deepEqual(validate({ either }), ['/either must be "all" or a list of ids'])
  }
  assert.deepEqual(validate({ either: 'all' }), [])
  assert.deepEqual(validate({ either: [1] }), [])
})

test('a value that may be null is told with its rule', () => {
  const faults = validate({ price: '1,5', end: '2026-02-30', isOn: 'yes', part: 1 })

  assert.deepEqual(faults, [
    '/price must be a decimal such as "0.25", with at most 6 digits after the point, or null',
    '/end must be a date such as 2026-03-01, or null',
    '/isOn must be true or false, or null',
    '/part must be in the documented form',
  ])
  assert.deepEqual(validate({ price: null, end: null, isOn: null, part: null }), [])
  assert.deepEqual(validate({ price: 1.5 }), faults.slice(0, 1))
})

test('a list that repeats an item is told so without the item or its place', () => {
  assert.deepEqual(validate({ ids: [5, 7, 5] }), ['/ids must have each item once'])
})

test('a pattern is told in words, never as a pattern', () => {
  assert.deepEqual(validate({ code: 'x' }), ['/code must be digits'])
  assert.deepEqual(validate({ bare: 'x' }), ['/bare must be in the documented form'])
})

test('dates, instants and UUIDs are strict', () => {
  const faults = validate({ day: '2026-02-30', at: '2026-02-28', id: 'x' })

  assert.deepEqual(faults, [
    '/day must be a date such as 2026-03-01',
    '/at must be an instant such as 2026-03-01T00:00:00Z',
    '/id must be a UUID',
  ])
  const good = '123E4567-e89b-12d3-a456-426614174000'
  assert.deepEqual(validate({ day: '2024-02-29', at: '2026-03-02T10:00:00Z', id: good }), [])
  for (const id of [`urn:uuid:${good}`, `{${good}}`, good.replaceAll('-', ''), `${good}\n`]) {
    assert.deepEqual(validate({ id }), ['/id must be a UUID'])
  }
})

test('list bounds and lengths are told with their number', () => {
  assert.deepEqual(validate({ few: [1, 2, 3] }), ['/few must have at most 2 items'])
  assert.deepEqual(validate({ pair: '😀' }), ['/pair must have at least 2 characters'])
  assert.deepEqual(validate({ pair: '😀😀' }), [])
  assert.deepEqual(validate({ pair: '😀😀😀' }), ['/pair must have at most 2 characters'])
})

test('a value of free shape is not looked into', () => {
  assert.deepEqual(validate({ free: { a: ['\ud800', Number.POSITIVE_INFINITY] } }), [])
})

test('many faults are collected up to the bound on nodes, and one beyond it', () => {
  const numbers = compile(Type.Array(Type.Number()), { collectNodesMax: 5, messagesMax: 3 })

  assert.equal(numbers(['a', 'b', 'c', 'd']).length, 3)
  assert.deepEqual(numbers(['a', 'b', 'c', 'd', 'e']), ['/0 must be number'])
})

test('an undefined value is a fault, not a crash', () => {
  assert.deepEqual(validate(undefined), ['body must be object'])
})

test('a parser passes the very value on and changes nothing in it', () => {
  const parse = compileParser(schema)
  const value = Object.freeze({ word: 'A', unknown: Object.freeze([1]) })

  const parsed = parse(value)

  assert.ok(parsed.ok)
  assert.equal(parsed.value, value)
})

test('a schema with a keyword that does not exist, or with a value that it cannot have, compiles to nothing', () => {
  for (const [faulty, fault] of [
    [{ type: 'string', maxLenght: 3 }, /maxLenght/],
    [{ type: 'number', minimum: '5' }, /minimum/],
    [{ type: 'object', required: 'name' }, /required/],
  ] as const) {
    assert.throws(() => compile(faulty, { isEager: true }), fault)
  }
})
