// The spool in files. Every process appends only to segments of its own, so no lock is shared and a process
// that dies cannot leave one behind. docs/decisions/0016 says why this is not LMDB.
import { dirname } from 'node:path'
import { ServiceError } from '../errors.ts'
import { freeBytesOf } from '../lib/free-bytes.ts'
import type { Clock } from '../lib/clock.ts'
import { makePrivateFolder } from '../lib/make-folder.ts'
import { syncFolder } from '../lib/sync-folder.ts'
import { FrameQueue, limits } from './batching.ts'
import type { PendingFrame } from './batching.ts'
import { createKeySource, encodeFrame } from './frame.ts'
import { BatchBuilder } from './read-batch.ts'
import type { SpoolRecord } from './record.ts'
import { encodeEntryHeader, entryHeaderBytes } from './segment.ts'
import { SegmentReader } from './segment-reader.ts'
import { SegmentWriter } from './segment-writer.ts'
import type { Spool, SpoolBatch, SpoolDepth } from './spool.ts'

interface FileSpoolOptions {
  /** A folder, created if it is missing. */
  readonly path: string
  /** The limit of what waits to be shipped, over all processes. */
  readonly bytesMax: number
  readonly clock: Clock
  /** Appends are refused while the file system has less room, because shipping needs some. */
  readonly diskFreeBytesMin?: number
  /** A write that takes longer is answered as a failure, so that a hanging disk does not hang callers. */
  readonly writeTimeoutMsMax?: number
  readonly inFlightBytesMax?: number
}

/** The codes by which the operating system says that there is no room. */
const noRoomCodes: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])
/** The greatest age of the count of bytes over all processes, and of free disk space. */
const roomCheckMs = 200
/**
 * How long a write may wait for records that still come in, because a write with its sync costs about the
 * same whatever it holds. It starts as soon as a turn of the event loop brings no record.
 */
const gatherMsMax = 5

export function openFileSpool(options: FileSpoolOptions): FileSpool {
  return new FileSpool(options)
}

export class FileSpool implements Spool {
  readonly #options: FileSpoolOptions
  readonly #queue: FrameQueue
  readonly #nextKey = createKeySource()
  readonly #writer: SegmentWriter
  readonly #reader: SegmentReader
  #flushing: Promise<void> | null = null
  #isFlushScheduled = false
  #lastWriteAtMs = -Infinity
  /** Whether a write is overdue; until it has ended, nothing is accepted. */
  #isStuck = false
  #closing: Promise<void> | null = null
  #roomCheckedAtMs = -Infinity
  #liveBytes = 0
  #known: { readonly depth: SpoolDepth; readonly atMs: number } | null = null
  #isDiskFull = false

  constructor(options: FileSpoolOptions) {
    this.#options = options
    this.#queue = new FrameQueue(options.inFlightBytesMax ?? limits.inFlightBytesMax)
    makePrivateFolder(options.path)
    syncFolder(options.path)
    syncFolder(dirname(options.path))
    this.#writer = new SegmentWriter(options.path)
    this.#reader = new SegmentReader(options.path, options.clock)
  }

  append(record: SpoolRecord): Promise<void> {
    if (this.#closing !== null) return Promise.reject(unavailable('the spool is closed'))
    if (this.#isStuck) return Promise.reject(unavailable('an earlier write has not ended'))
    const written = this.#queue.push(record, this.#options.clock())
    this.#scheduleFlush()
    return written
  }

  read(recordsMax: number, after?: SpoolBatch): SpoolBatch {
    const builder = new BatchBuilder()
    for (const frame of this.#reader.frames(after?.frames)) {
      builder.add(frame)
      if (builder.recordCount >= recordsMax || builder.bytes >= limits.readBytesMax) break
    }
    return builder.build()
  }

  async remove(batch: SpoolBatch): Promise<void> {
    await Promise.resolve()
    this.#reader.remove(batch.frames)
    this.#roomCheckedAtMs = -Infinity
  }

  /**
   * While the folder cannot be read, anything that came after the last reading may wait: so it is told as what waits,
   * and ages. Whoever needs the records themselves fails and says so.
   */
  depth(): SpoolDepth {
    const atMs = this.#options.clock()
    try {
      this.#known = { depth: this.#reader.depth(), atMs }
    } catch (error) {
      if (this.#known === null) throw error
      const { depth, atMs: readAtMs } = this.#known
      return { bytes: depth.bytes, oldestAtMs: depth.oldestAtMs ?? readAtMs }
    }
    return this.#known.depth
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    while (!this.#queue.isEmpty || this.#flushing !== null) {
      await (this.#flushing ?? this.#flush())
    }
    // A write that hangs keeps its file open; the end of the process closes it.
    if (!this.#isStuck) this.#writer.close()
  }

  /** Starts after the first turn of the event loop that brings nothing new, or when time is up. */
  #scheduleFlush(): void {
    if (this.#isFlushScheduled || this.#flushing !== null) return
    this.#isFlushScheduled = true
    const lastAtMs = this.#lastWriteAtMs + gatherMsMax
    let seenCount = 0
    const startOrWait = (): void => {
      if (this.#queue.recordCount > seenCount && performance.now() < lastAtMs) {
        seenCount = this.#queue.recordCount
        return void setImmediate(startOrWait)
      }
      this.#isFlushScheduled = false
      if (this.#flushing === null && !this.#queue.isEmpty) void this.#flush()
    }
    setImmediate(startOrWait)
  }

  /** Never rejects: the frames get every outcome. */
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
    const fitting = this.#refuseWhatDoesNotFit(frames)
    let failure: Error | undefined
    try {
      if (fitting.length > 0) await this.#write(fitting)
    } catch (error) {
      failure = toServiceError(error)
    }
    for (const frame of fitting) this.#finish(frame, failure)
    if (this.#isStuck) this.#refuseAll(this.#queue.take(), unavailable('the disk does not answer'))
  }

  /** Synced when this resolves, within the time a write may take. */
  async #write(frames: readonly PendingFrame[]): Promise<void> {
    const parts = frames.flatMap((frame) => {
      const key = this.#nextKey(frame.atMs, frame.texts.length)
      const bytes = encodeFrame(frame.texts, frame.payloadBytes)
      return [encodeEntryHeader(key, bytes.length), bytes]
    })
    const writing = this.#writer.append(parts, this.#options.clock())
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
    } finally {
      clearTimeout(timer)
    }
  }

  #finish(frame: PendingFrame, failure: Error | undefined): void {
    this.#queue.forget(frame)
    frame.settle(failure)
  }

  #refuseAll(frames: readonly PendingFrame[], failure: Error): void {
    for (const frame of frames) this.#finish(frame, failure)
  }

  /** Processes that write at the same instant may each go over by what they write in between. */
  #refuseWhatDoesNotFit(frames: readonly PendingFrame[]): readonly PendingFrame[] {
    try {
      this.#lookAtRoom()
    } catch (error) {
      this.#refuseAll(frames, toServiceError(error))
      return []
    }
    if (this.#isDiskFull) {
      this.#refuseAll(frames, new ServiceError('SPOOL_FULL', 'the disk has no room left'))
      return []
    }
    return frames.filter((frame) => {
      const bytes = this.#liveBytes + frame.payloadBytes + entryHeaderBytes + 9
      if (bytes <= this.#options.bytesMax) {
        this.#liveBytes = bytes
        return true
      }
      const details = { bytes, bytesMax: this.#options.bytesMax }
      this.#finish(frame, new ServiceError('SPOOL_FULL', 'the spool is at its bound', { details }))
      return false
    })
  }

  #lookAtRoom(): void {
    const nowMs = performance.now()
    if (nowMs - this.#roomCheckedAtMs < roomCheckMs && !this.#isDiskFull) return
    this.#roomCheckedAtMs = nowMs
    this.#liveBytes = this.#reader.liveBytes()
    const { path, diskFreeBytesMin: freeBytesMin = diskFreeBytesMin } = this.#options
    this.#isDiskFull = freeBytesOf(path) < freeBytesMin
  }
}

/** Trackers refuse events where the disk has less. */
export const diskFreeBytesMin = 16_777_216

function unavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError('SPOOL_UNAVAILABLE', message, { cause })
}

function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
  if (!noRoomCodes.has(code)) return unavailable('the spool could not be written', error)
  return new ServiceError('SPOOL_FULL', 'the disk has no room left', { cause: error })
}

function consume(): void {
  // The failure was answered when the time ran out; here it only matters that the write has ended.
}
