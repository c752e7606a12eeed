/**
 * GHASH, the checksum of AES-GCM (NIST SP 800-38D, 6.4), in plain JavaScript with a table of the 256
 * multiples of the hash key by one byte. Table look-ups take time that depends on what is looked up:
 * docs/decisions/0017-tokens-opened-in-batches.md says why that is acceptable where this is used.
 */
import { assert } from '../lib/assert.ts'

export const blockBytes = 16
const blockWords = 4

// A block is a polynomial over GF(2) whose lowest power is the highest bit of the first byte, so that
// multiplying by x shifts right; here it is four big-endian words. x^128 = x^7 + x^2 + x + 1.
const reduction = 0xe1_00_00_00

export interface HashedMessage {
  readonly additionalData: Uint8Array
  /** The ciphertext is the first `length` of these bytes. */
  readonly bytes: Uint8Array
  readonly length: number
}

/** The value that a byte shifted out at the end of a block adds at its start; the same for all keys. */
export function createReductionTable(): Int32Array {
  const table = new Int32Array(256)
  const block = new Int32Array(blockWords)
  for (let byte = 0; byte < 256; byte++) {
    block.set([0, 0, 0, byte])
    for (let bit = 0; bit < 8; bit++) multiplyByX(block)
    table[byte] = block[0] ?? 0
  }
  return table
}

/** 4 KiB: the product of `hashKey` and every byte, as four words each. */
export function createHashTable(hashKey: Buffer): Int32Array {
  assert(hashKey.length === blockBytes, 'a hash key is one block')
  const table = new Int32Array(256 * blockWords)
  const power = Int32Array.from([0, 4, 8, 12], (at) => hashKey.readInt32BE(at))
  for (let bit = 0x80; bit >= 1; bit >>= 1) {
    table.set(power, bit * blockWords)
    multiplyByX(power)
  }
  for (let byte = 1; byte < 256; byte++) {
    // Every other product is the sum of two that are there already.
    const lowest = byte & -byte
    if (lowest === byte) continue
    for (let word = 0; word < blockWords; word++) {
      const first = table[lowest * blockWords + word] ?? 0
      table[byte * blockWords + word] = first ^ (table[(byte ^ lowest) * blockWords + word] ?? 0)
    }
  }
  return table
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
  readonly #reductions = createReductionTable()
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

  /** For each block: add it to the sum, multiply by the hash key, the last byte first (Horner). */
  #absorbBlocks(table: Int32Array, bytes: Uint8Array, length: number): void {
    const reductions = this.#reductions
    const { sum } = this
    let z0 = sum[0] ?? 0
    let z1 = sum[1] ?? 0
    let z2 = sum[2] ?? 0
    let z3 = sum[3] ?? 0
    for (let at = 0; at < length; at += blockBytes) {
      let y0 = z0 ^ readWord(bytes, at)
      let y1 = z1 ^ readWord(bytes, at + 4)
      let y2 = z2 ^ readWord(bytes, at + 8)
      let y3 = z3 ^ readWord(bytes, at + 12)
      z0 = 0
      z1 = 0
      z2 = 0
      z3 = 0
      for (let step = 0; step < blockBytes; step++) {
        const reduced = reductions[z3 & 0xff] ?? 0
        const entry = (y3 & 0xff) * blockWords
        z3 = ((z3 >>> 8) | (z2 << 24)) ^ (table[entry + 3] ?? 0)
        z2 = ((z2 >>> 8) | (z1 << 24)) ^ (table[entry + 2] ?? 0)
        z1 = ((z1 >>> 8) | (z0 << 24)) ^ (table[entry + 1] ?? 0)
        z0 = (z0 >>> 8) ^ reduced ^ (table[entry] ?? 0)
        y3 = (y3 >>> 8) | (y2 << 24)
        y2 = (y2 >>> 8) | (y1 << 24)
        y1 = (y1 >>> 8) | (y0 << 24)
        y0 >>>= 8
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
