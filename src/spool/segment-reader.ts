// Reads and removes frames across all segments of the folder, whoever writes them.

import { closeSync, openSync, readSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { frameInstantMs, isIntact } from './frame.ts'
import { frameOf, madeUpKey } from './salvage.ts'
import {
  decodeEntryHeader,
  entryHeaderBytes,
  findEntry,
  isSegmentName,
  segmentParts,
} from './segment.ts'
import { SegmentTable } from './segment-table.ts'

/** A frame, or a damaged piece of a segment; `id` is opaque and names where it ends. */
export interface StoredFrame {
  readonly id: string
  /** Null if its key is lost; then `bytes` is everything up to the next whole entry. */
  readonly key: Buffer | null
  readonly bytes: Buffer
}

/** The bounds of one removal: names that are done, and names before them that are not. */
const deletionsMax = 512
const undoneMax = 32
/**
 * How long before a segment's creation an append in it may have begun. The search for the oldest append
 * skips segments that were created later than that after it.
 */
const openingMsMax = 60_000

interface FirstEntry {
  readonly removedBytes: number
  readonly atMs: number
}

/** Knows how far each segment was removed. One process removes; any may read. */
export class SegmentReader {
  readonly #folder: string
  readonly #table: SegmentTable
  readonly #firstEntries = new Map<string, FirstEntry>()

  constructor(folder: string, nowMs: () => number) {
    this.#folder = folder
    this.#table = new SegmentTable(folder, nowMs)
  }

  /**
   * Oldest segment first, and within a segment in the order of writing. Without those up to the given ones, which
   * were read before.
   */
  *frames(after: readonly string[] = []): Generator<StoredFrame> {
    const ends = endsOf(after)
    for (const name of this.#table.names()) {
      if (this.#table.mayHaveMore(name)) yield* this.#framesOf(name, ends.get(name))
    }
  }

  /** Forgets all frames up to the given ones. This is not synced: frames that come back are shipped again. */
  remove(ids: readonly string[]): void {
    try {
      this.#note(ids)
    } finally {
      // This also runs when the disk is too full for a note, because deleting makes room.
      this.#deleteDone()
    }
  }

  #note(ids: readonly string[]): void {
    const removed = [...endsOf(ids)].filter(
      ([name, end]) =>
        isSegmentName(name) &&
        end > this.#table.removedBytes(name) &&
        // The segment may be gone: the batch was removed before.
        this.#table.sizeOf(name) !== null
    )
    for (const [name, end] of removed) this.#table.noteRemoved(name, end)
    for (const [name, end] of removed) {
      writeFileSync(this.#donePath(name), String(end), { mode: 0o600 })
    }
  }

  depth(): { readonly bytes: number; readonly oldestAtMs: number | null } {
    return { bytes: this.#table.liveBytes(), oldestAtMs: this.#oldestAtMs() }
  }

  /** The bytes of all segments that were not removed. */
  liveBytes(): number {
    return this.#table.liveBytes()
  }

  #oldestAtMs(): number | null {
    let oldestAtMs: number | null = null
    for (const name of this.#table.names()) {
      if (!this.#table.mayHaveMore(name)) continue
      const { createdAtMs } = segmentParts(name)
      if (oldestAtMs !== null && createdAtMs > oldestAtMs + openingMsMax) break
      const atMs = this.#firstAtMs(name)
      if (atMs !== null && (oldestAtMs === null || atMs < oldestAtMs)) oldestAtMs = atMs
    }
    return oldestAtMs
  }

  /** The instant of the first entry that was not removed. A damaged entry is as old as its segment. */
  #firstAtMs(name: string): number | null {
    const removedBytes = this.#table.removedBytes(name)
    const known = this.#firstEntries.get(name)
    if (known?.removedBytes === removedBytes) return known.atMs
    for (const { key } of this.#framesOf(name)) {
      const atMs = key === null ? segmentParts(name).createdAtMs : frameInstantMs(key)
      this.#firstEntries.set(name, { removedBytes, atMs })
      return atMs
    }
    return null
  }

  *#framesOf(name: string, readUpTo = 0): Generator<StoredFrame> {
    const fd = openOrNull(this.#path(name))
    if (fd === null) return
    try {
      // This is read before the size: if the segment is closed, the size is final.
      const isClosed = this.#table.isClosed(name)
      const size = this.#table.sizeOf(name) ?? 0
      for (let at = Math.max(this.#table.removedBytes(name), readUpTo); at < size;) {
        const frame = readEntry(fd, { name, at, size, isClosed })
        if (frame === null) return
        yield frame.stored
        at = frame.end
      }
    } finally {
      closeSync(fd)
    }
  }

  #deleteDone(): void {
    const deleted = new Set<string>()
    let undoneCount = 0
    for (const name of this.#table.names()) {
      if (deleted.size === deletionsMax || undoneCount === undoneMax) break
      if (this.#deleteIfDone(name)) {
        deleted.add(name)
        continue
      }
      undoneCount += 1
      if (!this.#table.mayHaveMore(name)) this.#table.reopen(name)
    }
    for (const name of deleted) this.#firstEntries.delete(name)
    this.#table.forget(deleted)
  }

  /**
   * Deletes a segment that is removed to its end and closed. The name goes first: a writer that
   * finishes a write now does not find it and does not acknowledge; one that acknowledged before
   * has written before, so its bytes show in the size that is looked at after.
   */
  #deleteIfDone(name: string): boolean {
    const path = this.#path(name)
    if (!this.#table.isClosed(name) || !this.#isDoneAt(path, name)) return false
    const away = `${path}.away`
    try {
      renameSync(path, away)
      if (this.#isDoneAt(away, name)) {
        rmSync(this.#donePath(name), { force: true })
        rmSync(away)
        return true
      }
      renameSync(away, path)
    } catch (error) {
      // Another process renamed or deleted it first.
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    }
    return false
  }

  /** True at the end, and if only an unfinished entry follows, which was never acknowledged. */
  #isDoneAt(path: string, name: string): boolean {
    const fd = openOrNull(path)
    if (fd === null) return false
    try {
      const size = statSync(path).size
      const at = this.#table.removedBytes(name)
      return at >= size || readEntry(fd, { name, at, size, isClosed: true }) === null
    } finally {
      closeSync(fd)
    }
  }

  #path(name: string): string {
    return join(this.#folder, name)
  }

  #donePath(name: string): string {
    return join(this.#folder, `${name}.done`)
  }
}

/** How far each segment is read after the given frames. */
function endsOf(ids: readonly string[]): ReadonlyMap<string, number> {
  const ends = new Map<string, number>()
  for (const id of ids) {
    const [name = '', end = ''] = id.split(':')
    ends.set(name, Math.max(ends.get(name) ?? 0, Number(end)))
  }
  return ends
}

interface Place {
  readonly name: string
  readonly at: number
  readonly size: number
  /** Nothing more will be written behind `size`. */
  readonly isClosed: boolean
}

interface Entry {
  readonly stored: StoredFrame
  readonly end: number
}

/** Null where nothing whole begins (yet). */
function readEntry(fd: number, place: Place): Entry | null {
  const { name, at, size } = place
  const header = decodeEntryHeader(readBytes(fd, at, Math.min(entryHeaderBytes, size - at)))
  if (header.state === 'unfinished') return null
  if (header.state === 'damaged') return readGap(fd, place, { ofDamage: true })
  const frameAt = at + entryHeaderBytes
  const end = frameAt + header.frameBytes
  // A header that begins within a frame, so that its last byte lies behind it, counts as well.
  const reach = Math.min(header.frameBytes + entryHeaderBytes - 1, size - frameAt)
  if (end > size) return readGap(fd, place, { ofDamage: false })
  const bytes = readBytes(fd, frameAt, header.frameBytes)
  if (!isIntact(bytes) && findEntry(readBytes(fd, frameAt, reach), 0) !== -1) {
    // A piece is missing here, and what follows has moved into the place of this frame.
    return readGap(fd, place, { ofDamage: true })
  }
  return { stored: { id: `${name}:${end}`, key: header.key, bytes }, end }
}

/**
 * All up to the next whole entry. Where none follows: what does not say that it is damaged is
 * unfinished, and behind damage in a segment that is still written one may yet come.
 */
function readGap(
  fd: number,
  { name, at, size, isClosed }: Place,
  { ofDamage }: { readonly ofDamage: boolean }
): Entry | null {
  const rest = readBytes(fd, at, size - at)
  const next = findEntry(rest, 1)
  if (next === -1 && !(ofDamage && isClosed)) return null
  const piece = next === -1 ? rest : rest.subarray(0, next)
  const end = at + piece.length
  const id = `${name}:${end}`
  const frame = frameOf(piece)
  if (frame === null) return { stored: { id, key: null, bytes: piece }, end }
  return { stored: { id, key: keyOf(name, id), bytes: frame }, end }
}

/** Keys begin with their instant. */
function keyOf(name: string, id: string): Buffer {
  const key = madeUpKey(id)
  key.writeUIntBE(segmentParts(name).createdAtMs, 0, 6)
  return key
}

function readBytes(fd: number, at: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  let done = 0
  while (done < length) {
    const read = readSync(fd, bytes, done, length - done, at + done)
    if (read === 0) break
    done += read
  }
  return bytes.subarray(0, done)
}

function openOrNull(path: string): number | null {
  try {
    return openSync(path, 'r')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}
