import { randomBytes } from 'node:crypto'
import { closeSync, constants, existsSync, fdatasync, fsync, openSync, write } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { assert } from '../lib/assert.ts'
import { segmentName } from './segment.ts'

export const segmentLimits = {
  // Small, so that an engine that lost its place ships little again; large, so that there are few files.
  bytesMax: 8_388_608,
  // Long, so that an outage makes few files; short, because readers wait longer for a dead writer.
  ageMsMax: 20_000,
} as const

/**
 * On Linux a write ends when its data is on disk, as after `fdatasync`, and takes one way to the threads of the
 * process instead of two. On macOS only `fdatasync` of Node empties the cache of the drive.
 */
const isWriteSynced = process.platform === 'linux'
const openFlags =
  constants.O_WRONLY |
  constants.O_CREAT |
  constants.O_EXCL |
  (isWriteSynced ? constants.O_DSYNC : 0)

interface OpenSegment {
  readonly fd: number
  readonly path: string
  readonly openedAtMs: number
  bytes: number
}

const writeAt = promisify(write)
const syncData = promisify(fdatasync)
const syncFolder = promisify(fsync)

/**
 * Appends to segments of its own, one write at a time, each synced when it resolves. A segment is never
 * written again after a failure, because a reader may be past the place of the failure.
 */
export class SegmentWriter {
  readonly #folder: string
  readonly #folderFd: number
  readonly #opening = randomBytes(6).toString('hex')
  #serial = 0
  #segment: OpenSegment | null = null

  constructor(folder: string) {
    this.#folder = folder
    this.#folderFd = openSync(folder, 'r')
  }

  /** Rejects unless it is certain that all of it is on disk and will be read. */
  async append(parts: readonly Buffer[], createdAtMs: number): Promise<void> {
    const segment = await this.#segmentFor(createdAtMs)
    // Nothing else may be written here until the end; after a failure it stays so.
    this.#segment = null
    try {
      const bytes = Buffer.concat(parts)
      for (let done = 0; done < bytes.length;) {
        const rest = bytes.length - done
        const { bytesWritten } = await writeAt(segment.fd, bytes, done, rest, segment.bytes + done)
        done += bytesWritten
      }
      if (!isWriteSynced) await syncData(segment.fd)
      // Readers rename a segment before they delete it. While it has its name, they have yet to read this.
      if (!existsSync(segment.path)) throw new Error('the segment was taken away during the write')
      segment.bytes += bytes.length
    } catch (error) {
      closeSync(segment.fd)
      throw error
    }
    assert(this.#segment === null, 'one write at a time')
    this.#segment = segment
  }

  close(): void {
    this.#letGo()
    closeSync(this.#folderFd)
  }

  async #segmentFor(createdAtMs: number): Promise<OpenSegment> {
    const current = this.#segment
    const isUsable =
      current !== null &&
      current.bytes < segmentLimits.bytesMax &&
      performance.now() - current.openedAtMs < segmentLimits.ageMsMax &&
      existsSync(current.path)
    if (isUsable) return current
    this.#letGo()
    this.#serial += 1
    const path = join(this.#folder, segmentName(createdAtMs, this.#opening, this.#serial))
    const fd = openSync(path, openFlags, 0o600)
    try {
      // Without this, a power cut could lose the name, and with it everything synced under it.
      await syncFolder(this.#folderFd)
    } catch (error) {
      closeSync(fd)
      throw error
    }
    return { fd, path, openedAtMs: performance.now(), bytes: 0 }
  }

  #letGo(): void {
    if (this.#segment !== null) closeSync(this.#segment.fd)
    this.#segment = null
  }
}
