// Which segments there are, how long, and how much of each was removed. Asked for several times a second
// by every process, also when thousands wait: so the folder is listed only when it changed, and only
// segments that may still grow or shrink are looked at.

import { readdirSync, readFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isSegmentName, segmentParts } from './segment.ts'

/**
 * A writer stops using a segment after 20 seconds, or when it begins another. What it left unfinished if it
 * died stays unfinished.
 */
const quietMsMin = 30_000
/** Changes of a folder within this time may share one time stamp. */
const stampMsMax = 2_500
/** With more names a listing takes milliseconds; then listings take a twentieth of the time at most. */
const quickNamesMax = 1_000
const listingShare = 20
const listingPauseMsMax = 1_000

interface Segment {
  readonly name: string
  bytes: number
  removedBytes: number
  hasNote: boolean
}

export class SegmentTable {
  readonly #folder: string
  readonly #nowMs: () => number
  #segments = new Map<string, Segment>()
  /** Segments that may still grow. */
  readonly #open = new Set<Segment>()
  readonly #noted = new Set<Segment>()
  #lastSerials = new Map<string, number>()
  #names: readonly string[] = []
  #liveBytes = 0
  #listed = { folderMs: -1, wallMs: 0, atMs: -Infinity, tookMs: 0 }

  constructor(folder: string, nowMs: () => number) {
    this.#folder = folder
    this.#nowMs = nowMs
  }

  /** All names, in the order of creation. */
  names(): readonly string[] {
    this.#list()
    return this.#names
  }

  /** The bytes of all segments that were not removed. */
  liveBytes(): number {
    this.#list()
    for (const segment of this.#open) {
      // This is read before the size: if the segment is closed, the size is final.
      if (this.isClosed(segment.name)) this.#open.delete(segment)
      this.#update(segment, { bytes: this.sizeOf(segment.name) ?? 0 })
    }
    for (const segment of this.#noted) {
      this.#update(segment, { removedBytes: this.#readRemoved(segment.name) })
    }
    return this.#liveBytes
  }

  /** Whether nobody writes to it any more. */
  isClosed(name: string): boolean {
    const { createdAtMs, opening, serial } = segmentParts(name)
    if (serial < (this.#lastSerials.get(opening) ?? 0)) return true
    return this.#nowMs() - createdAtMs >= quietMsMin
  }

  removedBytes(name: string): number {
    return this.#segments.get(name)?.removedBytes ?? this.#readRemoved(name)
  }

  noteRemoved(name: string, removedBytes: number): void {
    const segment = this.#segments.get(name)
    if (segment === undefined) return
    this.#update(segment, { bytes: this.sizeOf(name) ?? segment.bytes, removedBytes })
    // The process that removes knows this itself; a full disk may have refused its notes.
    segment.hasNote = true
    this.#noted.delete(segment)
  }

  forget(names: ReadonlySet<string>): void {
    for (const name of names) {
      const segment = this.#segments.get(name)
      if (segment !== undefined) this.#drop(segment)
    }
    if (names.size > 0) this.#names = this.#names.filter((name) => !names.has(name))
  }

  /** Called if it was written to after it seemed closed, for example because a clock was set. */
  reopen(name: string): void {
    const segment = this.#segments.get(name)
    if (segment !== undefined) this.#open.add(segment)
  }

  /** False if a closed segment was removed to its last byte. The segment is not opened for this. */
  mayHaveMore(name: string): boolean {
    const segment = this.#segments.get(name)
    return segment === undefined || this.#open.has(segment) || liveOf(segment) > 0
  }

  sizeOf(name: string): number | null {
    return statSync(join(this.#folder, name), { throwIfNoEntry: false })?.size ?? null
  }

  #list(): void {
    const nowMs = performance.now()
    const { folderMs, wallMs, atMs, tookMs } = this.#listed
    const isLong = this.#names.length > quickNamesMax
    if (isLong && nowMs - atMs < Math.min(tookMs * listingShare, listingPauseMsMax)) return
    const { mtimeMs } = statSync(this.#folder)
    if (mtimeMs === folderMs && wallMs - folderMs > stampMsMax) return
    const listedAtMs = Date.now()
    this.#take(readdirSync(this.#folder))
    const endMs = performance.now()
    this.#listed = { folderMs: mtimeMs, wallMs: listedAtMs, atMs: endMs, tookMs: endMs - nowMs }
  }

  #take(found: readonly string[]): void {
    const listed = new Set(found)
    for (const name of found) {
      if (name.endsWith('.away')) listed.add(this.#bringBack(name))
    }
    const names = [...listed].filter(isSegmentName).toSorted()
    for (const segment of this.#segments.values()) {
      if (!listed.has(segment.name)) this.#drop(segment)
    }
    this.#lastSerials = lastSerials(names)
    for (const name of names) this.#add(name, listed.has(`${name}.done`))
    this.#names = names
  }

  #add(name: string, hasNote: boolean): void {
    let segment = this.#segments.get(name)
    if (segment === undefined) {
      segment = { name, bytes: this.sizeOf(name) ?? 0, removedBytes: 0, hasNote: false }
      this.#segments.set(name, segment)
      this.#liveBytes += segment.bytes
      if (!this.isClosed(name)) this.#open.add(segment)
    }
    if (!hasNote || segment.hasNote) return
    segment.hasNote = true
    this.#noted.add(segment)
    this.#update(segment, { removedBytes: this.#readRemoved(name) })
  }

  #update(segment: Segment, change: { bytes?: number; removedBytes?: number }): void {
    this.#liveBytes -= liveOf(segment)
    Object.assign(segment, change)
    this.#liveBytes += liveOf(segment)
  }

  #drop(segment: Segment): void {
    this.#liveBytes -= liveOf(segment)
    this.#segments.delete(segment.name)
    this.#open.delete(segment)
    this.#noted.delete(segment)
  }

  /** Restores the name of a segment whose reader died between renaming and deleting it. */
  #bringBack(away: string): string {
    const name = away.slice(0, -'.away'.length)
    try {
      renameSync(join(this.#folder, away), join(this.#folder, name))
    } catch {
      // It was deleted meanwhile.
      return away
    }
    return name
  }

  #readRemoved(name: string): number {
    try {
      const text = readFileSync(join(this.#folder, `${name}.done`), 'utf8')
      return /^\d{1,12}$/u.test(text) ? Number(text) : 0
    } catch {
      // Nothing of the segment was removed yet.
      return 0
    }
  }
}

function liveOf({ bytes, removedBytes }: Segment): number {
  return Math.max(0, bytes - removedBytes)
}

/** The writer of one opening numbers its segments. */
function lastSerials(names: readonly string[]): Map<string, number> {
  const last = new Map<string, number>()
  for (const name of names) {
    const { opening, serial } = segmentParts(name)
    last.set(opening, Math.max(last.get(opening) ?? 0, serial))
  }
  return last
}
