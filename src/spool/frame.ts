import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { assert } from '../lib/assert.ts'
import { readRecord } from './record.ts'
import type { SpoolRecord } from './record.ts'

// frame   = version 0x01 | checksum (4 bytes, CRC-32 of all that follows) | count (4 bytes) | payload
// payload = UTF-8 JSON array of `count` records
// key     = ms of the append (6 bytes) | random of this opening (6 bytes) | counter (4 bytes)
// Integers are big-endian, so keys sort by time. A frame's key is that of its first record; record i
// has the key with counter + i.

const frameVersion = 1
const headerBytes = 9
const keyBytes = 16
const counterCount = 2 ** 32

/** Encodes the records of one write. Each text is that of `recordText`; `textBytes` gives `payloadBytes`. */
export function encodeFrame(texts: readonly string[], payloadBytes: number): Buffer {
  const frame = Buffer.allocUnsafe(headerBytes + payloadBytes)
  frame[0] = frameVersion
  frame.writeUInt32BE(texts.length, 5)
  const writtenBytes = frame.write(`[${texts.join(',')}]`, headerBytes, 'utf8')
  assert(writtenBytes === payloadBytes, 'a frame is as long as its records say')
  frame.writeUInt32BE(crc32(frame.subarray(5)), 1)
  return frame
}

/** The bytes that a record adds to the payload: its text and a comma or a bracket. */
export function textBytes(text: string): number {
  return Buffer.byteLength(text) + 1
}

/** The brackets around the records, minus the comma that the last one does not have. */
export const emptyPayloadBytes = 1

type DecodedFrame =
  | { readonly ok: true; readonly records: readonly SpoolRecord[] }
  | { readonly ok: false; readonly reason: string }

/** Never throws: a damaged frame, or one of a later version, is an expected outcome. */
export function decodeFrame(frame: Buffer): DecodedFrame {
  if (frame.length < headerBytes) return broken('shorter than its header')
  if (frame[0] !== frameVersion) return broken(`unknown version ${frame[0]}`)
  if (!isIntact(frame)) return broken('checksum does not match')
  let records: unknown
  try {
    records = JSON.parse(frame.toString('utf8', headerBytes))
  } catch {
    // The parser's message would carry pieces of the payload into a log; the bytes are kept whole.
    return broken('not JSON')
  }
  if (!Array.isArray(records) || records.length !== frame.readUInt32BE(5)) {
    return broken('another count of records than its header says')
  }
  const known = records.map(readRecord).filter((record) => record !== null)
  if (known.length < records.length) return broken('a record of an unknown type')
  return { ok: true, records: known }
}

/** Whether the bytes are an unaltered frame of this version. */
export function isIntact(frame: Buffer): boolean {
  return (
    frame.length >= headerBytes &&
    frame[0] === frameVersion &&
    frame.readUInt32BE(1) === crc32(frame.subarray(5))
  )
}

/** What the frame says of itself; 1 if it is damaged. */
export function countRecords(frame: Buffer): number {
  return isIntact(frame) ? Math.max(1, frame.readUInt32BE(5)) : 1
}

function broken(reason: string): DecodedFrame {
  return { ok: false, reason }
}

/**
 * Hands out keys that no other process, opening or instant hands out, also when the clock steps
 * back: within an opening the counter is never used twice, and 6 random bytes tell openings apart.
 */
export function createKeySource(): (atMs: number, recordCount: number) => Buffer {
  let opening = randomBytes(6)
  let counter = 0
  return (atMs, recordCount) => {
    assert(atMs >= 0 && atMs < 2 ** 48, 'an instant fits into 6 bytes')
    if (counter + recordCount > counterCount) {
      opening = randomBytes(6)
      counter = 0
    }
    const key = Buffer.allocUnsafe(keyBytes)
    key.writeUIntBE(Math.floor(atMs), 0, 6)
    opening.copy(key, 6)
    key.writeUInt32BE(counter, 12)
    counter += recordCount
    return key
  }
}

/** The keys of a frame's records, in order, as 32 hex characters. */
export function recordKeys(frameKey: Buffer, recordCount: number): readonly string[] {
  const prefix = frameKey.toString('hex', 0, 12)
  const first = frameKey.readUInt32BE(12)
  return Array.from({ length: recordCount }, (_, index) => {
    return prefix + (first + index).toString(16).padStart(8, '0')
  })
}

export function frameInstantMs(frameKey: Buffer): number {
  return frameKey.readUIntBE(0, 6)
}
