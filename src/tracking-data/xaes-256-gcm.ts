/**
 * XAES-256-GCM as specified at https://c2sp.org/XAES-256-GCM: AES-256-GCM under a key derived from
 * the root key and the first half of a 24-byte nonce, so that random nonces stay safe far beyond
 * the 2^32 messages that plain AES-GCM allows per key.
 */
import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto'
import { assert } from '../lib/assert.ts'

export const xaesKeyBytes = 32
export const xaesNonceBytes = 24
export const xaesTagBytes = 16
const noncePrefixBytes = 12

/** Derived keys kept per root key. One entry costs about 200 bytes. */
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
  /** How many derived keys are held now; never more than `derivedKeysMax`. */
  readonly derivedKeyCount: number
}

/**
 * A cipher for one root key. It remembers derived keys by nonce prefix and forgets those
 * not used lately: minters keep a prefix for many tokens, so nearly every `open` finds its key.
 */
export function createXaes(
  rootKey: KeyObject,
  { derivedKeysMax = defaultDerivedKeysMax }: { readonly derivedKeysMax?: number } = {}
): Xaes {
  const derive = createKeyDerivation(rootKey)
  const derivedKeys = createRecentKeys(derivedKeysMax)

  return {
    seal(plaintext, { nonce, additionalData }) {
      assert(nonce.length === xaesNonceBytes, 'an XAES-256-GCM nonce has 24 bytes')
      const { prefix, suffix } = splitNonce(nonce)
      const known = derivedKeys.get(prefix)
      const key = known ?? derive(nonce)
      if (known === undefined) derivedKeys.set(prefix, key)
      const cipher = createCipheriv('aes-256-gcm', key, suffix, gcmOptions)
      cipher.setAAD(additionalData)
      const ciphertext = cipher.update(plaintext)
      cipher.final()
      return Buffer.concat([ciphertext, cipher.getAuthTag()])
    },

    open(sealed, { nonce, additionalData }) {
      if (nonce.length !== xaesNonceBytes || sealed.length < xaesTagBytes) return undefined
      const { prefix, suffix } = splitNonce(nonce)
      const known = derivedKeys.get(prefix)
      const key = known ?? derive(nonce)
      const plaintext = decrypt(sealed, { key, suffix, additionalData })
      // Only what authenticates may enter: otherwise junk with random nonces would push the keys of
      // the real minters out.
      if (plaintext !== undefined && known === undefined) derivedKeys.set(prefix, key)
      return plaintext
    },

    get derivedKeyCount() {
      return derivedKeys.size()
    },
  }
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
  const bytes = Buffer.from(nonce.buffer, nonce.byteOffset, nonce.byteLength)
  return {
    prefix: bytes.toString('latin1', 0, noncePrefixBytes),
    suffix: bytes.subarray(noncePrefixBytes),
  }
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

/**
 * A bounded map that forgets what was not used lately, in two generations: when the young one is
 * full it becomes the old one, and the old one is dropped whole. Unlike a list in order of use this
 * costs nothing per hit and no deletion per miss.
 */
function createRecentKeys(keysMax: number) {
  assert(Number.isInteger(keysMax) && keysMax >= 2, 'the cache holds at least two keys')
  const generationMax = Math.floor(keysMax / 2)
  let young = new Map<string, Buffer>()
  let old = new Map<string, Buffer>()

  function set(prefix: string, key: Buffer): void {
    if (young.size === generationMax) {
      old = young
      young = new Map()
    }
    young.set(prefix, key)
  }

  return {
    get(prefix: string): Buffer | undefined {
      const key = young.get(prefix)
      if (key !== undefined) return key
      const oldKey = old.get(prefix)
      if (oldKey === undefined) return undefined
      old.delete(prefix)
      set(prefix, oldKey)
      return oldKey
    },
    set,
    size: () => young.size + old.size,
  }
}
