import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import {
  openEmbeddedLanes,
  openEmbeddedWarehouse,
  type EmbeddedOptions,
} from '../../src/warehouse/embedded.ts'
import type { Warehouse, WarehouseLanes } from '../../src/warehouse/warehouse.ts'

export interface WarehouseFolder {
  readonly path: string
  /** Opens a warehouse on the folder. The engine takes one folder at a time in a process. */
  readonly open: (options?: Omit<EmbeddedOptions, 'path'>) => Warehouse
  /** The same in lanes, as an engine opens it. */
  readonly openLanes: () => WarehouseLanes
}

/** An empty folder; what was opened on it is closed after the test, and then the folder removed. */
export function aWarehouseFolder(t: TestContext): WarehouseFolder {
  const path = mkdtempSync(join(tmpdir(), 'shelftrace-warehouse-'))
  const opened: Pick<Warehouse, 'close'>[] = []
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
    openLanes: () => {
      const lanes = openEmbeddedLanes({ path })
      opened.push(lanes)
      return lanes
    },
  }
}
