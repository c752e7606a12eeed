import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseJsonBody } from '../../src/contract/json.ts'

function parse(text: string) {
  return parseJsonBody(Buffer.from(text))
}

function messageOf(bytes: Buffer): string {
  const parsed = parseJsonBody(bytes)
  assert.ok(!parsed.ok)
  assert.equal(parsed.messages.length, 1)
  return parsed.messages[0] ?? ''
}

test('every JSON value comes through as it was', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      assert.deepEqual(parse(text), { ok: true, value: JSON.parse(text) })
    })
  )
})

test('one byte order mark before the JSON is ignored, a second one is not', () => {
  assert.deepEqual(parse('\ufeff{"a":1}'), { ok: true, value: { a: 1 } })
  assert.match(messageOf(Buffer.from('\ufeff\ufeff1')), /^body must be valid JSON/)
})

test('an empty body is told apart from a broken one', () => {
  assert.equal(messageOf(Buffer.alloc(0)), 'body must not be empty')
  assert.equal(messageOf(Buffer.from('\ufeff')), 'body must not be empty')
  assert.match(messageOf(Buffer.from(' ')), /^body must be valid JSON/)
})

// Replacing them would make one user of two: u<FF>1 and u<FE>1.
test('bytes that are not UTF-8 are refused', () => {
  for (const hex of ['ff', 'c3', 'c080', 'eda080', 'f4908080', 'e282']) {
    const bytes = Buffer.concat([Buffer.from('"u'), Buffer.from(hex, 'hex'), Buffer.from('1"')])
    assert.equal(messageOf(bytes), 'body must be valid UTF-8')
  }
})

test('what only looks like JSON is refused', () => {
  const broken = [
    '{',
    '[1,]',
    '{"a":1,}',
    "{'a':1}",
    'NaN',
    '01',
    '1.',
    '"\u0001"',
    '//',
    'undefined',
  ]
  for (const text of [...broken, '1 2', '"\\x"', '{"a" 1}', '\0', '-']) {
    assert.match(
      messageOf(Buffer.from(text)),
      /^body must be valid JSON(, broken at position \d+)?$/
    )
  }
})

test('a message never repeats any of the body, nor believes a position written in it', () => {
  for (const body of ['secret', '{"a":secret}', '"secret', '{"secret":1 in JSON at position 77']) {
    const message = messageOf(Buffer.from(body))
    assert.ok(!message.includes('secret'))
    assert.ok(!message.includes('77'))
  }
})

test('the key __proto__ is a field like any other', () => {
  const parsed = parse(
    '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'
  )

  assert.ok(parsed.ok)
  assert.equal(Object.getPrototypeOf(parsed.value), Object.prototype)
  assert.ok(!('polluted' in {}))
})

test('a million levels of nesting neither crash nor stall', () => {
  assert.match(messageOf(Buffer.from('['.repeat(1_000_000))), /^body must be valid JSON/)
  assert.ok(parse('['.repeat(500_000) + ']'.repeat(500_000)).ok)
})

test('no bytes make the parser throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      parseJsonBody(Buffer.from(bytes))
    })
  )
})
