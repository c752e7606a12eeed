import type { Warehouse, WarehouseLanes } from '../warehouse/warehouse.ts'
import type { Tracing } from './tracing.ts'

/** The statements of traced work have spans of their own. A server learns of these and goes on with the trace. */
export function tracedLanes(lanes: WarehouseLanes, tracing: Tracing): WarehouseLanes {
  return {
    pipeline: tracedWarehouse(lanes.pipeline, tracing),
    // Small questions that every call asks.
    lookups: lanes.lookups,
    reports: tracedWarehouse(lanes.reports, tracing),
    adopt: (topology) => lanes.adopt(topology),
    close: () => lanes.close(),
  }
}

function tracedWarehouse(warehouse: Warehouse, tracing: Tracing): Warehouse {
  const traced = <Result>(
    operation: string,
    collection: string,
    work: () => Promise<Result>
  ): Promise<Result> => {
    if (!tracing.isActive()) return work()
    const attributes = {
      'db.system.name': 'clickhouse',
      'db.operation.name': operation,
      ...(collection !== '' && { 'db.collection.name': collection }),
    }
    return tracing.run(`${operation} ${collection}`.trim(), { attributes }, work)
  }
  return {
    command: (sql, params) => traced(firstWordOf(sql), '', () => warehouse.command(sql, params)),
    rows: (sql, params) => traced('SELECT', '', () => warehouse.rows(sql, params)),
    stream: (sql, params, signal) => warehouse.stream(sql, params, signal),
    insert: (table, lines, columns) =>
      traced('INSERT', table, () => warehouse.insert(table, lines, columns)),
    barrier: (tables) => traced('SYNC', '', () => warehouse.barrier(tables)),
    close: () => warehouse.close(),
  }
}

/** The text of a statement is not told: it is long, and our own. */
function firstWordOf(sql: string): string {
  return /^\s*(?<word>[A-Za-z]+)/u.exec(sql)?.groups?.['word']?.toUpperCase() ?? 'STATEMENT'
}
