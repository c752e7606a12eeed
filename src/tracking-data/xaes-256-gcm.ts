/**
 * XAES-256-GCM as specified at https://c2sp.org/XAES-256-GCM: AES-256-GCM under a key derived from
 * the root key and the first half of a 24-byte nonce, so that random nonces stay safe far beyond
 * the 2^32 messages that plain AES-GCM allows per key.
 */
import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto'
import { assert } from '../lib/assert.ts'
import { BatchKeyCache, type DerivedKey } from './batch-keys.ts'
import { type BatchKey, fitsBatch, type SealedMessage } from './gcm-batch.ts'
import { RecentMap } from './recent-map.ts'

export const xaesKeyBytes = 32
export const xaesNonceBytes = 24
export const xaesTagBytes = 16
const noncePrefixBytes = 12

/** Derived keys kept per root key. One entry costs about 250 bytes. */
const defaultDerivedKeysMax = 1_024

// Node accepts tags of 4, 8 and 12 bytes unless the length is fixed, and a 4-byte tag can be forged
// by trial.
const gcmOptions = { authTagLength: xaesTagBytes } as const

interface Message {
  readonly nonce: Uint8Array
  readonly additionalData: Uint8Array
}

export interface Xaes {
  /** Ciphertext followed by its tag. The nonce must never have been used with this key. */
  seal(plaintext: Uint8Array, message: Message): Buffer
  /** The plaintext, or undefined if anything at all was altered. */
  open(sealed: Uint8Array, message: Message): Buffer | undefined
  /**
   * The same for many, in their order. Cheaper than one by one where a derived key is used again and
   * again, and the cheaper the more messages share it.
   */
  openAll(messages: readonly SealedMessage[]): (Buffer | undefined)[]
  /** How many derived keys are held now; never more than `derivedKeysMax`. */
  readonly derivedKeyCount: number
}

export interface XaesOptions {
  readonly derivedKeysMax?: number
  /** For `openAll`. Ciphers can share one, so that it bounds the memory of all of them. */
  readonly batchKeys?: BatchKeyCache
}

/**
 * A cipher for one root key. It remembers derived keys by nonce prefix and forgets those
 * not used lately: minters keep a prefix for many tokens, so nearly every `open` finds its key.
 */
export function createXaes(rootKey: KeyObject, options: XaesOptions = {}): Xaes {
  const { derivedKeysMax = defaultDerivedKeysMax, batchKeys = new BatchKeyCache() } = options
  const derive = createKeyDerivation(rootKey)
  const derivedKeys = new RecentMap<string, DerivedKey>(derivedKeysMax)

  function open(sealed: Uint8Array, { nonce, additionalData }: Message): Buffer | undefined {
    if (nonce.length !== xaesNonceBytes || sealed.length < xaesTagBytes) return undefined
    const { prefix, suffix } = splitNonce(nonce)
    const known = derivedKeys.get(prefix)
    const key = known?.bytes ?? derive(nonce)
    const plaintext = decrypt(sealed, { key, suffix, additionalData })
    // Only what authenticates may enter: otherwise junk with random nonces would push the keys of
    // the real minters out.
    if (plaintext !== undefined && known === undefined) {
      derivedKeys.set(prefix, { bytes: key, useCount: 0 })
    }
    return plaintext
  }

  /** Undefined for what must be opened alone: keys that are new or seldom, messages that are huge. */
  function findBatchKey({ nonce, sealed }: SealedMessage): BatchKey | undefined {
    if (nonce.length !== xaesNonceBytes || !fitsBatch(sealed.length)) return undefined
    const known = derivedKeys.get(prefixOf(nonce))
    return known === undefined ? undefined : batchKeys.find(known)
  }

  return {
    seal(plaintext, { nonce, additionalData }) {
      assert(nonce.length === xaesNonceBytes, 'an XAES-256-GCM nonce has 24 bytes')
      const { prefix, suffix } = splitNonce(nonce)
      const known = derivedKeys.get(prefix)
      const key = known?.bytes ?? derive(nonce)
      if (known === undefined) derivedKeys.set(prefix, { bytes: key, useCount: 0 })
      const cipher = createCipheriv('aes-256-gcm', key, suffix, gcmOptions)
      cipher.setAAD(additionalData)
      const ciphertext = cipher.update(plaintext)
      cipher.final()
      return Buffer.concat([ciphertext, cipher.getAuthTag()])
    },

    open,

    openAll(messages) {
      const batches = new Map<BatchKey, Batch>()
      const plaintexts = messages.map((message, index) => {
        const key = findBatchKey(message)
        if (key === undefined) return open(message.sealed, message)
        addTo(batches, { key, message, index })
        return undefined
      })
      for (const [key, batch] of batches) {
        const opened = key.open(batch.messages)
        for (const [at, index] of batch.indexes.entries()) plaintexts[index] = opened[at]
      }
      return plaintexts
    },

    get derivedKeyCount() {
      return derivedKeys.size
    },
  }
}

/** Messages of one derived key, and where in the whole list each of them stands. */
interface Batch {
  readonly messages: SealedMessage[]
  readonly indexes: number[]
}

interface BatchEntry {
  readonly key: BatchKey
  readonly message: SealedMessage
  readonly index: number
}

function addTo(batches: Map<BatchKey, Batch>, { key, message, index }: BatchEntry): void {
  const batch = batches.get(key)
  if (batch === undefined) {
    batches.set(key, { messages: [message], indexes: [index] })
    return
  }
  batch.messages.push(message)
  batch.indexes.push(index)
}

interface GcmInput {
  readonly key: Uint8Array
  readonly suffix: Uint8Array
  readonly additionalData: Uint8Array
}

function decrypt(sealed: Uint8Array, { key, suffix, additionalData }: GcmInput) {
  const tagAt = sealed.length - xaesTagBytes
  const decipher = createDecipheriv('aes-256-gcm', key, suffix, gcmOptions)
  decipher.setAAD(additionalData)
  decipher.setAuthTag(sealed.subarray(tagAt))
  const plaintext = decipher.update(sealed.subarray(0, tagAt))
  try {
    // GCM returns no bytes here: this call only compares the tags, and throws if they differ.
    decipher.final()
  } catch {
    // The one expected outcome of `final` on foreign bytes: they were not made with this key.
    return undefined
  }
  return plaintext
}

function splitNonce(nonce: Uint8Array) {
  return { prefix: prefixOf(nonce), suffix: nonce.subarray(noncePrefixBytes) }
}

function prefixOf(nonce: Uint8Array): string {
  const bytes = Buffer.from(nonce.buffer, nonce.byteOffset, nonce.byteLength)
  return bytes.toString('latin1', 0, noncePrefixBytes)
}

/**
 * The key derivation of the specification: two blocks of CMAC-AES256, one block of input each.
 *
 * ```
 * L  = AES(0^128)
 * K1 = L << 1, xor 0x87 in the last byte if the top bit of L was set
 * Kx = AES(00 01 58 00 prefix ^ K1) | AES(00 02 58 00 prefix ^ K1)
 * ```
 */
function createKeyDerivation(rootKey: KeyObject): (nonce: Uint8Array) => Buffer {
  // ECB over single blocks is the bare block cipher that the specification asks for. Without
  // padding every block comes out at once, so one cipher serves all derivations.
  const blockCipher = createCipheriv('aes-256-ecb', rootKey, null).setAutoPadding(false)
  const subkey = doubleBlock(blockCipher.update(Buffer.alloc(16)))
  const template = Buffer.concat([subkey, subkey])
  template[1] = template.readUInt8(1) ^ 0x01
  template[17] = template.readUInt8(17) ^ 0x02
  template[2] = template.readUInt8(2) ^ 0x58
  template[18] = template.readUInt8(18) ^ 0x58

  return (nonce) => {
    const blocks = Buffer.from(template)
    for (let i = 0; i < noncePrefixBytes; i++) {
      const byte = nonce[i] ?? 0
      blocks[4 + i] = blocks.readUInt8(4 + i) ^ byte
      blocks[20 + i] = blocks.readUInt8(20 + i) ^ byte
    }
    return blockCipher.update(blocks)
  }
}

/** Multiplication by x in GF(2^128), most significant bit first: the CMAC subkey K1. */
function doubleBlock(block: Buffer): Buffer {
  const doubled = Buffer.alloc(16)
  for (let i = 0; i < 16; i++) {
    const carry = i === 15 ? 0 : block.readUInt8(i + 1) >> 7
    doubled[i] = (block.readUInt8(i) << 1) | carry
  }
  if (block.readUInt8(0) >> 7 === 1) doubled[15] = doubled.readUInt8(15) ^ 0x87
  return doubled
}
