/**
 * GHASH, the checksum of AES-GCM (NIST SP 800-38D, 6.4), in plain JavaScript with tables of the 256
 * multiples of the hash key by a byte, one for each place of a byte in a word. Table look-ups take time that depends on what is looked up:
 * docs/decisions/0017-tokens-opened-in-batches.md says why that is acceptable where this is used.
 */
import { assert } from '../lib/assert.ts'

export const blockBytes = 16
const blockWords = 4
/** The products of the bytes at one place. */
const placeWords = 256 * blockWords

// A block is a polynomial over GF(2) whose lowest power is the highest bit of the first byte, so that
// multiplying by x shifts right; here it is four big-endian words. x^128 = x^7 + x^2 + x + 1.
const reduction = 0xe1_00_00_00

export interface HashedMessage {
  readonly additionalData: Uint8Array
  /** The ciphertext is the first `length` of these bytes. */
  readonly bytes: Uint8Array
  readonly length: number
}

/**
 * 16 KiB: for each place of a byte in a word (0 to 3) and every byte there, its product with `hashKey` as four words.
 */
export function createHashTable(hashKey: Buffer): Int32Array {
  assert(hashKey.length === blockBytes, 'a hash key is one block')
  const table = new Int32Array(blockWords * placeWords)
  const power = Int32Array.from([0, 4, 8, 12], (at) => hashKey.readInt32BE(at))
  for (let placeAt = 0; placeAt < table.length; placeAt += placeWords) {
    for (let bit = 0x80; bit >= 1; bit >>= 1) {
      table.set(power, placeAt + bit * blockWords)
      multiplyByX(power)
    }
    addProducts(table.subarray(placeAt, placeAt + placeWords))
  }
  return table
}

/** Every product that is not there is the sum of two that are. */
function addProducts(products: Int32Array): void {
  for (let byte = 1; byte < 256; byte++) {
    const lowest = byte & -byte
    if (lowest === byte) continue
    for (let word = 0; word < blockWords; word++) {
      const first = products[lowest * blockWords + word] ?? 0
      products[byte * blockWords + word] =
        first ^ (products[(byte ^ lowest) * blockWords + word] ?? 0)
    }
  }
}

function multiplyByX(block: Int32Array): void {
  const [a = 0, b = 0, c = 0, d = 0] = block
  block[0] = (a >>> 1) ^ ((d & 1) === 1 ? reduction : 0)
  block[1] = (b >>> 1) | (a << 31)
  block[2] = (c >>> 1) | (b << 31)
  block[3] = (d >>> 1) | (c << 31)
}

/** Hashes one message after the other. Holds no secrets between them but the last sum. */
export class Ghash {
  /** After `hash`: the sum, as four words. */
  readonly sum = new Int32Array(blockWords)
  readonly #padded = Buffer.alloc(blockBytes)

  hash(table: Int32Array, { additionalData, bytes, length }: HashedMessage): void {
    this.sum.fill(0)
    this.#absorb(table, additionalData, additionalData.length)
    this.#absorb(table, bytes, length)
    this.#padded.fill(0)
    // Lengths are in bits, as 64-bit numbers; no buffer of ours has 2^29 bytes.
    this.#padded.writeUInt32BE(additionalData.length * 8, 4)
    this.#padded.writeUInt32BE(length * 8, 12)
    this.#absorbBlocks(table, this.#padded, blockBytes)
  }

  /** The last block is filled up with zeros. */
  #absorb(table: Int32Array, bytes: Uint8Array, length: number): void {
    const restBytes = length % blockBytes
    this.#absorbBlocks(table, bytes, length - restBytes)
    if (restBytes === 0) return
    this.#padded.fill(0)
    for (let i = 0; i < restBytes; i++) this.#padded[i] = bytes[length - restBytes + i] ?? 0
    this.#absorbBlocks(table, this.#padded, blockBytes)
  }

  /** For each block: add it to the sum, multiply by the hash key, the last word first (Horner). */
  #absorbBlocks(table: Int32Array, bytes: Uint8Array, length: number): void {
    const { sum } = this
    let z0 = sum[0] ?? 0
    let z1 = sum[1] ?? 0
    let z2 = sum[2] ?? 0
    let z3 = sum[3] ?? 0
    for (let at = 0; at < length; at += blockBytes) {
      const y0 = z0 ^ readWord(bytes, at)
      let y1 = z1 ^ readWord(bytes, at + 4)
      let y2 = z2 ^ readWord(bytes, at + 8)
      let y3 = z3 ^ readWord(bytes, at + 12)
      z0 = 0
      z1 = 0
      z2 = 0
      z3 = 0
      for (let word = 0; word < blockWords; word++) {
        // Times x^32: the word that is shifted out comes back times x^128, which is 1 + x + x^2 + x^7.
        const out = z3
        const p0 = (y3 >>> 24) * blockWords
        const p1 = ((y3 >>> 16) & 0xff) * blockWords + placeWords
        const p2 = ((y3 >>> 8) & 0xff) * blockWords + 2 * placeWords
        const p3 = (y3 & 0xff) * blockWords + 3 * placeWords
        z3 = z2 ^ (table[p0 + 3] ?? 0) ^ (table[p1 + 3] ?? 0)
        z3 ^= (table[p2 + 3] ?? 0) ^ (table[p3 + 3] ?? 0)
        z2 = z1 ^ (table[p0 + 2] ?? 0) ^ (table[p1 + 2] ?? 0)
        z2 ^= (table[p2 + 2] ?? 0) ^ (table[p3 + 2] ?? 0)
        z1 = z0 ^ (out << 31) ^ (out << 30) ^ (out << 25)
        z1 ^= (table[p0 + 1] ?? 0) ^ (table[p1 + 1] ?? 0)
        z1 ^= (table[p2 + 1] ?? 0) ^ (table[p3 + 1] ?? 0)
        z0 = out ^ (out >>> 1) ^ (out >>> 2) ^ (out >>> 7)
        z0 ^= (table[p0] ?? 0) ^ (table[p1] ?? 0) ^ (table[p2] ?? 0) ^ (table[p3] ?? 0)
        y3 = y2
        y2 = y1
        y1 = y0
      }
    }
    sum[0] = z0
    sum[1] = z1
    sum[2] = z2
    sum[3] = z3
  }
}

/** Big-endian. */
export function readWord(bytes: Uint8Array, at: number): number {
  const high = ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16)
  return high | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)
}
