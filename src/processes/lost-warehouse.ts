import { join } from 'node:path'
import { ServiceError } from '../errors.ts'
import { holdsAnything } from '../lib/holds-anything.ts'

/** A node with its warehouse in process makes them once it has one; a first start that was killed leaves none alone. */
const madeLater = ['identity-fingerprint', 'node-id', 'spool'] as const

/**
 * Throws CONFIG_INVALID if the warehouse is gone: another one in its place would have neither catalog, keys nor
 * figures, and nobody would notice.
 */
export function refuseLostWarehouse({
  dataDir,
  warehouseUrls,
}: {
  readonly dataDir: string
  readonly warehouseUrls: readonly string[] | null
}): void {
  const path = join(dataDir, 'warehouse')
  if (warehouseUrls !== null || holdsAnything(path)) return
  const made = madeLater.find((name) => holdsAnything(join(dataDir, name)))
  if (made === undefined) return
  throw new ServiceError(
    'CONFIG_INVALID',
    `the warehouse ${path} is missing or empty, and ${join(dataDir, made)} is of an installation that had one: ` +
      'put it back (mount its disk), set SHELFTRACE_WAREHOUSE_URL if it is on a ClickHouse server, or move the data ' +
      'folder away and restore a backup (shelftrace restore); to begin anew, use a data folder with nothing but the secrets file'
  )
}
