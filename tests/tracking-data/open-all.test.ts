import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  activateKey,
  addKey,
  createKeyRing,
  createMinter,
  createOpener,
} from '../../src/tracking-data/tracking-data.ts'
import { anAd } from './builders.ts'

const ring = addKey(createKeyRing({ publishers: [10] }))
const [boundKey, freeKey] = ring.keys
assert.ok(boundKey && freeKey)
const minters = [
  createMinter(ring),
  createMinter(activateKey(ring, freeKey.id)),
  createMinter(activateKey(ring, freeKey.id)),
]
const stranger = createMinter(createKeyRing())
/** The bound key without its bound: what a thief of the key could mint. */
const thief = createMinter({ active: boundKey.id, keys: [{ ...boundKey, publishers: 'all' }] })

const anyUserId = fc.string({ maxLength: 40 }).filter((text) => !text.includes('\0'))
const valid = fc
  .record({ which: fc.nat(2), userId: anyUserId })
  .map(({ which, userId }) => minters[which]!.mint(anAd({ userId, publisherId: 10 })).trackingData)
const otherSpelling = valid.map((token) => Buffer.from(token, 'base64url').toString('base64'))
const foreign = anyUserId.map((userId) => stranger.mint(anAd({ userId })).trackingData)
const ofForeignPublisher = anyUserId.map(
  (userId) => thief.mint(anAd({ userId, publisherId: 11 })).trackingData
)
const altered = fc.tuple(valid, fc.nat()).map(([token, place]) => {
  const bytes = Buffer.from(token, 'base64url')
  const at = place % bytes.length
  bytes[at] = bytes.readUInt8(at) ^ (1 << (place % 8))
  return bytes.toString('base64url')
})
const cut = fc.tuple(valid, fc.nat(300)).map(([token, length]) => token.slice(0, length))
const junk = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.base64String({ maxLength: 400 }),
  fc.constantFrom('', 'A'.repeat(60), 'A'.repeat(5_465))
)
const mixed = fc.oneof(
  { weight: 6, arbitrary: valid },
  { weight: 1, arbitrary: otherSpelling },
  { weight: 1, arbitrary: foreign },
  { weight: 1, arbitrary: ofForeignPublisher },
  { weight: 2, arbitrary: altered },
  { weight: 1, arbitrary: cut },
  { weight: 1, arbitrary: junk }
)

for (const [name, token] of Object.entries({ valid, foreign, junk, mixed })) {
  // One opener through all runs, whose keys become ready; the other opens with node:crypto alone.
  test(`many ${name} tokens open together exactly as one by one, in their order`, () => {
    const together = createOpener(ring)
    const alone = createOpener(ring)

    fc.assert(
      fc.property(fc.array(token, { maxLength: 60, size: 'max' }), (texts) => {
        assert.deepEqual(together.openAll(texts), texts.map(alone.open))
      }),
      { numRuns: 50 }
    )
  })
}

test('one token that comes many times in a batch opens every time, to data of its own', () => {
  const opener = createOpener(ring)
  const token = minters[0]!.mint(anAd({ publisherId: 10 })).trackingData

  const opened = opener.openAll(Array.from({ length: 300 }, () => token))

  const [first] = opened
  assert.ok(first?.ok)
  assert.equal(opened.length, 300)
  for (const one of opened) assert.deepEqual(one, first)
  assert.equal(new Set(opened.map((one) => one.ok && one.data)).size, 300)
})

test('tokens of up to 4 KiB, and many minters at once, open together', () => {
  const opener = createOpener(ring)
  const tokens = Array.from({ length: 200 }, (_, index) => {
    const minter = createMinter(ring, { tokensPerPrefixMax: 1 + (index % 7) })
    const landingUrl = `https://shop.example/${randomBytes(index * 5).toString('hex')}`
    return Array.from(
      { length: 6 },
      () => minter.mint(anAd({ publisherId: 10, landingUrl })).trackingData
    )
  }).flat()

  for (let round = 0; round < 2; round++) {
    assert.ok(
      opener.openAll(tokens).every((one, index) => one.ok && one.canonical === tokens[index])
    )
  }
})

test('no tokens open to nothing', () => {
  assert.deepEqual(createOpener(ring).openAll([]), [])
})
