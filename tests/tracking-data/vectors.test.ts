import assert from 'node:assert/strict'
import { createCipheriv, createDecipheriv } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fromBinary } from '@bufbuild/protobuf'
import { TrackingDataSchema } from '../../src/tracking-data/generated/tracking-data_pb.ts'
import { createOpener, parseKeyRing } from '../../src/tracking-data/tracking-data.ts'
import { buildVectors, toJsonValue, vectorsFile } from './build-vectors.ts'

interface Published {
  readonly keyRing: unknown
  readonly accepted: readonly {
    readonly name: string
    readonly key: string
    readonly nonce: string
    readonly additionalData: string
    readonly plaintext: string
    readonly token: string
    readonly data: Readonly<Record<string, unknown>>
  }[]
  readonly spellings: { readonly canonical: string; readonly alsoAccepted: readonly string[] }
  readonly refused: readonly {
    readonly name: string
    readonly token: string
    readonly reason: string
  }[]
}

// The file is ours and the first test compares it whole with what the builder makes.
const published: Published = JSON.parse(readFileSync(vectorsFile, 'utf8'))
const opener = createOpener(parseKeyRing(published.keyRing))

/** The message key by another road than the product's: AES-CBC of one block is a CMAC step. */
function deriveKey(key: Buffer, prefix: Buffer): Buffer {
  const encrypt = (block: Buffer) =>
    createCipheriv('aes-256-cbc', key, Buffer.alloc(16)).update(block)
  const zero = BigInt(`0x${encrypt(Buffer.alloc(16)).toString('hex')}`)
  const doubled = BigInt.asUintN(128, zero << 1n) ^ (zero >> 127n === 1n ? 0x87n : 0n)
  const halves = [1n, 2n].map((counter) => {
    const input = (counter << 112n) | (0x58n << 104n) | BigInt(`0x${prefix.toString('hex')}`)
    return encrypt(Buffer.from((input ^ doubled).toString(16).padStart(32, '0'), 'hex'))
  })
  return Buffer.concat(halves)
}

test('the published file is what the code makes today', () => {
  assert.deepEqual(published, buildVectors())
})

test('every accepted vector opens to its ad', () => {
  assert.ok(published.accepted.length >= 5)
  for (const { name, token, data } of published.accepted) {
    const opened = opener.open(token)
    assert.ok(opened.ok, name)
    assert.deepEqual(toJsonValue(opened.data), data, name)
    assert.equal(opened.canonical, token)
  }
})

// The guide promises that the vectors suffice to write this in another language: this test does so
// with nothing of the product but the schema.
test('every accepted vector follows from key, nonce and plaintext by the guide alone', () => {
  for (const { name, key, nonce, additionalData, plaintext, token, data } of published.accepted) {
    const [header, nonceBytes] = [Buffer.from(additionalData, 'hex'), Buffer.from(nonce, 'hex')]
    const bytes = Buffer.from(token, 'base64url')
    const messageKey = deriveKey(Buffer.from(key, 'hex'), nonceBytes.subarray(0, 12))
    const decipher = createDecipheriv('aes-256-gcm', messageKey, nonceBytes.subarray(12), {
      authTagLength: 16,
    })
    decipher.setAAD(header).setAuthTag(bytes.subarray(-16))
    const opened = Buffer.concat([decipher.update(bytes.subarray(29, -16)), decipher.final()])

    assert.equal(bytes.toString('hex', 0, 29), additionalData + nonce, name)
    assert.equal(opened.toString('hex'), plaintext, name)
    assert.equal(fromBinary(TrackingDataSchema, opened).gtin, data['gtin'], name)
  }
})

test('all vectors open together as they do one by one, however often they come', () => {
  const texts = [...published.accepted, ...published.refused].map(({ token }) => token)
  const many = Array.from({ length: 8 }, () => texts).flat()

  assert.deepEqual(opener.openAll(many), many.map(opener.open))
})

test('every accepted spelling opens to the one canonical token', () => {
  const { canonical, alsoAccepted } = published.spellings
  assert.equal(new Set([canonical, ...alsoAccepted]).size, 4)
  for (const text of alsoAccepted) {
    const opened = opener.open(text)
    assert.ok(opened.ok, text)
    assert.equal(opened.canonical, canonical)
  }
})

for (const { name, token, reason } of published.refused) {
  test(`the vector "${name}" is refused as ${reason}`, () => {
    const opened = opener.open(token)

    assert.equal(opened.ok ? 'opened' : opened.reason, reason)
  })
}
