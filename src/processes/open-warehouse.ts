import { join } from 'node:path'
import type { Logger } from 'pino'
import { refuseForbidden } from './folder-access.ts'
import { ensureNodeId } from '../nodes/node-id.ts'
import { tracedLanes } from '../tracing/traced-warehouse.ts'
import type { Tracing } from '../tracing/tracing.ts'
import { openEmbeddedLanes } from '../warehouse/embedded.ts'
import { openServerLanes } from '../warehouse/server-lanes.ts'
import type { Quorum } from '../warehouse/topology.ts'
import type { WarehouseLanes } from '../warehouse/warehouse.ts'

interface WarehousePlace {
  readonly dataDir: string
  /** Null: in process, inside the data folder. */
  readonly warehouseUrls: readonly string[] | null
  readonly warehouseQuorum: Quorum
}

interface Watching {
  readonly log: Pick<Logger, 'warn'>
  readonly tracing: Tracing | null
}

/** Of the server or cluster, or in the data folder of this node. */
export function openWarehouse(config: WarehousePlace, { log, tracing }: Watching): WarehouseLanes {
  const lanes = openLanes(config, { log, tracing })
  return tracing === null ? lanes : tracedLanes(lanes, tracing)
}

function openLanes(config: WarehousePlace, { log, tracing }: Watching): WarehouseLanes {
  if (config.warehouseUrls !== null) {
    return openServerLanes({
      urls: config.warehouseUrls,
      quorum: config.warehouseQuorum,
      nodeId: ensureNodeId(config.dataDir),
      onMove: (move) => log.warn(move, 'a replica of the warehouse failed; another one is used'),
      ...(tracing !== null && { traceparent: () => tracing.current() }),
    })
  }
  const path = join(config.dataDir, 'warehouse')
  try {
    return openEmbeddedLanes({ path })
  } catch (error) {
    refuseForbidden(path)
    throw error
  }
}
