import { createHash } from 'node:crypto'
import { countRecords, decodeFrame, recordKeys } from './frame.ts'
import type { StoredFrame } from './segment-reader.ts'
import type { SpoolBatch, SpoolPart } from './spool.ts'

/** Collects frames into a batch for a reader. Frames that cannot be read are kept apart, never dropped. */
export class BatchBuilder {
  readonly #frames: StoredFrame[] = []
  #bytes = 0
  #recordCount = 0

  /** A broken frame counts as one record, so that a run of them ends a batch too. */
  get recordCount(): number {
    return this.#recordCount
  }

  get bytes(): number {
    return this.#bytes
  }

  add(frame: StoredFrame): void {
    this.#bytes += frame.bytes.length
    this.#recordCount += frame.key === null ? 1 : countRecords(frame.bytes)
    this.#frames.push(frame)
  }

  build(): SpoolBatch {
    const frames = this.#frames
    return {
      *parts() {
        for (const frame of frames) yield decode(frame)
      },
      recordCount: this.#recordCount,
      frames: frames.map(({ id }) => id),
    }
  }
}

function decode({ id, key: frameKey, bytes }: StoredFrame): SpoolPart {
  if (frameKey === null) {
    const key = createHash('sha256').update(id).digest('hex').slice(0, 32)
    return { entries: [], broken: [{ key, bytes, reason: 'a piece of a segment is damaged' }] }
  }
  const decoded = decodeFrame(bytes)
  if (!decoded.ok) {
    const { reason } = decoded
    return { entries: [], broken: [{ key: frameKey.toString('hex'), bytes, reason }] }
  }
  const keys = recordKeys(frameKey, decoded.records.length)
  const entries = decoded.records.map((record, index) => ({ key: keys[index] ?? '', record }))
  return { entries, broken: [] }
}
