import { ServiceError } from '../../src/errors.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { FrameQueue, limits } from '../../src/spool/batching.ts'
import { createKeySource, encodeFrame, frameInstantMs } from '../../src/spool/frame.ts'
import { BatchBuilder } from '../../src/spool/read-batch.ts'
import type { SpoolRecord } from '../../src/spool/record.ts'
import type { Spool, SpoolBatch, SpoolDepth } from '../../src/spool/spool.ts'

interface MemorySpoolOptions {
  readonly clock: Clock
  readonly bytesMax?: number
  readonly inFlightBytesMax?: number
  /** The frames by key; hand the same map to several spools to share or reopen it. */
  readonly frames?: Map<string, Buffer>
}

/** Keeps nothing beyond the process: for tests, with the frames and rules of the real one. */
export function openMemorySpool(options: MemorySpoolOptions): Spool {
  return new MemorySpool(options)
}

class MemorySpool implements Spool {
  readonly #frames: Map<string, Buffer>
  readonly #clock: Clock
  readonly #bytesMax: number
  readonly #queue: FrameQueue
  readonly #nextKey = createKeySource()
  #isFlushScheduled = false
  #isClosed = false

  constructor(options: MemorySpoolOptions) {
    this.#frames = options.frames ?? new Map<string, Buffer>()
    this.#clock = options.clock
    this.#bytesMax = options.bytesMax ?? Infinity
    this.#queue = new FrameQueue(options.inFlightBytesMax ?? limits.inFlightBytesMax)
  }

  append(record: SpoolRecord): Promise<void> {
    if (this.#isClosed) {
      return Promise.reject(new ServiceError('SPOOL_UNAVAILABLE', 'the spool is closed'))
    }
    const written = this.#queue.push(record, this.#clock())
    if (!this.#isFlushScheduled) {
      this.#isFlushScheduled = true
      setImmediate(() => this.#flush())
    }
    return written
  }

  read(recordsMax: number, after?: SpoolBatch): SpoolBatch {
    const builder = new BatchBuilder()
    const keys = [...this.#frames.keys()]
    const readUpTo = Math.max(-1, ...(after?.frames ?? []).map((key) => keys.indexOf(key)))
    for (const key of keys.slice(readUpTo + 1)) {
      const frame = this.#frames.get(key)
      if (frame !== undefined) {
        builder.add({ id: key, key: Buffer.from(key, 'hex'), bytes: frame })
      }
      if (builder.recordCount >= recordsMax || builder.bytes >= limits.readBytesMax) break
    }
    return builder.build()
  }

  async remove(batch: SpoolBatch): Promise<void> {
    await Promise.resolve()
    for (const frame of batch.frames) this.#frames.delete(frame)
  }

  depth(): SpoolDepth {
    const [oldestKey] = [...this.#frames.keys()].toSorted()
    return {
      bytes: this.#bytes(),
      oldestAtMs: oldestKey === undefined ? null : frameInstantMs(Buffer.from(oldestKey, 'hex')),
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.resolve()
    this.#flush()
  }

  #flush(): void {
    this.#isFlushScheduled = false
    for (const frame of this.#queue.take()) {
      this.#queue.forget(frame)
      if (this.#bytes() + frame.payloadBytes > this.#bytesMax) {
        frame.settle(new ServiceError('SPOOL_FULL', 'the spool is at its bound'))
        continue
      }
      const key = this.#nextKey(frame.atMs, frame.texts.length).toString('hex')
      this.#frames.set(key, encodeFrame(frame.texts, frame.payloadBytes))
      frame.settle()
    }
  }

  #bytes(): number {
    let bytes = 0
    for (const frame of this.#frames.values()) bytes += frame.length
    return bytes
  }
}
