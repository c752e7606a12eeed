import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { openEmbeddedWarehouse, type EmbeddedOptions } from '../../src/warehouse/embedded.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'

export interface WarehouseFolder {
  readonly path: string
  /** Opens a warehouse on the folder. The engine takes one folder at a time in a process. */
  readonly open: (options?: Omit<EmbeddedOptions, 'path'>) => Warehouse
}

/** An empty folder; what was opened on it is closed after the test, and then the folder removed. */
export function aWarehouseFolder(t: TestContext): WarehouseFolder {
  const path = mkdtempSync(join(tmpdir(), 'shelftrace-warehouse-'))
  const opened: Warehouse[] = []
  t.after(async () => {
    for (const warehouse of opened) await warehouse.close()
    rmSync(path, { recursive: true, force: true })
  })
  return {
    path,
    open: (options) => {
      const warehouse = openEmbeddedWarehouse({ ...options, path })
      opened.push(warehouse)
      return warehouse
    },
  }
}
