// Notes which statements the product sends to a warehouse, for tests/warehouse/replicated-statements.test.ts, which runs
// after all others and tries each of them on replicated tables.

import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { InsertTable, Params, Warehouse } from '../../src/warehouse/warehouse.ts'

export interface RecordedStatement {
  readonly kind: 'command' | 'rows' | 'stream' | 'insert'
  /** Where in the product it is sent, as `src/file.ts:line`. */
  readonly from: string
  readonly sql: string
  readonly params: Params
  /** Of an insert of rows. */
  readonly rows?: { readonly columns: readonly string[] | null; readonly line: string }
}

/** Longer values are of no use for the analysis of a statement. */
const paramsLengthMax = 100_000

/** The warehouse itself, unless statements are recorded. */
export function recorded(warehouse: Warehouse): Warehouse {
  const folder = process.env['TEST_RECORDED_STATEMENTS']
  if (folder === undefined) return warehouse
  const note = noteInto(join(folder, `${process.pid}.ndjson`))
  return {
    ...warehouse,
    command: (sql, params = {}) => {
      note({ kind: 'command', sql, params })
      return warehouse.command(sql, params)
    },
    rows: (sql, params = {}) => {
      note({ kind: 'rows', sql, params })
      return warehouse.rows(sql, params)
    },
    stream: (sql, params = {}, signal) => {
      note({ kind: 'stream', sql, params })
      return warehouse.stream(sql, params, signal)
    },
    insert: (table: InsertTable, lines, columns) => {
      const line = lines.subarray(0, lines.indexOf('\n') + 1).toString()
      const rows = { columns: columns ?? null, line }
      note({ kind: 'insert', sql: table, params: {}, rows })
      return warehouse.insert(table, lines, columns)
    },
  }
}

const seen = new Set<string>()

function noteInto(path: string): (statement: Omit<RecordedStatement, 'from'>) => void {
  return (statement) => {
    const key = `${statement.kind} ${shapeOf(statement.sql)} ${statement.rows?.columns?.join() ?? ''}`
    if (seen.has(key)) return
    const from = sender()
    // A test's own.
    if (from === null) return
    seen.add(key)
    const text = JSON.stringify({ ...statement, from }, (_, value: unknown) =>
      typeof value === 'bigint' ? Number(value) : value
    )
    if (text.length < paramsLengthMax) appendFileSync(path, `${text}\n`)
  }
}

/** Numbers of partitions and limits make no other statement. */
export function shapeOf(sql: string): string {
  return sql.replaceAll(/\d+/gu, '0').replaceAll(/\s+/gu, ' ')
}

/** The innermost place in the product; null if there is none. */
function sender(): string | null {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 30
  const { stack = '' } = new Error('here')
  Error.stackTraceLimit = limit
  // The last folder of that name, should the checkout lie in another.
  return /.*\/(src\/[\w/-]+\.ts:\d+)/u.exec(stack)?.[1] ?? null
}
