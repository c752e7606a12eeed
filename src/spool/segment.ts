import { crc32 } from 'node:zlib'

// A segment is a file that one opening of the spool appends to and others read.
//
// name    = ms of its creation (12 hex) - random of the opening (12 hex) - serial (8 hex) .seg
// segment = entry*
// entry   = magic "STsp" | frame length (4 bytes) | frame key (16 bytes) | CRC-32 of these (4 bytes) | frame
//
// Names sort by creation. Beside a segment, a file `.done` holds the number of its removed bytes as decimal
// text; losing it only means shipping again. Integers are big-endian.
//
// After a damaged entry, reading goes on at the next header whose checksum matches.

const magic = 0x53547370
const magicBytes = Buffer.from('STsp')
const lengthAt = 4
const keyAt = 8
const checksumAt = 24
export const entryHeaderBytes = 28

const namePattern = /^[0-9a-f]{12}-[0-9a-f]{12}-[0-9a-f]{8}\.seg$/u

export function isSegmentName(name: string): boolean {
  return namePattern.test(name)
}

export function segmentName(createdAtMs: number, opening: string, serial: number): string {
  return `${hex(createdAtMs, 12)}-${opening}-${hex(serial, 8)}.seg`
}

export function encodeEntryHeader(key: Buffer, frameBytes: number): Buffer {
  const header = Buffer.allocUnsafe(entryHeaderBytes)
  header.writeUInt32BE(magic, 0)
  header.writeUInt32BE(frameBytes, lengthAt)
  key.copy(header, keyAt)
  header.writeUInt32BE(crc32(header.subarray(0, checksumAt)), checksumAt)
  return header
}

export type EntryHeader =
  | { readonly state: 'whole'; readonly key: Buffer; readonly frameBytes: number }
  /** It is incomplete: it is being written, or its writer died and never acknowledged it. */
  | { readonly state: 'unfinished' }
  /** It is not a header of ours: the disk changed what was written. */
  | { readonly state: 'damaged' }

export function decodeEntryHeader(bytes: Buffer): EntryHeader {
  if (bytes.length < entryHeaderBytes) return { state: 'unfinished' }
  const isOurs =
    bytes.readUInt32BE(0) === magic &&
    bytes.readUInt32BE(checksumAt) === crc32(bytes.subarray(0, checksumAt))
  if (!isOurs) return { state: 'damaged' }
  return {
    state: 'whole',
    key: Buffer.from(bytes.subarray(keyAt, checksumAt)),
    frameBytes: bytes.readUInt32BE(lengthAt),
  }
}

/**
 * The length that a header after damage may state, a few MiB. So its fifth byte is 0, which JSON text never
 * contains, and nothing that a sender writes into a record can pass for a header.
 */
const foundFrameBytesMax = 2 ** 24 - 1

/** Where the next whole header begins, at `from` or later; -1 if there is none. */
export function findEntry(bytes: Buffer, from: number): number {
  let at = bytes.indexOf(magicBytes, from)
  while (at !== -1) {
    const header = decodeEntryHeader(bytes.subarray(at, at + entryHeaderBytes))
    if (header.state === 'whole' && header.frameBytes <= foundFrameBytesMax) return at
    at = bytes.indexOf(magicBytes, at + 1)
  }
  return -1
}

interface SegmentParts {
  readonly createdAtMs: number
  readonly opening: string
  readonly serial: number
}

export function segmentParts(name: string): SegmentParts {
  return {
    createdAtMs: Number.parseInt(name.slice(0, 12), 16),
    opening: name.slice(13, 25),
    serial: Number.parseInt(name.slice(26, 34), 16),
  }
}

function hex(value: number, length: number): string {
  return value.toString(16).padStart(length, '0')
}
