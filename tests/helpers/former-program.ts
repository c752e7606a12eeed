// A program of before a column was added.

import type { Warehouse } from '../../src/warehouse/warehouse.ts'

/** Inserts rows without the column. */
export function withoutColumn(warehouse: Warehouse, column: string): Warehouse {
  return {
    ...warehouse,
    insert: async (table, lines, columns = []) => {
      const at = columns.indexOf(column)
      if (at === -1) return await warehouse.insert(table, lines, columns)
      const rows = lines.toString().trimEnd().split('\n')
      const without = rows.map((row) => {
        const values: readonly unknown[] = JSON.parse(row)
        return `${JSON.stringify(values.toSpliced(at, 1))}\n`
      })
      await warehouse.insert(table, Buffer.from(without.join('')), columns.toSpliced(at, 1))
    },
  }
}
