// Makes one replica of a cluster fetch what was committed on others.

import { ServiceError } from '../errors.ts'
import type { Warehouse, WarehouseTable } from './warehouse.ts'

type Replica = Pick<Warehouse, 'command' | 'rows'>

/**
 * Resolves once the replica has all parts of these tables that were committed anywhere before the call. It does not
 * wait for merges and mutations. Fails as WAREHOUSE_UNAVAILABLE, whatever the reason: the statement itself is right.
 */
export async function syncTables(
  replica: Replica,
  tables: readonly WarehouseTable[]
): Promise<void> {
  await syncEach(
    replica,
    tables.map((table) => `REPLICA ${table} LIGHTWEIGHT`)
  )
}

async function syncEach(replica: Replica, what: readonly string[]): Promise<void> {
  try {
    await Promise.all(what.map((each) => replica.command(`SYSTEM SYNC ${each}`)))
  } catch (cause) {
    // Without the details of the cause: a limit that was reached is no statement that is too heavy.
    throw new ServiceError(
      'WAREHOUSE_UNAVAILABLE',
      'a replica could not fetch what others have written',
      { cause }
    )
  }
}

/** Which tables a replica has, and where the cluster keeps what it knows of the first one. */
interface Held {
  readonly database: string
  readonly tables: readonly string[]
  /** Empty while it has no table. */
  readonly place: string
}

/**
 * Makes sure that what a process reads next, after a start or on another replica, lacks nothing. Remembers the place of
 * the first replica: an address of another cluster would have other rows.
 */
export class CatchUp {
  #place = ''

  async run(replica: Replica): Promise<void> {
    const { database } = await readHeld(replica)
    // Tables and columns come first. The name is ClickHouse's own; a backtick in it would end the quotation.
    await syncEach(replica, [`DATABASE REPLICA \`${database.replaceAll('`', '``')}\``])
    const { tables, place } = await readHeld(replica)
    if (this.#place !== '' && place !== this.#place) {
      throw new ServiceError(
        'WAREHOUSE_UNAVAILABLE',
        'an address of SHELFTRACE_WAREHOUSE_URL belongs to another database than the others'
      )
    }
    this.#place = place
    await syncEach(
      replica,
      tables.map((table) => `REPLICA ${table} LIGHTWEIGHT`)
    )
  }
}

async function readHeld(replica: Replica): Promise<Held> {
  const [held] = await replica.rows<Held>(
    `SELECT currentDatabase() AS database, groupArray(name) AS tables, argMin(zookeeper_path, name) AS place
     FROM (
       SELECT table AS name, zookeeper_path FROM system.replicas
       WHERE database = currentDatabase() AND match(table, '^[a-z_]+$')
       ORDER BY name LIMIT 1000
     )`
  )
  if (held === undefined) throw new ServiceError('WAREHOUSE_UNAVAILABLE', 'a replica told nothing')
  return held
}
