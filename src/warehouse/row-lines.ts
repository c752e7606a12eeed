// The rows of a batch as the bytes that are inserted. Kept as texts or objects until then, they would be copied by
// the collections of the young generation, which took most of the time of shipping.

import { assert } from '../lib/assert.ts'
import type { InsertTable } from './warehouse.ts'

/** The length of `YYYY-MM-DD hh:mm:ss.ffffff`. */
const instantBytes = 26
const stampHead = '["'
const stampText = `${stampHead}${'0'.repeat(instantBytes)}",`
const capacityMin = { bytes: 65_536, rows: 256 } as const
/** UTF-8 takes no more for a unit of UTF-16. */
const bytesPerUnitMax = 3

/** A JSON array a line. The first column is `shipped_at`, whose instant is known only when they are inserted. */
export class RowLines {
  readonly table: InsertTable
  readonly columns: readonly string[]
  #bytes = Buffer.allocUnsafeSlow(capacityMin.bytes)
  #ends = new Float64Array(capacityMin.rows)
  #sources = new Float64Array(capacityMin.rows)
  #usedBytes = 0
  #count = 0

  constructor(table: InsertTable, columns: readonly string[]) {
    this.table = table
    this.columns = ['shipped_at', ...columns]
  }

  get count(): number {
    return this.#count
  }

  /** `values` is the JSON of the other columns, without brackets; `source` tells where the row comes from. */
  add(values: string, source: number): void {
    this.#makeRoom((stampText.length + values.length + 2) * bytesPerUnitMax)
    const bytes = this.#bytes
    let at = this.#usedBytes
    at += bytes.write(stampText, at, 'latin1')
    at += bytes.write(values, at)
    at += bytes.write(']\n', at, 'latin1')
    this.#usedBytes = at
    this.#ends[this.#count] = at
    this.#sources[this.#count] = source
    this.#count += 1
  }

  /** Forgets all rows, and keeps the memory for the next. */
  clear(): void {
    this.#usedBytes = 0
    this.#count = 0
  }

  sourceOf(row: number): number {
    return this.#sources[row] ?? 0
  }

  /** Sets `shipped_at` of all rows. */
  stamp(instant: string): void {
    assert(instant.length === instantBytes, 'an instant has microseconds and no zone')
    const text = Buffer.from(instant, 'latin1')
    for (let row = 0; row < this.#count; row += 1) {
      text.copy(this.#bytes, this.#startOf(row) + stampHead.length)
    }
  }

  /** The lines of these rows, not copied: valid until the next row is added or they are cleared. */
  slice(from: number, to: number): Buffer {
    return this.#bytes.subarray(this.#startOf(from), this.#startOf(to))
  }

  /** The lines of the rows from these sources. */
  linesFrom(isWanted: (source: number) => boolean): Buffer {
    const parts: Buffer[] = []
    for (let row = 0; row < this.#count; row += 1) {
      if (isWanted(this.sourceOf(row))) parts.push(this.slice(row, row + 1))
    }
    return parts.length === this.#count ? this.slice(0, this.#count) : Buffer.concat(parts)
  }

  #startOf(row: number): number {
    return row === 0 ? 0 : (this.#ends[row - 1] ?? this.#usedBytes)
  }

  #makeRoom(bytes: number): void {
    const needed = this.#usedBytes + bytes
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2))
      this.#bytes.copy(larger, 0, 0, this.#usedBytes)
      this.#bytes = larger
    }
    if (this.#count === this.#ends.length) {
      this.#ends = doubled(this.#ends)
      this.#sources = doubled(this.#sources)
    }
  }
}

function doubled(values: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(values.length * 2)
  larger.set(values)
  return larger
}
