// Composition root of `shelftrace warehouse copy`, which runs without a service.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseConfig } from './config.ts'
import { ServiceError } from './errors.ts'
import { openWarehouse } from './processes/open-warehouse.ts'
import { leaveUnusableFolder } from './processes/unusable-folder.ts'
import { copyWarehouse, type Copied, type CopyProgress } from './warehouse/copy.ts'
import { migrate } from './warehouse/migrate.ts'
import { ensureFitWarehouse } from './warehouse/requirements.ts'
import { topologySettings } from './warehouse/topology.ts'

/** Throws CONFIG_INVALID, WAREHOUSE_NOT_OPENED while a service runs, WAREHOUSE_UNAVAILABLE and WAREHOUSE_REFUSED. */
export async function runCopy(
  environment: Readonly<Record<string, string | undefined>>,
  onProgress: (progress: CopyProgress) => void
): Promise<Copied & { readonly dataDir: string }> {
  const { dataDir, warehouseUrls, warehouseQuorum } = parseConfig(environment)
  // Of a cluster the first replica: what is sent is read back.
  const [url] = warehouseUrls ?? []
  if (url === undefined) {
    throw new ServiceError(
      'CONFIG_INVALID',
      'SHELFTRACE_WAREHOUSE_URL must name the server to copy to'
    )
  }
  if (!existsSync(join(dataDir, 'warehouse'))) {
    throw new ServiceError(
      'CONFIG_INVALID',
      `there is no warehouse in ${dataDir} (SHELFTRACE_DATA_DIR)`
    )
  }
  leaveUnusableFolder()
  const watching = { log: { warn: () => undefined }, tracing: null }
  const own = openWarehouse({ dataDir, warehouseUrls: null, warehouseQuorum }, watching)
  const server = openWarehouse({ dataDir, warehouseUrls: [url], warehouseQuorum }, watching)
  try {
    const topology = await ensureFitWarehouse({ warehouse: server.pipeline, addresses: 1 })
    server.adopt(topology)
    await migrate(own.pipeline)
    await migrate(server.pipeline, undefined, topology)
    const { tables } = await copyWarehouse({
      from: own.pipeline,
      to: server.pipeline,
      url,
      settings: topologySettings(topology, warehouseQuorum),
      onProgress,
    })
    return { dataDir, tables }
  } finally {
    await Promise.all([own.close(), server.close()])
  }
}
