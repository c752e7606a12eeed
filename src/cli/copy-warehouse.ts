import type { Run } from './command.ts'
import { counted } from './words.ts'
import { tell } from './progress.ts'

export const copyWarehouse: Run = async ({ terminal, print }) => {
  // Loaded on demand: no other command needs ClickHouse.
  const { runCopy } = await import('../copy-warehouse.ts')
  const copied = await runCopy(terminal.environment, ({ table, doneCount, totalCount }) => {
    tell(terminal, `${doneCount} of ${totalCount} parts, ${table}`)
  })
  tell(terminal, null)
  const rowCount = copied.tables.reduce((sum, table) => sum + table.rowCount, 0)
  print(
    copied,
    `Copied ${counted(copied.tables.length, 'table')} with ${counted(rowCount, 'row')}; both sides are the same. ` +
      `The warehouse in ${copied.dataDir} stays as it is. Start the service with the same SHELFTRACE_WAREHOUSE_URL.`
  )
  return 0
}
