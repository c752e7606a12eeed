/**
 * The text form of a token, without its secrets:
 *
 * ```
 * token = base64url( version 0x01 | key id (4 bytes) | nonce (24 bytes) | ciphertext | tag (16 bytes) )
 * ```
 *
 * Version and key id are the additional data of the cipher, so that neither can be exchanged.
 */
import { assert } from '../lib/assert.ts'
import { xaesNonceBytes, xaesTagBytes } from './xaes-256-gcm.ts'

const version = 0x01
const keyIdBytes = 4
const headerBytes = 1 + keyIdBytes
const envelopeBytesMin = headerBytes + xaesNonceBytes + xaesTagBytes

/** Bytes of a whole token before base64url. Longer ones are refused unread. */
const envelopeBytesMax = 4_096
// Every 3 bytes are 4 characters, the rest padded to 4.
const textLengthMax = Math.ceil(envelopeBytesMax / 3) * 4

export type EnvelopeRefusal = 'too-long' | 'not-base64url' | 'too-short' | 'unknown-version'

export interface Envelope {
  readonly ok: true
  readonly keyId: number
  /** Version and key id: the additional data. */
  readonly header: Buffer
  readonly nonce: Buffer
  /** Ciphertext and tag. */
  readonly sealed: Buffer
  /** The one spelling that stands for all accepted ones: unpadded base64url. */
  readonly canonical: string
}

export function encodeHeader(keyId: number): Buffer {
  const header = Buffer.alloc(headerBytes)
  header.writeUInt8(version, 0)
  header.writeUInt32BE(keyId, 1)
  return header
}

export function encodeEnvelope(parts: Pick<Envelope, 'header' | 'nonce' | 'sealed'>): string {
  const bytes = Buffer.concat([parts.header, parts.nonce, parts.sealed])
  // The rules bound every field so that this cannot happen; a token that no one opens must not leave.
  assert(bytes.length <= envelopeBytesMax, 'a token has at most 4 KiB')
  return bytes.toString('base64url')
}

/** Takes a token apart. Says nothing about whether it is genuine: that is the cipher's answer. */
export function decodeEnvelope(
  text: string
): Envelope | { readonly ok: false; readonly reason: EnvelopeRefusal } {
  if (text.length > textLengthMax) return { ok: false, reason: 'too-long' }
  const bytes = Buffer.from(text, 'base64url')
  const canonical = bytes.toString('base64url')
  if (!isSpellingOf(text, { bytes, canonical })) return { ok: false, reason: 'not-base64url' }
  if (bytes.length > envelopeBytesMax) return { ok: false, reason: 'too-long' }
  if (bytes.length < envelopeBytesMin) return { ok: false, reason: 'too-short' }
  if (bytes[0] !== version) return { ok: false, reason: 'unknown-version' }
  const nonceEnd = headerBytes + xaesNonceBytes
  return {
    ok: true,
    keyId: bytes.readUInt32BE(1),
    header: bytes.subarray(0, headerBytes),
    nonce: bytes.subarray(headerBytes, nonceEnd),
    sealed: bytes.subarray(nonceEnd),
    canonical,
  }
}

/**
 * Node's decoder skips what it does not know and mixes both alphabets, so its result proves
 * nothing. Spelling the bytes again and comparing does: junk, mixed alphabets, wrong padding and
 * non-zero bits behind the last byte all come out different.
 */
function isSpellingOf(
  text: string,
  { bytes, canonical }: { readonly bytes: Buffer; readonly canonical: string }
): boolean {
  if (text === canonical) return true
  const padding = '='.repeat((3 - (bytes.length % 3)) % 3)
  if (text === canonical + padding) return true
  const standard = bytes.toString('base64')
  return text === standard || text + padding === standard
}
