import { decodeFrame, isFrameKey, recordKeys } from './frame.ts'
import type { SpoolBatch, SpoolEntry } from './spool.ts'

/** Puts frames together to what a reader takes; what cannot be read is set apart, never dropped. */
export class BatchBuilder {
  readonly #entries: SpoolEntry[] = []
  readonly #broken: { key: string; bytes: Uint8Array; reason: string }[] = []
  readonly #frames: string[] = []
  #bytes = 0

  /** A broken frame counts as one record, so that a run of them ends a batch too. */
  get recordCount(): number {
    return this.#entries.length + this.#broken.length
  }

  get bytes(): number {
    return this.#bytes
  }

  add(frameKey: Buffer, frame: Buffer): void {
    this.#bytes += frame.length
    const key = frameKey.toString('hex')
    this.#frames.push(key)
    if (!isFrameKey(frameKey)) {
      this.#broken.push({ key, bytes: Buffer.from(frame), reason: 'its key is not 16 bytes' })
      return
    }
    const decoded = decodeFrame(frame)
    if (!decoded.ok) {
      this.#broken.push({ key, bytes: Buffer.from(frame), reason: decoded.reason })
      return
    }
    const keys = recordKeys(frameKey, decoded.records.length)
    for (const [index, record] of decoded.records.entries()) {
      this.#entries.push({ key: keys[index] ?? '', record })
    }
  }

  build(): SpoolBatch {
    return { entries: this.#entries, broken: this.#broken, frames: this.#frames }
  }
}
