import type { Warehouse } from '../../src/warehouse/warehouse.ts'

export interface Suspended {
  /** To be used by the process that is suspended, and by all others: their time is that of the warehouse. */
  readonly warehouse: Warehouse
  /** The process sleeps so long before its next insert or statement of that text; others go on meanwhile. */
  readonly suspend: (before: string, ms: number, meanwhile?: () => Promise<unknown>) => void
  /** Lets time go by. */
  readonly pass: (ms: number) => void
}

/** A warehouse whose clock goes ahead as the test says. Processes of other nodes use it too. */
export function suspendable(inner: Warehouse): Suspended {
  let aheadMs = 0
  let next: { before: string; ms: number; meanwhile: () => Promise<unknown> } | null = null
  const sleep = async (text: string): Promise<void> => {
    if (next === null || !text.includes(next.before)) return
    const { ms, meanwhile } = next
    next = null
    aheadMs += ms
    await meanwhile()
  }
  const warehouse: Warehouse = {
    command: async (sql, params) => {
      await sleep(sql)
      await inner.command(sql, params)
    },
    rows: async (sql, params) =>
      await inner.rows(
        sql.replaceAll('now64(6)', `(now64(6) + toIntervalMillisecond(${aheadMs}))`),
        params
      ),
    stream: (sql, params, signal) => inner.stream(sql, params, signal),
    insert: async (table, lines, columns) => {
      await sleep(table)
      await inner.insert(table, lines, columns)
    },
    barrier: (tables) => inner.barrier(tables),
    close: () => inner.close(),
  }
  return {
    warehouse,
    suspend: (before, ms, meanwhile = () => Promise.resolve()) => {
      next = { before, ms, meanwhile }
    },
    pass: (ms) => {
      aheadMs += ms
    },
  }
}
