import { join } from 'node:path'
import { ServiceError } from '../errors.ts'
import { openEmbeddedLanes } from '../warehouse/embedded.ts'
import { openServerLanes } from '../warehouse/server.ts'
import type { WarehouseLanes } from '../warehouse/warehouse.ts'

interface WarehousePlace {
  readonly dataDir: string
  /** Null: in process, inside the data folder. */
  readonly warehouseUrl: string | null
}

/** Of the server, or in the data folder of this node. */
export function openWarehouse(config: WarehousePlace): WarehouseLanes {
  if (config.warehouseUrl !== null) return openServerLanes({ url: config.warehouseUrl })
  const path = join(config.dataDir, 'warehouse')
  try {
    return openEmbeddedLanes({ path })
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === 'WAREHOUSE_LOCKED')) throw error
    const message = `the warehouse in ${path} cannot be opened: another process has it, or this user may not write it`
    throw new ServiceError('WAREHOUSE_LOCKED', message, { cause: error.cause })
  }
}
