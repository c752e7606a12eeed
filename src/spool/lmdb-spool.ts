// The spool in LMDB. One write transaction at a time per process, so records that arrive during an
// fsync share the next one. Never `overlappingSync`: with it a put resolves before the fsync.
import { closeSync, fsyncSync, mkdirSync, openSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { open } from 'lmdb'
import type { RootDatabase } from 'lmdb'
import { ServiceError } from '../errors.ts'
import { assert } from '../lib/assert.ts'
import type { Clock } from '../lib/clock.ts'
import { FrameQueue, limits } from './batching.ts'
import type { PendingFrame } from './batching.ts'
import { createKeySource, encodeFrame, frameInstantMs, isFrameKey } from './frame.ts'
import { BatchBuilder } from './read-batch.ts'
import type { SpoolRecord } from './record.ts'
import type { Spool, SpoolBatch, SpoolDepth } from './spool.ts'

interface LmdbSpoolOptions {
  /** A folder; made when missing. */
  readonly path: string
  /** Bound on the pages that live frames take, over all processes. */
  readonly bytesMax: number
  readonly clock: Clock
  /** Appends are refused while the file system has less room; `remove` needs some to work. */
  readonly diskFreeBytesMin?: number
  /** A write that takes longer is answered as a failure; a hanging disk must not hang callers. */
  readonly writeTimeoutMsMax?: number
  readonly inFlightBytesMax?: number
}

interface LmdbStats {
  readonly pageSize: number
  readonly entryCount: number
  readonly treeBranchPageCount: number
  readonly treeLeafPageCount: number
  readonly overflowPages: number
}

/** ENOSPC, EDQUOT and EFBIG: no room, as the operating system spells it. */
const noRoomCodes: ReadonlySet<unknown> = new Set([28, 122, 27])
const diskCheckIntervalMs = 200
/**
 * From the start of one write to that of the next, while writes are busy ones. A write with its two
 * syncs costs about 0.5 ms of CPU time whatever it holds: measured 440 us a record alone, 44 in groups
 * of 16, 9 in groups of 128. Few senders, or a record after a pause, never wait.
 */
const writeIntervalMsMin = 4
const busyRecordsMin = 16

export function openLmdbSpool(options: LmdbSpoolOptions): LmdbSpool {
  return new LmdbSpool(options)
}

export class LmdbSpool implements Spool {
  readonly #db: RootDatabase<Buffer, Buffer>
  readonly #options: LmdbSpoolOptions
  readonly #queue: FrameQueue
  readonly #nextKey = createKeySource()
  #flushing: Promise<void> | null = null
  #isFlushScheduled = false
  #lastWriteAtMs = -Infinity
  #lastWriteRecords = 0
  /** A write is past its time: nothing is accepted until it has ended. */
  #isStuck = false
  #closing: Promise<void> | null = null
  #diskCheckedAtMs = -Infinity
  #isDiskFull = false

  constructor(options: LmdbSpoolOptions) {
    this.#options = options
    this.#queue = new FrameQueue(options.inFlightBytesMax ?? limits.inFlightBytesMax)
    mkdirSync(options.path, { recursive: true, mode: 0o700 })
    this.#db = open<Buffer, Buffer>({
      path: options.path,
      encoding: 'binary',
      keyEncoding: 'binary',
      overlappingSync: false,
      // On, lmdb-js makes promises of its own for each turn, which nobody handles when a commit
      // fails: the process would end. Here every write is an explicit batch with one promise.
      eventTurnBatching: false,
      // Address space only. lmdb-js grows a map by mapping the file again and keeps the old maps,
      // so it starts large enough never to grow: live frames, fragmentation, free pages.
      mapSize: options.bytesMax * 2 + 67_108_864,
    })
    syncFolder(options.path)
    syncFolder(dirname(options.path))
  }

  append(record: SpoolRecord): Promise<void> {
    if (this.#closing !== null) return Promise.reject(unavailable('the spool is closed'))
    if (this.#isStuck) return Promise.reject(unavailable('an earlier write has not ended'))
    const written = this.#queue.push(record, this.#options.clock())
    this.#scheduleFlush()
    return written
  }

  read(recordsMax: number): SpoolBatch {
    const builder = new BatchBuilder()
    this.#renewSnapshot()
    for (const { key, value } of this.#db.getRange()) {
      builder.add(key, value)
      if (builder.recordCount >= recordsMax || builder.bytes >= limits.readBytesMax) break
    }
    return builder.build()
  }

  async remove(batch: SpoolBatch): Promise<void> {
    if (batch.frames.length === 0) return
    await this.#commit(() => {
      for (const frame of batch.frames) void this.#db.remove(Buffer.from(frame, 'hex'))
    })
  }

  depth(): SpoolDepth {
    this.#renewSnapshot()
    const stats = this.#stats()
    const [oldestKey] = this.#db.getKeys({ limit: 1 })
    return {
      frames: stats.entryCount,
      bytes: liveBytes(stats),
      oldestAtMs:
        oldestKey !== undefined && isFrameKey(oldestKey) ? frameInstantMs(oldestKey) : null,
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    while (!this.#queue.isEmpty || this.#flushing !== null) {
      await (this.#flushing ?? this.#flush())
    }
    // lmdb-js waits for a write that hangs for as long as it hangs; the process ends instead.
    if (!this.#isStuck) await this.#db.close()
  }

  /** All records of this turn of the event loop share the write: it starts after the turn. */
  #scheduleFlush(): void {
    if (this.#isFlushScheduled || this.#flushing !== null) return
    this.#isFlushScheduled = true
    const start = (): void => {
      this.#isFlushScheduled = false
      if (this.#flushing === null && !this.#queue.isEmpty) void this.#flush()
    }
    const restMs = this.#lastWriteAtMs + writeIntervalMsMin - performance.now()
    if (restMs > 0 && this.#lastWriteRecords >= busyRecordsMin) setTimeout(start, restMs)
    else setImmediate(start)
  }

  /** Never rejects: every outcome goes to the frames. */
  #flush(): Promise<void> {
    this.#flushing = this.#writeWaiting().finally(() => {
      this.#flushing = null
      if (!this.#queue.isEmpty) this.#scheduleFlush()
    })
    return this.#flushing
  }

  async #writeWaiting(): Promise<void> {
    this.#lastWriteAtMs = performance.now()
    const frames = this.#queue.take()
    this.#lastWriteRecords = frames.reduce((sum, frame) => sum + frame.texts.length, 0)
    const fitting = this.#refuseWhatDoesNotFit(frames)
    let failure: Error | undefined
    try {
      if (fitting.length > 0) await this.#commit(() => this.#put(fitting))
    } catch (error) {
      failure = toServiceError(error)
    }
    for (const frame of fitting) this.#finish(frame, failure)
    if (this.#isStuck) this.#refuseAll(this.#queue.take(), unavailable('the disk does not answer'))
  }

  #put(frames: readonly PendingFrame[]): void {
    for (const frame of frames) {
      const key = this.#nextKey(frame.atMs, frame.texts.length)
      void this.#db.put(key, encodeFrame(frame.texts, frame.payloadBytes))
    }
  }

  #finish(frame: PendingFrame, failure: Error | undefined): void {
    this.#queue.forget(frame)
    frame.settle(failure)
  }

  #refuseAll(frames: readonly PendingFrame[], failure: Error): void {
    for (const frame of frames) this.#finish(frame, failure)
  }

  /**
   * The count is LMDB's own, of live pages, in the snapshot of all processes: one native call per
   * write. Processes that write at the same instant may each go over by what they have in flight.
   */
  #refuseWhatDoesNotFit(frames: readonly PendingFrame[]): readonly PendingFrame[] {
    try {
      if (this.#isDiskFullNow()) {
        this.#refuseAll(frames, new ServiceError('SPOOL_FULL', 'the disk has no room left'))
        return []
      }
      this.#renewSnapshot()
      const stats = this.#stats()
      let bytes = liveBytes(stats)
      return frames.filter((frame) => {
        bytes += Math.ceil((frame.payloadBytes + 64) / stats.pageSize) * stats.pageSize
        if (bytes <= this.#options.bytesMax) return true
        const details = { bytes, bytesMax: this.#options.bytesMax }
        this.#finish(
          frame,
          new ServiceError('SPOOL_FULL', 'the spool is at its bound', { details })
        )
        return false
      })
    } catch (error) {
      this.#refuseAll(frames, toServiceError(error))
      return []
    }
  }

  /** Asked before LMDB is: a write that fails for want of room costs a transaction and noise. */
  #isDiskFullNow(): boolean {
    const nowMs = performance.now()
    if (nowMs - this.#diskCheckedAtMs < diskCheckIntervalMs && !this.#isDiskFull) return false
    this.#diskCheckedAtMs = nowMs
    const disk = statfsSync(this.#options.path)
    const freeBytesMin = this.#options.diskFreeBytesMin ?? 16_777_216
    this.#isDiskFull = disk.bavail * disk.bsize < freeBytesMin
    return this.#isDiskFull
  }

  /** One transaction, synced when this resolves; of a failed one nothing is kept. */
  async #commit(change: () => void): Promise<void> {
    const writing = this.#db.batch(change)
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        this.#isStuck = true
        void writing.catch(consume).finally(() => (this.#isStuck = false))
        reject(unavailable('a write takes too long'))
      }, this.#options.writeTimeoutMsMax ?? 10_000)
    })
    try {
      await Promise.race([writing, late])
    } catch (error) {
      throw await toCommitError(error)
    } finally {
      clearTimeout(timer)
    }
  }

  /** lmdb-js keeps one snapshot per turn; without this a read misses what others just wrote. */
  #renewSnapshot(): void {
    this.#db.resetReadTxn()
  }

  #stats(): LmdbStats {
    const stats: object = this.#db.getStats()
    // The package types this as `{}`; its src/dbi.cpp sets the fields.
    assert(isLmdbStats(stats), 'lmdb reports its pages')
    return stats
  }
}

/** LMDB syncs its file, not the folder: a power cut could lose the name of a file just made. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

function isLmdbStats(stats: object): stats is LmdbStats {
  return 'pageSize' in stats && 'overflowPages' in stats && 'treeLeafPageCount' in stats
}

function liveBytes(stats: LmdbStats): number {
  const pages = stats.treeBranchPageCount + stats.treeLeafPageCount + stats.overflowPages
  return pages * stats.pageSize
}

function unavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError('SPOOL_UNAVAILABLE', message, { cause })
}

function consume(): void {
  // The failure was answered when the time ran out; only that it has ended matters here.
}

/** lmdb-js rejects with a general error whose `commitError` is a promise that rejects with why. */
async function toCommitError(error: unknown): Promise<ServiceError> {
  if (!(error instanceof Error) || !('commitError' in error)) return toServiceError(error)
  try {
    await error.commitError
  } catch (cause) {
    return toServiceError(cause)
  }
  return toServiceError(error)
}

function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  if (error instanceof Error && 'code' in error && noRoomCodes.has(error.code)) {
    return new ServiceError('SPOOL_FULL', 'the disk took no more', { cause: error })
  }
  return unavailable('the spool could not be written', error)
}
