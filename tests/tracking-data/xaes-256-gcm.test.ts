import assert from 'node:assert/strict'
import { createHash, createSecretKey, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { BatchKeyCache } from '../../src/tracking-data/batch-keys.ts'
import { createXaes } from '../../src/tracking-data/xaes-256-gcm.ts'

const nothing = Buffer.alloc(0)
/** The first opens with the native cipher, the last surely in a batch. */
const copies = 6

function aCipher(derivedKeysMax?: number) {
  const key = createSecretKey(Buffer.alloc(32, 0x01))
  return createXaes(key, derivedKeysMax === undefined ? {} : { derivedKeysMax })
}

function aMessage(prefix: Uint8Array = randomBytes(12)) {
  return { nonce: Buffer.concat([prefix, randomBytes(12)]), additionalData: nothing }
}

// The single vectors of https://c2sp.org/XAES-256-GCM: the first takes the branch of the subkey in
// which the top bit is clear, the second the one in which it is set.
const vectors = [
  { byte: 0x01, aad: '', sealed: 'ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271' },
  {
    byte: 0x03,
    aad: 'c2sp.org/XAES-256-GCM',
    sealed: '986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d',
  },
] as const

for (const { byte, aad, sealed } of vectors) {
  test(`the specification's vector for a key of ${byte} is met both ways`, () => {
    const xaes = createXaes(createSecretKey(Buffer.alloc(32, byte)))
    const nonce = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWX')
    const message = { nonce, additionalData: Buffer.from(aad) }
    const whole = { ...message, sealed: Buffer.from(sealed, 'hex') }

    const made = xaes.seal(Buffer.from('XAES-256-GCM'), message)
    const opened = xaes.open(whole.sealed, message)
    const together = xaes.openAll(Array.from({ length: copies }, () => whole))

    assert.equal(made.toString('hex'), sealed)
    assert.equal(opened?.toString(), 'XAES-256-GCM')
    for (const text of together) assert.equal(text?.toString(), 'XAES-256-GCM')
  })
}

// A stream of SHAKE-128 gives key, nonce, plaintext and additional data of 10,000 messages; the
// specification states the SHAKE-128 of all ciphertexts.
test("the specification's 10,000 accumulated messages give its hash and open again", () => {
  const bytesMax = 10_000 * (32 + 24 + 2 * (1 + 255))
  const stream = createHash('shake128', { outputLength: bytesMax }).digest()
  const hash = createHash('shake128', { outputLength: 32 })
  let at = 0
  const take = (length: number) => stream.subarray(at, (at += length))
  const takeVector = () => take(take(1).readUInt8(0))

  const batchKeys = new BatchKeyCache()

  for (let i = 0; i < 10_000; i++) {
    const xaes = createXaes(createSecretKey(take(32)), { batchKeys })
    const nonce = take(24)
    const plaintext = takeVector()
    const message = { nonce, additionalData: takeVector() }
    const sealed = xaes.seal(plaintext, message)
    assert.ok(xaes.open(sealed, message)?.equals(plaintext))
    const together = xaes.openAll(Array.from({ length: copies }, () => ({ ...message, sealed })))
    assert.ok(together.every((text) => text?.equals(plaintext)))
    hash.update(sealed)
  }

  const expected = 'e6b9edf2df6cec60c8cbd864e2211b597fb69a529160cd040d56c0c210081939'
  assert.equal(hash.digest('hex'), expected)
})

test('a nonce, additional data or byte that differs opens nothing', () => {
  const xaes = aCipher()
  const message = aMessage()
  const sealed = xaes.seal(Buffer.from('coffee'), message)

  for (let i = 0; i < sealed.length; i++) {
    const altered = Buffer.from(sealed)
    altered[i] = altered.readUInt8(i) ^ 1
    assert.equal(xaes.open(altered, message), undefined, `byte ${i}`)
  }
  for (let i = 0; i < 24; i++) {
    const nonce = Buffer.from(message.nonce)
    nonce[i] = nonce.readUInt8(i) ^ 1
    assert.equal(xaes.open(sealed, { ...message, nonce }), undefined, `nonce byte ${i}`)
  }
  assert.equal(xaes.open(sealed, { ...message, additionalData: Buffer.alloc(1) }), undefined)
})

// Node itself accepts tags of 4, 8 and 12 bytes when no length is fixed.
test('a shortened tag opens nothing', () => {
  const xaes = aCipher()
  const message = aMessage()
  const sealed = xaes.seal(nothing, message)

  for (const length of [15, 12, 8, 4, 0]) {
    assert.equal(xaes.open(sealed.subarray(0, length), message), undefined, `${length} bytes`)
  }
})

test('a nonce of another length opens nothing and seals nothing', () => {
  const xaes = aCipher()
  const message = { nonce: randomBytes(12), additionalData: nothing }

  assert.equal(xaes.open(Buffer.alloc(40), message), undefined)
  assert.throws(() => xaes.seal(nothing, message), /24 bytes/)
})

test('the cache of derived keys stays within its bound and never changes a result', () => {
  const minter = aCipher()
  const opener = aCipher(8)
  const prefixes = Array.from({ length: 50 }, () => randomBytes(12))

  for (const prefix of [...prefixes, ...prefixes]) {
    const message = aMessage(prefix)
    const sealed = minter.seal(Buffer.from(prefix), message)
    assert.ok(opener.open(sealed, message)?.equals(prefix))
    assert.ok(opener.derivedKeyCount <= 8)
  }
})

test('a prefix in steady use is derived once, however many others pass', () => {
  const minter = aCipher()
  const opener = aCipher(8)
  const steady = randomBytes(12)
  const openOne = (prefix: Uint8Array) => {
    const message = aMessage(prefix)
    return opener.open(minter.seal(nothing, message), message)
  }

  const counts = Array.from({ length: 40 }, () => {
    openOne(randomBytes(12))
    const before = opener.derivedKeyCount
    openOne(steady)
    return opener.derivedKeyCount - before
  })

  // Only the first opening of the steady prefix adds a key; later ones at most move it.
  assert.equal(counts[0], 1)
  assert.ok(counts.slice(1).every((added) => added <= 0))
})

// Else anyone could empty the cache by sending junk with random nonces.
test('what does not authenticate never enters the cache', () => {
  const opener = aCipher()

  for (let i = 0; i < 20; i++) opener.open(randomBytes(40), aMessage())

  assert.equal(opener.derivedKeyCount, 0)
})

test('a cache without room for two generations is a programming error', () => {
  assert.throws(() => aCipher(1), /at least two/)
})
