import { ServiceError } from '../errors.ts'
import { emptyPayloadBytes, textBytes } from './frame.ts'
import { recordText } from './record-text.ts'
import type { SpoolRecord } from './record.ts'

/** 1,000 records of a few hundred bytes; a longer frame only if one record alone is longer. */
export const limits = {
  frameRecordsMax: 1_000,
  frameBytesMax: 262_144,
  /** Waiting or being written. At 100 MB/s a disk writes this in a third of a second. */
  inFlightBytesMax: 33_554_432,
  /** Of one read: 20,000 records of a common length, or one longer frame. */
  readBytesMax: 12_582_912,
} as const

/** Records that share one write, and one promise that is settled with it. */
export interface PendingFrame {
  readonly texts: string[]
  readonly atMs: number
  readonly written: Promise<void>
  readonly settle: (error?: Error) => void
  payloadBytes: number
}

/** Collects records into frames in the order of their arrival; bounded in frames and in bytes. */
export class FrameQueue {
  readonly #inFlightBytesMax: number
  #frames: PendingFrame[] = []
  #bytes = 0

  constructor(inFlightBytesMax: number) {
    this.#inFlightBytesMax = inFlightBytesMax
  }

  get isEmpty(): boolean {
    return this.#frames.length === 0
  }

  /** The number of records that wait to be written. */
  get recordCount(): number {
    return this.#frames.reduce((sum, frame) => sum + frame.texts.length, 0)
  }

  /** Returns the promise of the frame that took the record; it rejects if too much is in flight. */
  push(record: SpoolRecord, atMs: number): Promise<void> {
    const text = recordText(record)
    const bytes = textBytes(text)
    if (this.#bytes + bytes > this.#inFlightBytesMax) {
      const details = { inFlightBytes: this.#bytes }
      return Promise.reject(
        new ServiceError('SPOOL_FULL', 'too many appends in flight', { details })
      )
    }
    this.#bytes += bytes
    const frame = this.#frameFor(bytes, atMs)
    frame.texts.push(text)
    frame.payloadBytes += bytes
    return frame.written
  }

  /** Takes all waiting frames. Their bytes stay counted until `forget`. */
  take(): readonly PendingFrame[] {
    const frames = this.#frames
    this.#frames = []
    return frames
  }

  forget(frame: PendingFrame): void {
    this.#bytes -= frame.payloadBytes - emptyPayloadBytes
  }

  #frameFor(bytes: number, atMs: number): PendingFrame {
    const last = this.#frames.at(-1)
    if (
      last !== undefined &&
      last.texts.length < limits.frameRecordsMax &&
      last.payloadBytes + bytes <= limits.frameBytesMax
    ) {
      return last
    }
    const frame = startFrame(atMs)
    this.#frames.push(frame)
    return frame
  }
}

function startFrame(atMs: number): PendingFrame {
  let settle: PendingFrame['settle'] = ignore
  const written = new Promise<void>((resolve, reject) => {
    settle = (error) => (error === undefined ? resolve() : reject(error))
  })
  return { texts: [], atMs, written, settle, payloadBytes: emptyPayloadBytes }
}

/** A placeholder until the promise hands out its own function, which it does at once. */
function ignore(): void {}
