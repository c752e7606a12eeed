// Finds whole frames in damaged pieces of a segment that were set aside.

import { createHash } from 'node:crypto'
import { isIntact } from './frame.ts'
import { decodeEntryHeader, entryHeaderBytes, findEntry } from './segment.ts'

interface Salvage {
  /** Frames whose checksum matches, with the key of their header, or a made-up key if it is damaged. */
  readonly frames: readonly { readonly key: Buffer; readonly bytes: Buffer }[]
  /** The remaining pieces; `at` is where they began. */
  readonly gaps: readonly { readonly at: number; readonly bytes: Buffer }[]
}

/** `name` identifies the bytes, so that made-up keys are the same each time. */
export function salvage(name: string, bytes: Buffer): Salvage {
  const frames: { key: Buffer; bytes: Buffer }[] = []
  const gaps: { at: number; bytes: Buffer }[] = []
  for (let at = 0; at < bytes.length;) {
    const header = decodeEntryHeader(bytes.subarray(at, at + entryHeaderBytes))
    const frameAt = at + entryHeaderBytes
    if (header.state === 'whole') {
      const frame = bytes.subarray(frameAt, frameAt + header.frameBytes)
      if (frame.length === header.frameBytes && isIntact(frame)) {
        frames.push({ key: header.key, bytes: frame })
        at = frameAt + header.frameBytes
        continue
      }
    }
    const next = findEntry(bytes, at + 1)
    const piece = bytes.subarray(at, next === -1 ? bytes.length : next)
    const frame = frameOf(piece)
    if (frame === null) gaps.push({ at, bytes: piece })
    else frames.push({ key: madeUpKey(`${name}:${at}`), bytes: frame })
    at += piece.length
  }
  return { frames, gaps }
}

/** The frame of an entry whose header alone is damaged, or null. */
export function frameOf(piece: Buffer): Buffer | null {
  const frame = piece.subarray(entryHeaderBytes)
  return isIntact(frame) ? frame : null
}

/** A key for a frame whose own key is lost: always the same for a name, with room in its counter. */
export function madeUpKey(name: string): Buffer {
  const key = createHash('sha256').update(name).digest().subarray(0, 16)
  key.writeUInt32BE(0, 12)
  return key
}
