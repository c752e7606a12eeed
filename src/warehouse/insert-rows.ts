// Inserts the rows of a batch. What is refused is halved until the rows at fault stand alone.

import { isBeyondLimit, isRefused } from './refusal.ts'
import type { InsertTable, Warehouse } from './warehouse.ts'

/** What is inserted for one record; `key` names it when it has to be set aside. */
export interface PlannedRow {
  readonly key: string
  readonly record: unknown
  readonly line: string
}

export interface Refusal {
  readonly key: string
  readonly reason: string
  readonly record: string
}

export const insertLimits = {
  /** So many rows of a table refused one after the other, and none taken, are no fault of the rows. */
  refusedInRowMax: 20,
  /** Refused so long ago, a row says nothing about the warehouse of now. */
  streakMs: 3_600_000,
} as const

/**
 * Which rows of a table were refused lately, each alone, since one was taken; over all batches. A
 * warehouse that refuses everything (a fault of its own, a schema that was changed) must not set aside
 * every record that ever comes. A table that gets few rows, and now and then a bad one, is no such case.
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

  /** Whether it looks like a fault of the warehouse. */
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
  /** Null: rows that were set aside before may all be refused again. */
  readonly streaks: RefusalStreaks | null
  readonly table: InsertTable
  readonly rows: readonly PlannedRow[]
}

/** The rows at fault. Throws what passes, and the refusal where all rows are refused alike. */
export async function insertRows(insert: RowInsert): Promise<readonly Refusal[]> {
  return insert.rows.length === 0 ? [] : await insertPart(insert, insert.rows)
}

async function insertPart(insert: RowInsert, rows: readonly PlannedRow[]): Promise<Refusal[]> {
  try {
    await tryInsert(insert, rows)
    return []
  } catch (error) {
    // A part may pass where the whole reached a limit. A row alone is never too heavy by itself.
    if (!isRefused(error) && !(isBeyondLimit(error) && rows.length > 1)) throw error
    const [row] = rows
    if (row !== undefined && rows.length === 1) {
      await suspectWarehouse(insert, error)
      return [{ key: row.key, reason: reasonOf(error), record: JSON.stringify(row.record) }]
    }
    const middle = Math.ceil(rows.length / 2)
    const first = await insertPart(insert, rows.slice(0, middle))
    const second = await insertPart(insert, rows.slice(middle))
    return [...first, ...second]
  }
}

async function tryInsert(
  { warehouse, streaks, table }: RowInsert,
  rows: readonly PlannedRow[]
): Promise<void> {
  await warehouse.insert(table, Buffer.from(rows.map((row) => row.line).join('\n') + '\n'))
  streaks?.noteTaken(table)
}

/** Throws the refusal after many in a row, unless another row of the batch is taken. */
async function suspectWarehouse(insert: RowInsert, refusal: unknown): Promise<void> {
  const { streaks, table, rows } = insert
  if (streaks === null || !streaks.noteRefused(table)) return
  for (const part of [1, 2 / 3, 1 / 3]) {
    const probe = rows[Math.ceil(rows.length * part) - 1]
    try {
      if (probe !== undefined) return await tryInsert(insert, [probe])
    } catch (error) {
      if (!isRefused(error)) throw error
    }
  }
  throw refusal
}

/** As the warehouse gave it, cut. */
export function reasonOf(error: { readonly cause?: unknown; readonly message: string }): string {
  const reason = error.cause instanceof Error ? error.cause.message : error.message
  return reason.slice(0, 1_000)
}
