/**
 * Opens many messages of AES-256-GCM under one key at once (NIST SP 800-38D, 7.2): one call of the
 * block cipher for the key streams of all, and a GHASH of our own. A call into OpenSSL costs several
 * microseconds whatever it is given, and opening a message takes five of them.
 * docs/decisions/0017-tokens-opened-in-batches.md weighs it. Opens only; nothing is ever sealed here.
 */
import { type Cipher, createCipheriv } from 'node:crypto'
import { assert } from '../lib/assert.ts'
import { blockBytes, createHashTable, Ghash, readWord } from './ghash.ts'

export const gcmLimits = {
  /** Counter blocks that are encrypted in one call; a message that needs more is not for this path. */
  chunkBytesMax: 65_536,
  /** A key starts with this much and never has more: enough for 1,000 messages that are not genuine. */
  trustMax: 100_000,
} as const

/** One message in a hundred may be damaged, by mail programs that cut links for instance, for ever. */
const refusedCost = 100

export const gcmTagBytes = 16
const ivBytes = 12

export interface SealedMessage {
  /** Its last 12 bytes are the IV of GCM: so much the whole nonce of XAES ends in. */
  readonly nonce: Uint8Array
  readonly additionalData: Uint8Array
  /** Ciphertext and tag of 16 bytes. */
  readonly sealed: Uint8Array
}

/** Buffers that all keys can share: counter blocks, and the hash under way. They hold no key. */
export class GcmWorkspace {
  readonly counters = Buffer.alloc(gcmLimits.chunkBytesMax)
  readonly view = new DataView(this.counters.buffer, this.counters.byteOffset)
  readonly ghash = new Ghash()
}

/** Whether `BatchKey.open` takes a message of that length. */
export function fitsBatch(sealedBytes: number): boolean {
  return sealedBytes >= gcmTagBytes && streamBytes(sealedBytes) <= gcmLimits.chunkBytesMax
}

/** A key made ready: its hash table of 16 KiB and a cipher that lives as long as it. */
export class BatchKey {
  readonly #workspace: GcmWorkspace
  readonly #blockCipher: Cipher
  readonly #hashTable: Int32Array
  #trust: number = gcmLimits.trustMax

  constructor(key: Uint8Array, workspace: GcmWorkspace) {
    this.#workspace = workspace
    // ECB is the bare block cipher, of which GCM is made. What goes in are counter blocks, and what
    // comes out leaves this class only as the mask of a ciphertext whose tag is right.
    this.#blockCipher = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false)
    this.#hashTable = createHashTable(this.#blockCipher.update(Buffer.alloc(blockBytes)))
  }

  /**
   * False once too many messages were refused: someone may be measuring how long made-up ones take, to
   * learn the hash key from the look-ups. Such a key has to go back to the cipher of OpenSSL, whose
   * time tells nothing.
   */
  get isTrusted(): boolean {
    return this.#trust > 0
  }

  /**
   * The plaintexts in the order of the messages; undefined where anything was altered. Every message
   * must pass `fitsBatch`.
   */
  open(messages: readonly SealedMessage[]): (Buffer | undefined)[] {
    const plaintexts: (Buffer | undefined)[] = []
    let first = 0
    let usedBytes = 0
    for (const [index, { nonce, sealed }] of messages.entries()) {
      assert(nonce.length >= ivBytes && fitsBatch(sealed.length), 'the message fits a batch')
      const bytes = streamBytes(sealed.length)
      if (usedBytes + bytes > gcmLimits.chunkBytesMax) {
        this.#openChunk(messages.slice(first, index), { usedBytes, plaintexts })
        first = index
        usedBytes = 0
      }
      this.#writeCounters(nonce, { at: usedBytes, bytes })
      usedBytes += bytes
    }
    if (usedBytes > 0) this.#openChunk(messages.slice(first), { usedBytes, plaintexts })
    return plaintexts
  }

  /** Block 1 masks the tag; those from 2 on mask the text. */
  #writeCounters(nonce: Uint8Array, { at, bytes }: Range): void {
    const { view } = this.#workspace
    const ivAt = nonce.length - ivBytes
    const iv0 = readWord(nonce, ivAt)
    const iv1 = readWord(nonce, ivAt + 4)
    const iv2 = readWord(nonce, ivAt + 8)
    // 4,096 blocks at most, so the counter of 32 bits never overflows.
    let counter = 1
    for (let block = at; block < at + bytes; block += blockBytes) {
      view.setInt32(block, iv0)
      view.setInt32(block + 4, iv1)
      view.setInt32(block + 8, iv2)
      view.setInt32(block + 12, counter)
      counter += 1
    }
  }

  #openChunk(messages: readonly SealedMessage[], { usedBytes, plaintexts }: Chunk): void {
    const { counters } = this.#workspace
    // A new buffer at every call, in which the plaintexts stay.
    const streams = this.#blockCipher.update(counters.subarray(0, usedBytes))
    assert(streams.length === usedBytes, 'ECB without padding gives every block at once')
    let at = 0
    for (const message of messages) {
      const plaintext = this.#openOne(message, { streams, at })
      plaintexts.push(plaintext)
      if (plaintext === undefined) this.#trust -= refusedCost
      else if (this.#trust < gcmLimits.trustMax) this.#trust += 1
      at += streamBytes(message.sealed.length)
    }
  }

  #openOne({ additionalData, sealed }: SealedMessage, { streams, at }: Stream): Buffer | undefined {
    const length = sealed.length - gcmTagBytes
    const { ghash } = this.#workspace
    ghash.hash(this.#hashTable, { additionalData, bytes: sealed, length })
    // All four words whatever the first ones say: the time must not tell how much of a tag is right.
    let difference = 0
    for (let word = 0; word < 4; word++) {
      const mask = readWord(streams, at + 4 * word)
      difference |= (ghash.sum[word] ?? 0) ^ mask ^ readWord(sealed, length + 4 * word)
    }
    if (difference !== 0) return undefined
    const textAt = at + blockBytes
    for (let i = 0; i < length; i++) {
      streams[textAt + i] = (streams[textAt + i] ?? 0) ^ (sealed[i] ?? 0)
    }
    return streams.subarray(textAt, textAt + length)
  }
}

interface Range {
  readonly at: number
  readonly bytes: number
}

interface Chunk {
  readonly usedBytes: number
  readonly plaintexts: (Buffer | undefined)[]
}

interface Stream {
  readonly streams: Buffer
  readonly at: number
}

/** The number of counter blocks of one message: one for the tag, then one for each block of text begun. */
function streamBytes(sealedBytes: number): number {
  return blockBytes * (1 + Math.ceil((sealedBytes - gcmTagBytes) / blockBytes))
}
