import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { frameInstantMs } from './frame.ts'
import { decodeEntryHeader, entryHeaderBytes, isSegmentName } from './segment.ts'

/** A frame, or the damaged rest of a segment; `id` is opaque and names where it ends. */
export interface StoredFrame {
  readonly id: string
  /** Null where the header is damaged: then `bytes` is all that follows in the segment. */
  readonly key: Buffer | null
  readonly bytes: Buffer
}

/** A writer leaves a segment alone after 2 seconds; what dies with it is unfinished for good. */
const quietMsMin = 10_000
const deletionsMax = 32

/**
 * Reads and removes across all segments of the folder, whoever writes them. Holds how far each
 * segment was removed; one process removes, any may look.
 */
export class SegmentReader {
  readonly #folder: string
  readonly #nowMs: () => number
  readonly #removedBytes = new Map<string, number>()

  constructor(folder: string, nowMs: () => number) {
    this.#folder = folder
    this.#nowMs = nowMs
  }

  /** Oldest segment first, and within a segment in the order of writing. */
  *frames(): Generator<StoredFrame> {
    for (const name of this.#names()) yield* this.#framesOf(name)
  }

  /** Forgets all frames up to the given ones. Not synced: what comes back is shipped again. */
  remove(ids: readonly string[]): void {
    try {
      this.#note(ids)
    } finally {
      // Also when the disk is too full for a note: deleting is what makes room.
      // Done segments are the oldest; a long queue behind them needs no look.
      for (const name of this.#names().slice(0, deletionsMax)) this.#deleteIfDone(name)
    }
  }

  #note(ids: readonly string[]): void {
    const ends = new Map<string, number>()
    for (const id of ids) {
      const [name = '', end = ''] = id.split(':')
      ends.set(name, Math.max(ends.get(name) ?? 0, Number(end)))
    }
    const removed = [...ends].filter(
      ([name, end]) =>
        isSegmentName(name) &&
        end > this.#removed(name) &&
        // The segment may be gone: the batch was removed before.
        this.#sizeOf(name) !== null
    )
    for (const [name, end] of removed) this.#removedBytes.set(name, end)
    for (const [name, end] of removed) {
      writeFileSync(this.#donePath(name), String(end), { mode: 0o600 })
    }
  }

  depth(): { readonly bytes: number; readonly oldestAtMs: number | null } {
    let bytes = 0
    let oldestAtMs: number | null = null
    for (const name of this.#names()) {
      const live = (this.#sizeOf(name) ?? 0) - this.#removed(name)
      if (live <= 0) continue
      bytes += live
      const atMs = this.#instantAt(name, this.#removed(name))
      if (atMs !== null && (oldestAtMs === null || atMs < oldestAtMs)) oldestAtMs = atMs
    }
    return { bytes, oldestAtMs }
  }

  /** What all segments hold that was not removed. */
  liveBytes(): number {
    return this.#names().reduce(
      (sum, name) => sum + Math.max(0, (this.#sizeOf(name) ?? 0) - this.#readRemoved(name)),
      0
    )
  }

  *#framesOf(name: string): Generator<StoredFrame> {
    const fd = openOrNull(this.#path(name))
    if (fd === null) return
    try {
      const size = this.#sizeOf(name) ?? 0
      for (let at = this.#removed(name); at < size;) {
        const frame = readFrame(fd, { name, at, size })
        if (frame === null) return
        yield frame.stored
        at = frame.end
      }
    } finally {
      closeSync(fd)
    }
  }

  #instantAt(name: string, at: number): number | null {
    const fd = openOrNull(this.#path(name))
    if (fd === null) return null
    try {
      const header = decodeEntryHeader(readBytes(fd, at, entryHeaderBytes))
      return header.state === 'whole' ? frameInstantMs(header.key) : null
    } finally {
      closeSync(fd)
    }
  }

  /**
   * Deletes a segment that is removed to its end and quiet. The name goes first: a writer that
   * finishes a write now does not find it and does not acknowledge; one that acknowledged before
   * has written before, so its bytes show in the size that is looked at after.
   */
  #deleteIfDone(name: string): void {
    if (this.#nowMs() - Number.parseInt(name.slice(0, 12), 16) < quietMsMin) return
    if (!this.#isDone(name)) return
    const path = this.#path(name)
    const away = `${path}.away`
    try {
      renameSync(path, away)
      if (this.#isDoneAt(away, name)) {
        rmSync(this.#donePath(name), { force: true })
        rmSync(away)
        this.#removedBytes.delete(name)
      } else {
        renameSync(away, path)
      }
    } catch (error) {
      // Another look at the folder was faster.
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    }
  }

  #isDone(name: string): boolean {
    return this.#isDoneAt(this.#path(name), name)
  }

  /** True at the end, and where only an unfinished entry follows, which nobody acknowledged. */
  #isDoneAt(path: string, name: string): boolean {
    const fd = openOrNull(path)
    if (fd === null) return false
    try {
      const size = statSync(path).size
      const at = this.#removed(name)
      return at >= size || readFrame(fd, { name, at, size }) === null
    } finally {
      closeSync(fd)
    }
  }

  #names(): readonly string[] {
    const names = readdirSync(this.#folder)
    for (const name of names) if (name.endsWith('.away')) this.#bringBack(name)
    return names.filter(isSegmentName).toSorted()
  }

  /** A reader died between taking the name and deleting. */
  #bringBack(away: string): void {
    const path = this.#path(away)
    try {
      renameSync(path, path.slice(0, -'.away'.length))
    } catch {
      // It was deleted meanwhile.
    }
  }

  #removed(name: string): number {
    const known = this.#removedBytes.get(name)
    if (known !== undefined) return known
    const bytes = this.#readRemoved(name)
    this.#removedBytes.set(name, bytes)
    return bytes
  }

  #readRemoved(name: string): number {
    try {
      const text = readFileSync(this.#donePath(name), 'utf8')
      return /^\d{1,12}$/u.test(text) ? Number(text) : 0
    } catch {
      // Nothing of the segment was removed yet.
      return 0
    }
  }

  #sizeOf(name: string): number | null {
    return statSync(this.#path(name), { throwIfNoEntry: false })?.size ?? null
  }

  #path(name: string): string {
    return join(this.#folder, name)
  }

  #donePath(name: string): string {
    return join(this.#folder, `${name}.done`)
  }
}

interface Place {
  readonly name: string
  readonly at: number
  readonly size: number
}

/** Null where nothing whole begins (yet). */
function readFrame(
  fd: number,
  { name, at, size }: Place
): { readonly stored: StoredFrame; readonly end: number } | null {
  const header = decodeEntryHeader(readBytes(fd, at, Math.min(entryHeaderBytes, size - at)))
  if (header.state === 'unfinished') return null
  if (header.state === 'damaged') {
    const bytes = readBytes(fd, at, size - at)
    return { stored: { id: `${name}:${size}`, key: null, bytes }, end: size }
  }
  const end = at + entryHeaderBytes + header.frameBytes
  if (end > size) return null
  const bytes = readBytes(fd, at + entryHeaderBytes, header.frameBytes)
  return { stored: { id: `${name}:${end}`, key: header.key, bytes }, end }
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
