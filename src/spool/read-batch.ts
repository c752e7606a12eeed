import { createHash } from 'node:crypto'
import { decodeFrame, recordKeys } from './frame.ts'
import type { StoredFrame } from './segment-reader.ts'
import type { SpoolBatch, SpoolEntry } from './spool.ts'

/** Collects frames into a batch for a reader. Frames that cannot be read are kept apart, never dropped. */
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

  add({ id, key: frameKey, bytes }: StoredFrame): void {
    this.#bytes += bytes.length
    this.#frames.push(id)
    if (frameKey === null) {
      const key = createHash('sha256').update(id).digest('hex').slice(0, 32)
      this.#broken.push({ key, bytes, reason: 'a piece of a segment is damaged' })
      return
    }
    const decoded = decodeFrame(bytes)
    if (!decoded.ok) {
      this.#broken.push({ key: frameKey.toString('hex'), bytes, reason: decoded.reason })
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
