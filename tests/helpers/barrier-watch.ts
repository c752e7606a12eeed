// Notes which statements of a step read a table that no barrier of the step has named. On a set of replicas such a
// statement may miss what another node wrote, or what the step itself wrote before.

import { warehouseTables } from '../../src/warehouse/warehouse.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'

export interface BarrierWatch {
  readonly warehouse: Warehouse
  /** Runs one step: whatever an earlier one has read again may be behind by now. */
  readonly step: <Result>(work: () => Promise<Result>) => Promise<Result>
  /** `table: statement`, for each table that was read without a barrier. */
  readonly unguarded: string[]
  /** Every table that a step has read. */
  readonly read: Set<string>
}

export async function watchBarriers(inner: Warehouse): Promise<BarrierWatch> {
  const feeds = await readFeeds(inner)
  const [unguarded, read]: [string[], Set<string>] = [[], new Set()]
  let fresh: Set<string> | null = null
  const note = (sql: string): void => {
    if (fresh === null) return
    for (const table of tablesRead(sql)) {
      read.add(table)
      if (!fresh.has(table)) unguarded.push(`${table}: ${sql.trim().slice(0, 200)}`)
    }
    const [, written] = /^\s*INSERT INTO (\w+)/u.exec(sql) ?? []
    if (written !== undefined) noteWrite(written)
  }
  const noteWrite = (table: string): void => {
    for (const one of feeds.get(table) ?? [table]) fresh?.delete(one)
  }
  const warehouse: Warehouse = {
    command: async (sql, params) => {
      note(sql)
      await inner.command(sql, params)
    },
    rows: async (sql, params) => {
      note(sql)
      return await inner.rows(sql, params)
    },
    stream: (sql, params, signal) => {
      note(sql)
      return inner.stream(sql, params, signal)
    },
    insert: async (table, lines, columns) => {
      noteWrite(table)
      await inner.insert(table, lines, columns)
    },
    barrier: async (tables) => {
      for (const table of tables) fresh?.add(table)
      await inner.barrier(tables)
    },
    close: () => inner.close(),
  }
  const step: BarrierWatch['step'] = async (work) => {
    fresh = new Set()
    try {
      return await work()
    } finally {
      fresh = null
    }
  }
  return { warehouse, step, unguarded, read }
}

const names: readonly string[] = warehouseTables

/** The stored tables that a statement reads; names of common table expressions are none. */
function tablesRead(sql: string): readonly string[] {
  const text = sql.replaceAll(/--.*$/gmu, '').replaceAll(/'[^']*'/gu, "''")
  const own = new Set([...text.matchAll(/(\w+) AS (?:MATERIALIZED )?\(/gu)].map(([, name]) => name))
  // What a deletion looks at is in its table when it is queued, on every replica.
  const reading = text.replace(/^\s*DELETE FROM \w+/u, '')
  const found = [...reading.matchAll(/\b(?:FROM|JOIN|IN)\s+\(?\s*(\w+)/gu)].map(([, name]) => name)
  return [...new Set(found)].filter(
    (name): name is string => name !== undefined && names.includes(name) && !own.has(name)
  )
}

/** The tables into which an insert into each table writes, by way of views. */
export async function readFeeds(
  warehouse: Warehouse
): Promise<ReadonlyMap<string, readonly string[]>> {
  const tables = await warehouse.rows<{ name: string; views: string[]; target: string }>(
    `SELECT name, dependencies_table AS views,
       extract(create_table_query, '^CREATE MATERIALIZED VIEW .* TO (?:\\w+\\.)?(\\w+)') AS target
     FROM system.tables WHERE database = currentDatabase()`
  )
  const byName = new Map(tables.map((table) => [table.name, table]))
  const reach = (name: string, reached: Set<string>): Set<string> => {
    if (reached.has(name)) return reached
    reached.add(name)
    for (const view of byName.get(name)?.views ?? []) {
      const target = byName.get(view)?.target
      if (target !== undefined) reach(target, reached)
    }
    return reached
  }
  return new Map(tables.map(({ name }) => [name, [...reach(name, new Set())]]))
}
