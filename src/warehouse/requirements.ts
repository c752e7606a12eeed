// Checks that a ClickHouse server can give correct figures, before anything is written into it.

import { ServiceError } from '../errors.ts'
import type { Topology } from './topology.ts'
import type { Warehouse } from './warehouse.ts'

/** The version that is tested. Earlier ones fail on materialized expressions inside `IN`. */
const versionMin = { major: 26, minor: 7 } as const

interface Facts {
  readonly version: string
  /** Null if this user may not see the database. */
  readonly databaseEngine: string | null
  /** The name of a table whose rows reach all replicas. */
  readonly replicatedTable: string | null
  /** The name of a table whose rows stay where they are written. */
  readonly localTable: string | null
  readonly distributedTable: string | null
  readonly cloudMode: string | null
  /** Of the cluster that ClickHouse makes of a database of the engine Replicated. */
  readonly shards: number
}

interface Asked {
  readonly warehouse: Pick<Warehouse, 'rows'>
  /** How many addresses the configuration names. */
  readonly addresses: number
}

/**
 * How ClickHouse holds the database. Throws CONFIG_INVALID with the reason if figures could be wrong there, or
 * WAREHOUSE_UNAVAILABLE while the server cannot be reached.
 */
export async function ensureFitWarehouse({ warehouse, addresses }: Asked): Promise<Topology> {
  const facts = await readFacts(warehouse)
  if (!isNewEnough(facts.version)) {
    const { major, minor } = versionMin
    throw unfit(
      `is version ${facts.version}; Shelftrace needs ClickHouse ${major}.${minor} or later`
    )
  }
  if (facts.distributedTable !== null) {
    throw unfit(
      `has a table of the engine Distributed, ${facts.distributedTable}: Shelftrace needs every row on every replica`
    )
  }
  const topology = topologyOf(facts)
  if (topology === 'cluster') refuseUnfitCluster(facts)
  else if (addresses > 1) throw unfit(oneAddress[topology])
  if (topology === 'single' && facts.replicatedTable !== null) {
    throw unfit(
      `has a replicated table, ${facts.replicatedTable}, in a database of the engine Atomic, which does not pass ` +
        'changes of tables on to the other replicas; use a database of the engine Replicated'
    )
  }
  return topology
}

const oneAddress = {
  single:
    'has several addresses, and a database of the engine Atomic, which belongs to one server: each server would ' +
    'have other rows. Use a database of the engine Replicated, or one address',
  cloud: 'has several addresses, and is ClickHouse Cloud, which has one',
} as const

function topologyOf({ databaseEngine, cloudMode }: Facts): Topology {
  if (cloudMode === '1' || databaseEngine === 'Shared') return 'cloud'
  if (databaseEngine === 'Replicated') return 'cluster'
  if (databaseEngine === 'Atomic') return 'single'
  throw unfit(
    `has a database of the engine ${databaseEngine ?? '(unknown)'}; use one of the engine Atomic on a single server, ` +
      'or of the engine Replicated on a cluster'
  )
}

function refuseUnfitCluster({ localTable, shards }: Facts): void {
  if (shards > 1) {
    throw unfit(
      `has a database of ${shards} shards: a purchase and its touchpoints could be on different ones. ` +
        'Use one shard with any number of replicas'
    )
  }
  if (localTable !== null) {
    throw unfit(
      `has a table that is not replicated, ${localTable}, in a database of the engine Replicated: each replica would ` +
        'have other rows'
    )
  }
}

const factsSql = `
SELECT version() AS version,
  (SELECT engine FROM system.databases WHERE name = currentDatabase()) AS databaseEngine,
  tables.1 AS replicatedTable, tables.2 AS localTable, tables.3 AS distributedTable,
  (SELECT value FROM system.settings WHERE name = 'cloud_mode') AS cloudMode,
  (SELECT toUInt32(uniqExact(shard_num)) FROM system.clusters WHERE cluster = currentDatabase()) AS shards
FROM (
  SELECT (
    minOrNullIf(name, match(engine, '^(Replicated|Shared).*MergeTree$')),
    minOrNullIf(name, match(engine, '^[A-Za-z]*MergeTree$') AND NOT match(engine, '^(Replicated|Shared)')),
    minOrNullIf(name, engine = 'Distributed')
  ) AS tables
  FROM system.tables WHERE database = currentDatabase()
)`

async function readFacts(warehouse: Pick<Warehouse, 'rows'>): Promise<Facts> {
  try {
    const [facts] = await warehouse.rows<Facts>(factsSql)
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

function unfit(what: string, cause?: unknown): ServiceError {
  return new ServiceError('CONFIG_INVALID', `the warehouse (SHELFTRACE_WAREHOUSE_URL) ${what}`, {
    cause,
  })
}
