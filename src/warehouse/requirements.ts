// Checks that a ClickHouse server can give correct figures, before anything is written into it.

import { ServiceError } from '../errors.ts'
import type { Warehouse } from './warehouse.ts'

/** The version that is tested. Earlier ones fail on materialized expressions inside `IN`. */
const versionMin = { major: 26, minor: 7 } as const

interface Facts {
  readonly version: string
  /** Null if this user may not see the database. */
  readonly databaseEngine: string | null
  /** The name of a table that is replicated although the database is not. */
  readonly replicatedTable: string | null
  readonly cloudMode: string | null
}

/** Throws CONFIG_INVALID with the reason, or WAREHOUSE_UNAVAILABLE while the server cannot be reached. */
export async function ensureFitWarehouse(warehouse: Pick<Warehouse, 'rows'>): Promise<void> {
  const { version, databaseEngine, replicatedTable, cloudMode } = await readFacts(warehouse)
  if (!isNewEnough(version)) {
    const { major, minor } = versionMin
    throw unfit(`is version ${version}; Shelftrace needs ClickHouse ${major}.${minor} or later`)
  }
  if (cloudMode === '1') throw spread('is ClickHouse Cloud')
  if (databaseEngine !== 'Atomic') {
    throw spread(`has a database of the engine ${databaseEngine ?? '(unknown)'}`)
  }
  if (replicatedTable !== null) throw spread(`has a replicated table, ${replicatedTable}`)
}

async function readFacts(warehouse: Pick<Warehouse, 'rows'>): Promise<Facts> {
  try {
    const [facts] = await warehouse.rows<Facts>(
      `SELECT version() AS version,
         (SELECT engine FROM system.databases WHERE name = currentDatabase()) AS databaseEngine,
         (SELECT min(name) FROM system.tables
          WHERE database = currentDatabase() AND match(engine, '^(Replicated|Shared)')
          HAVING count() > 0) AS replicatedTable,
         (SELECT value FROM system.settings WHERE name = 'cloud_mode') AS cloudMode`
    )
    if (facts === undefined)
      throw new ServiceError('WAREHOUSE_UNAVAILABLE', 'the warehouse did not say its version')
    return facts
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === 'WAREHOUSE_REFUSED')) throw error
    // An old server does not know a setting that every statement has; a restricted user may not set it.
    const { clickhouseCode } = error.details
    throw unfit(
      `refuses a plain question (code ${String(clickhouseCode)}): it is older than ` +
        `${versionMin.major}.${versionMin.minor}, or forbids this user the settings of Shelftrace`,
      error
    )
  }
}

function isNewEnough(version: string): boolean {
  const [, major, minor] = /^(\d+)\.(\d+)/u.exec(version) ?? []
  if (major === undefined || minor === undefined) return false
  if (Number(major) !== versionMin.major) return Number(major) > versionMin.major
  return Number(minor) >= versionMin.minor
}

/** Steps read what they have just written, and another replica may not have it yet. */
function spread(what: string): ServiceError {
  return unfit(
    `${what}: replicas are not supported yet, since purchases would lose credit without a word; ` +
      'use a database of the engine Atomic on a single server'
  )
}

function unfit(what: string, cause?: unknown): ServiceError {
  return new ServiceError('CONFIG_INVALID', `the warehouse (SHELFTRACE_WAREHOUSE_URL) ${what}`, {
    cause,
  })
}
