// Inserts the rows of a batch. A batch that is refused is halved until the rows at fault are alone.

import { isBeyondLimit, isRefused } from './refusal.ts'
import type { RowLines } from './row-lines.ts'
import type { InsertTable, Warehouse } from './warehouse.ts'

/** A row that the warehouse does not take. */
export interface RowRefusal {
  readonly source: number
  readonly reason: string
}

export const insertLimits = {
  /** If this many rows of a table are refused in a row and none is taken, the rows are not at fault. */
  refusedInRowMax: 20,
  /** A row refused longer ago says nothing about the warehouse now. */
  streakMs: 3_600_000,
} as const

/**
 * Counts, over all batches, the rows of a table that were recently refused alone since one was taken. A warehouse
 * that refuses everything (a fault of its own, a changed schema) must not set aside every record that ever comes.
 * A table that gets few rows, with a bad one now and then, is not such a case.
 */
export class RefusalStreaks {
  readonly #monotonicMs: () => number
  readonly #refusedAtMs = new Map<InsertTable, readonly number[]>()

  constructor(monotonicMs: () => number = () => performance.now()) {
    this.#monotonicMs = monotonicMs
  }

  noteTaken(table: InsertTable): void {
    this.#refusedAtMs.delete(table)
  }

  /** True if it looks like a fault of the warehouse. */
  noteRefused(table: InsertTable): boolean {
    const nowMs = this.#monotonicMs()
    const { refusedInRowMax, streakMs } = insertLimits
    const recent = (this.#refusedAtMs.get(table) ?? []).filter((atMs) => nowMs - atMs < streakMs)
    this.#refusedAtMs.set(table, [...recent, nowMs].slice(-refusedInRowMax - 1))
    return recent.length >= refusedInRowMax
  }
}

export interface RowInsert {
  readonly warehouse: Pick<Warehouse, 'insert'>
  /** Null for rows that were set aside before, which may all be refused again. */
  readonly streaks: RefusalStreaks | null
  readonly rows: RowLines
}

/** Rows from the first to before the last. */
interface Part {
  readonly from: number
  readonly to: number
}

/** Resolves to the rows at fault. Throws failures that pass, and the refusal if all rows are refused alike. */
export async function insertRows(insert: RowInsert): Promise<readonly RowRefusal[]> {
  const { count } = insert.rows
  return count === 0 ? [] : await insertPart(insert, { from: 0, to: count })
}

async function insertPart(insert: RowInsert, part: Part): Promise<RowRefusal[]> {
  const { from, to } = part
  try {
    await tryInsert(insert, part)
    return []
  } catch (error) {
    // A part may pass if the whole reached a limit. A single row is never too heavy.
    if (!isRefused(error) && !(isBeyondLimit(error) && to - from > 1)) throw error
    if (to - from === 1) {
      await suspectWarehouse(insert, error)
      return [{ source: insert.rows.sourceOf(from), reason: reasonOf(error) }]
    }
    const middle = Math.ceil((from + to) / 2)
    const first = await insertPart(insert, { from, to: middle })
    const second = await insertPart(insert, { from: middle, to })
    return [...first, ...second]
  }
}

async function tryInsert(
  { warehouse, streaks, rows }: RowInsert,
  { from, to }: Part
): Promise<void> {
  await warehouse.insert(rows.table, rows.slice(from, to), rows.columns)
  streaks?.noteTaken(rows.table)
}

/** Throws the refusal after many in a row, unless another row of the batch is taken. */
async function suspectWarehouse(insert: RowInsert, refusal: unknown): Promise<void> {
  const { streaks, rows } = insert
  if (streaks === null || !streaks.noteRefused(rows.table)) return
  for (const part of [1, 2 / 3, 1 / 3]) {
    const to = Math.ceil(rows.count * part)
    try {
      return await tryInsert(insert, { from: to - 1, to })
    } catch (error) {
      if (!isRefused(error)) throw error
    }
  }
  throw refusal
}

/** The reason that the warehouse gave, shortened. */
export function reasonOf(error: { readonly cause?: unknown; readonly message: string }): string {
  const reason = error.cause instanceof Error ? error.cause.message : error.message
  return reason.slice(0, 1_000)
}
