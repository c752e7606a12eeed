/**
 * Reads the one protobuf message of a token. Written by hand because it runs for every event: see
 * docs/decisions/0006 for the measurement, and the tests for the proof that it agrees with
 * @bufbuild/protobuf. Stricter than that library: a known field of another wire type, a group, a
 * varint beyond 64 bits or text that is not UTF-8 refuses the whole payload.
 */
import { isUtf8 } from 'node:buffer'
import type { TrackingData } from './payload.ts'

// https://protobuf.dev/programming-guides/encoding/
//   message = *(tag value)            tag = varint(field number << 3 | wire type)
//   value   = varint                  wire type 0
//           | 8 bytes | 4 bytes       wire types 1 and 5, only in fields we do not know
//           | varint(length) bytes    wire type 2
const varint = 0
const fixed64 = 1
const delimited = 2
const fixed32 = 5

const lastKnownField = 16
const servedAdIdBytes = 16
const tagBytesMax = 5
const twoPow32 = 4_294_967_296

/** The ad in these bytes, or undefined if they are not a well-formed message. */
export function decodePayload(bytes: Buffer): TrackingData | undefined {
  const reader = new WireReader(bytes)
  const data = emptyPayload()
  while (reader.hasMore()) readField(reader, data)
  return reader.isMalformed ? undefined : data
}

type Draft = { -readonly [Field in keyof TrackingData]: TrackingData[Field] }

// Protobuf leaves out what is zero or empty, so this is where every message starts.
function emptyPayload(): Draft {
  return {
    servedAdId: '',
    servedAtMs: 0,
    publisherId: 0,
    siteId: 0,
    marketId: 0,
    advertiserId: 0,
    campaignId: 0,
    adGroupId: 0,
    gtin: '',
    groupId: '',
    userId: '',
    userLoggedInId: '',
    currency: '',
    costPerClickMicros: 0n,
    costPerMilleMicros: 0n,
    landingUrl: '',
  }
}

/** Where a field comes twice the last one wins, as protobuf demands. */
function readField(reader: WireReader, data: Draft): void {
  const tag = reader.tag()
  switch (tag) {
    case (1 << 3) | delimited:
      data.servedAdId = reader.servedAdId()
      return
    case (2 << 3) | varint:
      data.servedAtMs = reader.safeInteger()
      return
    case (3 << 3) | varint:
      data.publisherId = reader.int32()
      return
    case (4 << 3) | varint:
      data.siteId = reader.int32()
      return
    case (5 << 3) | varint:
      data.marketId = reader.int32()
      return
    case (6 << 3) | varint:
      data.advertiserId = reader.int32()
      return
    case (7 << 3) | varint:
      data.campaignId = reader.int32()
      return
    case (8 << 3) | varint:
      data.adGroupId = reader.int32()
      return
    case (9 << 3) | delimited:
      data.gtin = reader.text()
      return
    case (10 << 3) | delimited:
      data.groupId = reader.text()
      return
    case (11 << 3) | delimited:
      data.userId = reader.text()
      return
    case (12 << 3) | delimited:
      data.userLoggedInId = reader.text()
      return
    case (13 << 3) | delimited:
      data.currency = reader.text()
      return
    case (14 << 3) | varint:
      data.costPerClickMicros = reader.int64()
      return
    case (15 << 3) | varint:
      data.costPerMilleMicros = reader.int64()
      return
    case (16 << 3) | delimited:
      data.landingUrl = reader.text()
      return
    default:
      reader.skip(tag)
  }
}

/** After the first fault every read gives an empty value and `hasMore` ends the loop. */
class WireReader {
  isMalformed = false
  readonly #bytes: Buffer
  /** The bytes as a string of one character each, once a text was read. */
  #characters: string | undefined
  #at = 0
  // The last varint as two words, because a JavaScript number holds 53 bits of the 64.
  #low = 0
  #high = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  hasMore(): boolean {
    return !this.isMalformed && this.#at < this.#bytes.length
  }

  tag(): number {
    const startAt = this.#at
    this.#readVarint()
    if (this.#high !== 0 || this.#at - startAt > tagBytesMax) this.isMalformed = true
    return this.#low
  }

  /** Keeps the low 32 bits, like every protobuf implementation. */
  int32(): number {
    this.#readVarint()
    return this.#low | 0
  }

  int64(): bigint {
    this.#readVarint()
    if (this.#high === 0) return BigInt(this.#low)
    return (BigInt(this.#high) << 32n) + BigInt(this.#low)
  }

  safeInteger(): number {
    this.#readVarint()
    const value = this.#high * twoPow32 + this.#low
    if (!Number.isSafeInteger(value)) this.isMalformed = true
    return value
  }

  servedAdId(): string {
    const length = this.#takeLength()
    if (length !== servedAdIdBytes) this.isMalformed = true
    return this.#bytes.toString('hex', this.#at - length, this.#at)
  }

  text(): string {
    const length = this.#takeLength()
    if (length === 0) return ''
    const startAt = this.#at - length
    if (this.#isAscii(startAt)) {
      // One call of the decoder for all texts: a call takes longer than a text.
      this.#characters ??= this.#bytes.toString('latin1')
      return this.#characters.slice(startAt, this.#at)
    }
    const text = this.#bytes.toString('utf8', startAt, this.#at)
    // Node puts U+FFFD in the place of what is not UTF-8. It can also stand there rightly, so only
    // a text that has one is worth the slower question.
    if (text.includes('\uFFFD') && !isUtf8(this.#bytes.subarray(startAt, this.#at))) {
      this.isMalformed = true
    }
    return text
  }

  #isAscii(startAt: number): boolean {
    for (let at = startAt; at < this.#at; at++) if ((this.#bytes[at] ?? 0) > 0x7f) return false
    return true
  }

  /** Steps over a field of a later version of the message. */
  skip(tag: number): void {
    const field = tag >>> 3
    const wireType = tag & 7
    if (field <= lastKnownField) this.isMalformed = true
    else if (wireType === varint) this.#readVarint()
    else if (wireType === delimited) this.#takeLength()
    else if (wireType === fixed64) this.#take(8)
    else if (wireType === fixed32) this.#take(4)
    else this.isMalformed = true
  }

  #takeLength(): number {
    this.#readVarint()
    if (this.#high !== 0) this.isMalformed = true
    return this.#take(this.#low)
  }

  #take(length: number): number {
    if (this.isMalformed || length > this.#bytes.length - this.#at) {
      this.isMalformed = true
      return 0
    }
    this.#at += length
    return length
  }

  /** Seven bits a byte, low ones first; at most ten bytes, of which the last holds one bit. */
  #readVarint(): void {
    const first = this.#bytes[this.#at] ?? 0x80
    if (first < 0x80) {
      this.#at += 1
      this.#low = first
      this.#high = 0
      return
    }
    let low = 0
    let high = 0
    for (let index = 0; index < 10; index++) {
      const byte = this.#bytes[this.#at]
      if (byte === undefined || (index === 9 && byte > 1)) break
      this.#at += 1
      const bits = byte & 0x7f
      if (index < 4) low |= bits << (7 * index)
      else if (index > 4) high |= bits << (7 * index - 32)
      else {
        low |= bits << 28
        high |= bits >> 4
      }
      if (byte < 0x80) {
        this.#low = low >>> 0
        this.#high = high
        return
      }
    }
    this.#low = 0
    this.#high = 0
    this.isMalformed = true
  }
}
