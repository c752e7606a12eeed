import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { encodeEnvelope, encodeHeader } from '../../src/tracking-data/envelope.ts'
import { encodePayload } from '../../src/tracking-data/payload.ts'
import {
  addKey,
  activateKey,
  createKeyRing,
  createMinter,
  createOpener,
  type KeyRing,
  type OpenRefusal,
  removeKey,
  type TrackingData,
} from '../../src/tracking-data/tracking-data.ts'
import { createXaes } from '../../src/tracking-data/xaes-256-gcm.ts'
import { anAd, servedAtMs } from './builders.ts'

const ring = createKeyRing()
const opener = createOpener(ring)
const token = createMinter(ring).mint(anAd()).trackingData
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

function reasonOf(text: string, by = opener): OpenRefusal | 'opened' {
  const opened = by.open(text)
  return opened.ok ? 'opened' : opened.reason
}

/** A token as other software with our key could write it: any bytes, properly sealed. */
function sealByHand(plaintext: Uint8Array, keyRing: KeyRing = ring): string {
  const key = keyRing.keys.find(({ id }) => id === keyRing.active)
  assert.ok(key)
  const header = encodeHeader(Number.parseInt(key.id, 16))
  const nonce = randomBytes(24)
  const sealed = createXaes(key.key).seal(plaintext, { nonce, additionalData: header })
  // Joined here and not by the product, which would not let a token over 4 KiB go.
  return Buffer.concat([header, nonce, sealed]).toString('base64url')
}

function someData(changes: Partial<TrackingData> = {}): TrackingData {
  const opened = opener.open(token)
  assert.ok(opened.ok)
  return { ...opened.data, ...changes }
}

/** A token whose bytes need padding and use both letters in which the alphabets differ. */
function aTellingToken(): string {
  const minter = createMinter(ring)
  for (let userId = 'u'; ; userId += 'u') {
    const { trackingData } = minter.mint(anAd({ userId }))
    if (/-.*_|_.*-/.test(trackingData) && trackingData.length % 4 !== 0) return trackingData
  }
}

test('a token with any one character changed never opens', () => {
  for (let at = 0; at < token.length; at++) {
    const place = alphabet.indexOf(token.charAt(at))
    for (const step of [1, 2, 17, 32]) {
      const other = alphabet.charAt((place + step) % 64)
      const altered = token.slice(0, at) + other + token.slice(at + 1)
      assert.notEqual(reasonOf(altered), 'opened', `position ${at}, ${other}`)
    }
  }
})

test('a token with any one character removed, added or doubled never opens', () => {
  for (let at = 0; at <= token.length; at++) {
    const [head, tail] = [token.slice(0, at), token.slice(at)]
    if (tail !== '') assert.notEqual(reasonOf(head + tail.slice(1)), 'opened', `without ${at}`)
    for (const extra of ['A', '=', '%', ' ', '\n', '\0', 'é', '.']) {
      assert.notEqual(reasonOf(head + extra + tail), 'opened', `${extra} at ${at}`)
    }
  }
})

test('a token cut anywhere never opens', () => {
  for (let length = 0; length < token.length; length++) {
    assert.notEqual(reasonOf(token.slice(0, length)), 'opened', `${length} characters`)
  }
})

// Node accepts tags of 12, 8 and 4 bytes unless the length is fixed.
test('a token whose tag is cut to 15, 12, 8, 4 or 0 bytes never opens', () => {
  const bytes = Buffer.from(token, 'base64url')
  for (const tagBytes of [15, 12, 8, 4, 0]) {
    const cut = bytes.subarray(0, bytes.length - 16 + tagBytes).toString('base64url')
    assert.equal(reasonOf(cut), 'not-authentic', `${tagBytes} bytes of tag`)
  }
})

test('halves of two tokens joined never open', () => {
  const other = createMinter(ring).mint(anAd({ userId: 'user-2' })).trackingData
  for (let at = 4; at < token.length; at += 4) {
    const joined = token.slice(0, at) + other.slice(at)
    if (joined !== token && joined !== other)
      assert.notEqual(reasonOf(joined), 'opened', `at ${at}`)
  }
})

test('an unknown version, an unknown key and a key of another installation are told apart', () => {
  const bytes = Buffer.from(token, 'base64url')
  const withByte = (at: number, byte: number) => {
    const altered = Buffer.from(bytes)
    altered[at] = byte
    return altered.toString('base64url')
  }
  const stranger = createKeyRing()
  const [key] = stranger.keys
  assert.ok(key)
  const sameId = { active: ring.active, keys: [{ ...key, id: ring.active }] }

  assert.equal(reasonOf(withByte(0, 2)), 'unknown-version')
  assert.equal(reasonOf(withByte(0, 0)), 'unknown-version')
  assert.equal(reasonOf(withByte(1, bytes.readUInt8(1) ^ 1)), 'unknown-key')
  assert.equal(reasonOf(createMinter(stranger).mint(anAd()).trackingData), 'unknown-key')
  assert.equal(reasonOf(createMinter(sameId).mint(anAd()).trackingData), 'not-authentic')
})

// The key id is authenticated: swapping it between two keys of one ring must not help.
test('a token under the id of another key of the ring never opens', () => {
  const both = addKey(ring)
  const otherId = both.keys.at(-1)?.id ?? ''
  const bytes = Buffer.from(token, 'base64url')
  bytes.write(otherId, 1, 'hex')

  assert.equal(reasonOf(bytes.toString('base64url'), createOpener(both)), 'not-authentic')
})

test('text that is no token is refused with a reason, without an exception', () => {
  const cases = [
    ['', 'too-short'],
    ['abc', 'too-short'],
    ['abd', 'not-base64url'],
    ['abcd', 'too-short'],
    ['%41', 'not-base64url'],
    [token.replace(/^./, '%41'), 'not-base64url'],
    [`${token}%00`, 'not-base64url'],
    [`${token}&__hstc=1`, 'not-base64url'],
    ['https://evil.example', 'not-base64url'],
    ['=', 'not-base64url'],
    ['====', 'not-base64url'],
    ['\uD800', 'not-base64url'],
    ['A'.repeat(8_192), 'too-long'],
    ['A'.repeat(5_464), 'too-long'],
    ['A'.repeat(5_462), 'unknown-version'],
    ['A'.repeat(60), 'unknown-version'],
    ['A'.repeat(59), 'too-short'],
  ] as const
  for (const [text, reason] of cases) assert.equal(reasonOf(text), reason, text.slice(0, 60))
})

test('no text whatsoever makes the opener throw or open', () => {
  const anyText = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.base64String({ maxLength: 400 }),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('base64url'))
  )
  fc.assert(fc.property(anyText, (text) => reasonOf(text) !== 'opened'))
})

test('unpadded, padded and standard spelling are one token with one canonical form', () => {
  const telling = aTellingToken()
  const bytes = Buffer.from(telling, 'base64url')
  const standard = bytes.toString('base64')
  const padding = '='.repeat(4 - (telling.length % 4))

  for (const text of [telling, telling + padding, standard, standard.replaceAll('=', '')]) {
    const opened = opener.open(text)
    assert.ok(opened.ok, text)
    assert.equal(opened.canonical, telling)
  }
})

test('a mix of both alphabets or a wrong padding never opens', () => {
  const telling = aTellingToken()
  const padding = '='.repeat(4 - (telling.length % 4))
  const unpadded = Buffer.from(telling, 'base64url').toString('base64').replaceAll('=', '')
  const wrong = [
    telling.replace('-', '+'),
    telling.replace('_', '/'),
    unpadded.replace('+', '-'),
    unpadded.replace('/', '_') + padding,
    unpadded.replace('+', ' '),
    `${telling + padding}=`,
    `${telling}${padding.length === 1 ? '==' : '='}`,
    `=${telling}`,
    `${unpadded + padding}====`,
  ]
  for (const text of wrong) assert.equal(reasonOf(text), 'not-base64url', text)
})

test('bits behind the last byte must be zero, in every spelling', () => {
  const telling = aTellingToken()
  const last = alphabet.indexOf(telling.slice(-1))
  const spareBits = telling.length % 4 === 2 ? 4 : 2
  for (let bits = 1; bits < 1 << spareBits; bits++) {
    const text = telling.slice(0, -1) + alphabet.charAt(last + bits)
    assert.ok(Buffer.from(text, 'base64url').equals(Buffer.from(telling, 'base64url')))
    assert.equal(reasonOf(text), 'not-base64url')
    assert.equal(reasonOf(text + '='.repeat(4 - (text.length % 4))), 'not-base64url')
  }
})

test('every key of the ring opens, and none after its removal', () => {
  const oldToken = token
  const added = addKey(ring)
  const newId = added.keys.at(-1)?.id ?? ''
  const rotated = activateKey(added, newId)
  const newToken = createMinter(rotated).mint(anAd()).trackingData
  const removed = createOpener(removeKey(rotated, ring.active))

  assert.equal(reasonOf(newToken, createOpener(added)), 'opened')
  assert.equal(reasonOf(oldToken, createOpener(rotated)), 'opened')
  assert.equal(reasonOf(newToken, removed), 'opened')
  assert.equal(reasonOf(oldToken, removed), 'unknown-key')
})

// A leaked key of one publisher must not spend the money of all.
test('a key bound to publishers opens no token of another publisher', () => {
  const bound = createKeyRing({ publishers: [10, 20] })
  const by = createOpener(bound)

  for (const publisherId of [10, 20]) {
    const own = sealByHand(encodePayload(someData({ publisherId })), bound)
    assert.equal(reasonOf(own, by), 'opened')
  }
  const foreign = sealByHand(encodePayload(someData({ publisherId: 30 })), bound)
  assert.equal(reasonOf(foreign, by), 'foreign-publisher')
})

test('a properly sealed payload that is no message is refused', () => {
  assert.equal(reasonOf(sealByHand(Buffer.from('ffff', 'hex'))), 'malformed')
  assert.equal(reasonOf(sealByHand(Buffer.alloc(0))), 'invalid')
})

test('a properly sealed ad that breaks a rule is refused', () => {
  const nonsense: Partial<TrackingData>[] = [
    { servedAtMs: Date.UTC(2020, 0, 1) - 1 },
    { servedAtMs: Date.UTC(2100, 0, 1) + 1 },
    { publisherId: 0 },
    { siteId: -1 },
    { marketId: 0 },
    { advertiserId: 0 },
    { campaignId: 0 },
    { adGroupId: -2_147_483_648 },
    { gtin: '' },
    { gtin: '1'.repeat(61) },
    { groupId: 'a\0' },
    { userId: 'u'.repeat(129) },
    { userLoggedInId: 'u'.repeat(129) },
    { currency: 'eur' },
    { currency: '' },
    { costPerClickMicros: -1n },
    { costPerMilleMicros: 10n ** 12n + 1n },
    { landingUrl: 'javascript:alert(1)' },
    { landingUrl: 'https://shop.example/ä' },
  ]
  assert.equal(reasonOf(sealByHand(encodePayload(someData()))), 'opened')
  for (const changes of nonsense) {
    const [[field] = []] = Object.entries(changes)
    assert.equal(reasonOf(sealByHand(encodePayload(someData(changes)))), 'invalid', field)
  }
})

/** Field 17, which this version does not know, fills the token up to the length asked for. */
function aTokenOfBytes(length: number): string {
  const payload = encodePayload(someData({ servedAtMs }))
  const fill = length - 45 - payload.length - 4
  const head = Buffer.from([0x8a, 0x01, (fill & 0x7f) | 0x80, fill >> 7])
  return sealByHand(Buffer.concat([payload, head, Buffer.alloc(fill)]))
}

test('a token over 4 KiB is never handed out', () => {
  const parts = { header: Buffer.alloc(5), nonce: Buffer.alloc(24), sealed: Buffer.alloc(4_067) }

  assert.equal(encodeEnvelope(parts).length, 5_462)
  assert.throws(() => encodeEnvelope({ ...parts, sealed: Buffer.alloc(4_068) }), /4 KiB/)
})

test('a properly sealed token over 4 KiB is refused unread', () => {
  assert.equal(reasonOf(aTokenOfBytes(4_096)), 'opened')
  assert.equal(reasonOf(aTokenOfBytes(4_097)), 'too-long')
})
