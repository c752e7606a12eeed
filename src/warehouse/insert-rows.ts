// Inserts the rows of a batch. A batch that is refused is halved until the rows at fault are alone.

import { isBeyondLimit, isRefused } from './refusal.ts'
import type { InsertTable, Warehouse } from './warehouse.ts'

/** The row of one record; `key` names the record if it has to be set aside. */
export interface PlannedRow {
  readonly key: string
  readonly record: unknown
  readonly line: string
}

export interface Refusal {
  readonly key: string
  readonly reason: string
  readonly record: string
  /** Of an ad event that contradicts the catalog. */
  readonly contradiction?: { readonly publisherId: number; readonly rule: string }
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
  readonly table: InsertTable
  readonly rows: readonly PlannedRow[]
}

/** Resolves to the rows at fault. Throws failures that pass, and the refusal if all rows are refused alike. */
export async function insertRows(insert: RowInsert): Promise<readonly Refusal[]> {
  return insert.rows.length === 0 ? [] : await insertPart(insert, insert.rows)
}

async function insertPart(insert: RowInsert, rows: readonly PlannedRow[]): Promise<Refusal[]> {
  try {
    await tryInsert(insert, rows)
    return []
  } catch (error) {
    // A part may pass if the whole reached a limit. A single row is never too heavy.
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

/** The reason that the warehouse gave, shortened. */
export function reasonOf(error: { readonly cause?: unknown; readonly message: string }): string {
  const reason = error.cause instanceof Error ? error.cause.message : error.message
  return reason.slice(0, 1_000)
}
