import assert from 'node:assert/strict'
import { createSecretKey, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { BatchKeyCache } from '../../src/tracking-data/batch-keys.ts'
import { createXaes, type Xaes } from '../../src/tracking-data/xaes-256-gcm.ts'

const additionalData = Buffer.from('01deadbeef', 'hex')

function aCipher(batchKeys: BatchKeyCache) {
  return createXaes(createSecretKey(randomBytes(32)), { batchKeys })
}

function aMessage(cipher: Xaes, prefix: Uint8Array, text = randomBytes(50)) {
  const nonce = Buffer.concat([prefix, randomBytes(12)])
  return { nonce, additionalData, sealed: cipher.seal(text, { nonce, additionalData }) }
}

/** As another process makes them, so that the opener sees the derived key for the first time. */
function withOpener(batchKeys: BatchKeyCache) {
  const key = createSecretKey(randomBytes(32))
  return { minter: createXaes(key), opener: createXaes(key, { batchKeys }) }
}

test('a key is made ready only after it opened some messages one by one', () => {
  const batchKeys = new BatchKeyCache()
  const { minter, opener } = withOpener(batchKeys)
  const prefix = randomBytes(12)
  const openOne = () => opener.openAll([aMessage(minter, prefix)])

  const sizes = Array.from({ length: 8 }, () => {
    assert.equal(openOne()[0]?.length, 50)
    return batchKeys.size
  })

  assert.deepEqual(sizes, [0, 0, 0, 0, 1, 1, 1, 1])
})

// Else junk would cost 16 KiB and three times the time of a genuine message.
test('what does not authenticate makes no key ready, however often it comes', () => {
  const batchKeys = new BatchKeyCache()
  const opener = aCipher(batchKeys)
  const nonce = randomBytes(24)
  const junk = Array.from({ length: 40 }, (_, index) => ({
    nonce: index % 2 === 0 ? nonce : randomBytes(24),
    additionalData,
    sealed: randomBytes(80),
  }))

  const opened = opener.openAll(junk)

  assert.ok(opened.every((text) => text === undefined))
  assert.equal(batchKeys.size, 0)
  assert.equal(opener.derivedKeyCount, 0)
})

test('the keys held ready stay within their bound, over all ciphers, and results never change', () => {
  const batchKeys = new BatchKeyCache(8)
  const ciphers = Array.from({ length: 5 }, () => aCipher(batchKeys))
  const prefixes = Array.from({ length: 10 }, () => randomBytes(12))
  const texts = Array.from({ length: 6 }, () => randomBytes(30))
  let sizeMax = 0

  for (let round = 0; round < 3; round++) {
    for (let index = 0; index < 50; index++) {
      const cipher = ciphers[index % 5]!
      const prefix = prefixes[index % 10]!
      const opened = cipher.openAll(texts.map((text) => aMessage(cipher, prefix, text)))
      assert.deepEqual(opened, texts)
      sizeMax = Math.max(sizeMax, batchKeys.size)
    }
  }

  assert.equal(sizeMax, 8)
})

// A minter of one root key can copy the readable nonce prefix of another's token.
test('root keys whose messages share a nonce prefix never open each other', () => {
  const batchKeys = new BatchKeyCache()
  const [one, other] = [aCipher(batchKeys), aCipher(batchKeys)]
  const prefix = randomBytes(12)
  const mine = Array.from({ length: 10 }, () => aMessage(one, prefix))
  const theirs = Array.from({ length: 10 }, () => aMessage(other, prefix))

  for (let round = 0; round < 3; round++) {
    assert.ok(one.openAll(mine).every((text) => text?.length === 50))
    assert.ok(other.openAll(theirs).every((text) => text?.length === 50))
    assert.ok(one.openAll(theirs).every((text) => text === undefined))
  }
  assert.equal(batchKeys.size, 2)
})

// Else the time that made-up messages take could be measured as often as one likes.
test('a key that is no longer trusted goes on opening, one by one, and is not made ready again', () => {
  const batchKeys = new BatchKeyCache()
  const { minter, opener } = withOpener(batchKeys)
  const prefix = randomBytes(12)
  const genuine = Array.from({ length: 5 }, () => aMessage(minter, prefix))
  const forged = genuine.map((message) => ({ ...message, sealed: randomBytes(66) }))
  opener.openAll(genuine)

  for (let round = 0; round < 300; round++) {
    assert.ok(opener.openAll(forged).every((text) => text === undefined))
  }

  assert.ok(opener.openAll(genuine).every((text) => text?.length === 50))
  assert.equal(batchKeys.size, 1)
})

test('a message too long for a batch opens among others, as does one too short not at all', () => {
  const batchKeys = new BatchKeyCache()
  const cipher = aCipher(batchKeys)
  const prefix = randomBytes(12)
  const texts = [1, 100_000, 2, 0, 65_520, 65_521, 3].map((length) => randomBytes(length))
  const messages = texts.map((text) => aMessage(cipher, prefix, text))
  const [first] = messages
  assert.ok(first)

  for (let round = 0; round < 6; round++) {
    const opened = cipher.openAll([
      ...messages,
      { ...first, sealed: first.sealed.subarray(0, 15) },
      { ...first, nonce: first.nonce.subarray(1) },
    ])
    for (const [index, text] of texts.entries()) assert.ok(opened[index]?.equals(text))
    assert.deepEqual(opened.slice(texts.length), [undefined, undefined])
  }
  assert.equal(batchKeys.size, 1)
})
