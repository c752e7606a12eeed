import { join } from 'node:path'
import { ServiceError } from '../errors.ts'
import { openEmbeddedLanes } from '../warehouse/embedded.ts'
import { tracedLanes } from '../tracing/traced-warehouse.ts'
import type { Tracing } from '../tracing/tracing.ts'
import { openServerLanes } from '../warehouse/server.ts'
import type { WarehouseLanes } from '../warehouse/warehouse.ts'

interface WarehousePlace {
  readonly dataDir: string
  /** Null: in process, inside the data folder. */
  readonly warehouseUrl: string | null
}

/** Of the server, or in the data folder of this node. */
export function openWarehouse(config: WarehousePlace, tracing: Tracing | null): WarehouseLanes {
  if (tracing === null) return openLanes(config)
  return tracedLanes(
    openLanes(config, () => tracing.current()),
    tracing
  )
}

function openLanes(config: WarehousePlace, traceparent?: () => string | null): WarehouseLanes {
  if (config.warehouseUrl !== null) {
    return openServerLanes({ url: config.warehouseUrl, ...(traceparent && { traceparent }) })
  }
  const path = join(config.dataDir, 'warehouse')
  try {
    return openEmbeddedLanes({ path })
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === 'WAREHOUSE_LOCKED')) throw error
    const message = `the warehouse in ${path} cannot be opened: another process has it, or this user may not write it`
    throw new ServiceError('WAREHOUSE_LOCKED', message, { cause: error.cause })
  }
}
