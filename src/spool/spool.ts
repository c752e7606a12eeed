import type { SpoolRecord } from './record.ts'

export interface SpoolEntry {
  /** 32 lowercase hex characters; the natural key of the record, never used twice. */
  readonly key: string
  readonly record: SpoolRecord
}

/** The records of one frame. */
export interface SpoolPart {
  readonly entries: readonly SpoolEntry[]
  /** Entries that could not be read as records, raw, so that they can be set aside. */
  readonly broken: readonly {
    readonly key: string
    readonly bytes: Uint8Array
    readonly reason: string
  }[]
}

/** The result of one read; `remove` forgets exactly what was read. */
export interface SpoolBatch {
  /**
   * One part after the other, in the same order each time. They are decoded anew each time: the records of a
   * whole batch, kept as objects, would take more memory and time than decoding them twice.
   */
  parts(): Iterable<SpoolPart>
  /** A frame that cannot be read counts as one record. */
  readonly recordCount: number
  /** The frames that were read; opaque to callers. */
  readonly frames: readonly string[]
}

export interface SpoolDepth {
  readonly bytes: number
  /** The instant of the oldest append that is still here; null when empty. */
  readonly oldestAtMs: number | null
}

/**
 * The durable queue between trackers and engine; many processes share one. At least once: a batch
 * that was read but not removed is read again, in the same order.
 */
export interface Spool {
  /**
   * Resolves once the record is on disk (fsync); records of one turn of the event loop share a
   * write. Rejects with SPOOL_FULL or SPOOL_UNAVAILABLE, and then nothing of the record is kept.
   */
  append(record: SpoolRecord): Promise<void>
  /**
   * Reads about `recordsMax` records at most, in the order in which each process appended them: whole
   * frames, and at least one if there is any. After a batch that was read and not removed yet, it reads what
   * follows that batch.
   */
  read(recordsMax: number, after?: SpoolBatch): SpoolBatch
  /** Forgets what was read. Call it only when the warehouse has synced it. */
  remove(batch: SpoolBatch): Promise<void>
  depth(): SpoolDepth
  close(): Promise<void>
}
