// HMAC-SHA-256 (RFC 2104, FIPS 180-4) of short texts in plain JavaScript. A call of node:crypto takes longer than
// the two or three blocks that are hashed here, and an HMAC takes two:
// docs/decisions/0046-what-a-tracker-spends.md weighs it. No look-up and no branch depends on the key.
import { createHash } from 'node:crypto'

const blockBytes = 64
const blockWords = 16
const stateWords = 8
/** Behind the text of a last block stand a bit and the length, in nine bytes. */
const lastBlockTextMax = blockBytes - 9

/** In two blocks. Longer texts are for node:crypto. */
export const shortTextMax = blockBytes + lastBlockTextMax

/** The fractional parts of the square roots of the first 8 primes, and of the cube roots of the first 64. */
const initialState = fractions(2, stateWords)
const roundConstants = fractions(3, blockBytes)

/** The message schedule and the state of the hash that is under way: fixed places, which the compiler knows. */
const words = new Int32Array(64)
const state = new Int32Array(stateWords)

/** Returns the first half of the HMAC as 32 hex characters; null for a text that is long or not ASCII. */
export function createShortHmac(key: Buffer): (text: string) => string | null {
  const inner = keyedState(key, 0x36)
  const outer = keyedState(key, 0x5c)
  const half = Buffer.alloc(16)

  return (text) => {
    const { length } = text
    if (length > shortTextMax) return null
    const lastStart = length > lastBlockTextMax ? blockBytes : 0
    state.set(inner)
    for (let start = 0; start <= lastStart; start += blockBytes) {
      if (!readBlock(text, start)) return null
      if (start === lastStart) words[blockWords - 1] = (blockBytes + length) * 8
      compress()
    }
    for (let word = 0; word < stateWords; word++) words[word] = state[word] ?? 0
    words[stateWords] = 0x80 << 24
    for (let word = stateWords + 1; word < blockWords - 1; word++) words[word] = 0
    words[blockWords - 1] = (blockBytes + 4 * stateWords) * 8
    state.set(outer)
    compress()
    for (let word = 0; word < 4; word++) half.writeInt32BE(state[word] ?? 0, 4 * word)
    return half.toString('hex')
  }
}

/** The state after the block with which every message begins. */
function keyedState(key: Buffer, pad: number): Int32Array {
  // RFC 2104 hashes a key that is longer than a block.
  const short = key.length > blockBytes ? createHash('sha256').update(key).digest() : key
  const block = Buffer.alloc(blockBytes, pad)
  for (const [at, byte] of short.entries()) block[at] = byte ^ pad
  for (let word = 0; word < blockWords; word++) words[word] = block.readInt32BE(4 * word)
  state.set(initialState)
  compress()
  return state.slice()
}

/** The part of the text in the block from `start` on, and the bit behind its end; false if it is not ASCII. */
function readBlock(text: string, start: number): boolean {
  words.fill(0, 0, blockWords)
  const end = Math.min(text.length, start + blockBytes)
  for (let at = start; at < end; at++) {
    const char = text.charCodeAt(at)
    if (char > 0x7f) return false
    writeByte(at - start, char)
  }
  // The text may have ended in the block before.
  if (end >= start && end < start + blockBytes) writeByte(end - start, 0x80)
  return true
}

function writeByte(at: number, byte: number): void {
  words[at >> 2] = (words[at >> 2] ?? 0) | (byte << (24 - 8 * (at & 3)))
}

/** One block, whose words are the first 16; the others are made of them. Names as in FIPS 180-4, 6.2.2. */
function compress(): void {
  for (let t = blockWords; t < 64; t++) {
    const w15 = words[t - 15] ?? 0
    const w2 = words[t - 2] ?? 0
    const sigma0 = ((w15 >>> 7) | (w15 << 25)) ^ ((w15 >>> 18) | (w15 << 14)) ^ (w15 >>> 3)
    const sigma1 = ((w2 >>> 17) | (w2 << 15)) ^ ((w2 >>> 19) | (w2 << 13)) ^ (w2 >>> 10)
    words[t] = ((words[t - 16] ?? 0) + sigma0 + (words[t - 7] ?? 0) + sigma1) | 0
  }
  let a = state[0] ?? 0
  let b = state[1] ?? 0
  let c = state[2] ?? 0
  let d = state[3] ?? 0
  let e = state[4] ?? 0
  let f = state[5] ?? 0
  let g = state[6] ?? 0
  let h = state[7] ?? 0
  for (let t = 0; t < 64; t++) {
    const sum1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
    const t1 = (h + sum1 + (g ^ (e & (f ^ g))) + (roundConstants[t] ?? 0) + (words[t] ?? 0)) | 0
    const sum0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
    const t2 = (sum0 + ((a & b) | (c & (a | b)))) | 0
    h = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b
    b = a
    a = (t1 + t2) | 0
  }
  state[0] = ((state[0] ?? 0) + a) | 0
  state[1] = ((state[1] ?? 0) + b) | 0
  state[2] = ((state[2] ?? 0) + c) | 0
  state[3] = ((state[3] ?? 0) + d) | 0
  state[4] = ((state[4] ?? 0) + e) | 0
  state[5] = ((state[5] ?? 0) + f) | 0
  state[6] = ((state[6] ?? 0) + g) | 0
  state[7] = ((state[7] ?? 0) + h) | 0
}

/** The first 32 bits behind the point of the roots of the first primes, computed exactly. */
function fractions(root: 2 | 3, count: number): Int32Array {
  const found = new Int32Array(count)
  for (let prime = 2, at = 0; at < count; prime++) {
    if (!isPrime(prime)) continue
    found[at] = Number(
      BigInt.asIntN(32, integerRoot(BigInt(prime) << BigInt(32 * root), BigInt(root)))
    )
    at += 1
  }
  return found
}

function isPrime(number: number): boolean {
  for (let factor = 2; factor * factor <= number; factor++) if (number % factor === 0) return false
  return true
}

/** The greatest number whose power is at most `value`. */
function integerRoot(value: bigint, power: bigint): bigint {
  let root = 0n
  for (let bit = 1n << 40n; bit > 0n; bit >>= 1n) {
    if ((root + bit) ** power <= value) root += bit
  }
  return root
}
