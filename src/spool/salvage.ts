// What is whole within bytes of a segment that are not: for pieces that were set aside.

import { createHash } from 'node:crypto'
import { isIntact } from './frame.ts'
import { decodeEntryHeader, entryHeaderBytes, findEntry } from './segment.ts'

interface Salvage {
  /** Frames whose checksum matches, with the key of their header, or one made up where it is damaged. */
  readonly frames: readonly { readonly key: Buffer; readonly bytes: Buffer }[]
  /** The rest, in pieces; `at` is where they began. */
  readonly gaps: readonly { readonly at: number; readonly bytes: Buffer }[]
}

/** `name` tells these bytes from all others, so that keys that are made up are the same each time. */
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

/** The frame of an entry of which the header alone is damaged; null when it is not so. */
export function frameOf(piece: Buffer): Buffer | null {
  const frame = piece.subarray(entryHeaderBytes)
  return isIntact(frame) ? frame : null
}

/** For a frame whose own key is lost: the same for the same name, with a counter that has room. */
export function madeUpKey(name: string): Buffer {
  const key = createHash('sha256').update(name).digest().subarray(0, 16)
  key.writeUInt32BE(0, 12)
  return key
}
