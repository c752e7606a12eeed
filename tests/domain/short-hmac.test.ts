import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { createShortHmac, shortTextMax } from '../../src/domain/short-hmac.ts'

function expected(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex').slice(0, 32)
}

const anyKey = fc.uint8Array({ minLength: 0, maxLength: 200 }).map((bytes) => Buffer.from(bytes))
const ascii = fc.string({ unit: 'binary-ascii', maxLength: shortTextMax })

test('every length of text up to the longest gives what node:crypto gives, one after the other', () => {
  const key = Buffer.alloc(32, 0x2a)
  const hmac = createShortHmac(key)

  for (const char of ['a', '\0', '\u007f']) {
    for (let length = 0; length <= shortTextMax; length++) {
      const text = char.repeat(length)
      assert.equal(hmac(text), expected(key, text), `${length}`)
    }
  }
})

test('any text of ASCII under any key gives what node:crypto gives', () => {
  fc.assert(
    fc.property(anyKey, fc.array(ascii, { minLength: 1, maxLength: 5 }), (key, texts) => {
      const hmac = createShortHmac(key)
      for (const text of texts) assert.equal(hmac(text), expected(key, text))
    }),
    { numRuns: 2_000 }
  )
})

// RFC 4231, test cases 1 to 3, 6: the last key is longer than a block.
test('the published vectors', () => {
  const vectors = [
    [Buffer.alloc(20, 0x0b), 'Hi There', 'b0344c61d8db38535ca8afceaf0bf12b'],
    [Buffer.from('Jefe'), 'what do ya want for nothing?', '5bdcc146bf60754e6a042426089575c7'],
    [
      Buffer.alloc(131, 0xaa),
      'Test Using Larger Than Block-Size Key - Hash Key First',
      '60e431591ee0b67f0d8a26aacbf5b77f',
    ],
  ] as const

  for (const [key, text, half] of vectors) assert.equal(createShortHmac(key)(text), half)
})

test('a text that is longer or not ASCII is left to others, and spoils nothing', () => {
  const key = Buffer.alloc(32, 0x2a)
  const hmac = createShortHmac(key)

  for (const text of ['x'.repeat(shortTextMax + 1), 'ä', 'user\u0080', '\u{1f600}', '\ud800']) {
    assert.equal(hmac(text), null)
    assert.equal(hmac('user'), expected(key, 'user'))
  }
})
