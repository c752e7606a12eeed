// Copies the warehouse of one node, in process, into a ClickHouse server. ClickHouse in process sends the rows itself, so
// no value is read and written by JavaScript on the way; afterwards both sides are compared.
import { ServiceError } from '../errors.ts'
import type { Warehouse } from './warehouse.ts'
import { statementSettings, unlogged } from './warehouse.ts'

export interface CopyDeps {
  readonly from: Warehouse
  /** Migrated, and empty. */
  readonly to: Warehouse
  /** Of the server: `http(s)://user:password@host:port/database`. */
  readonly url: string
  /** Those of its topology. */
  readonly settings?: Readonly<Record<string, string>>
  readonly onProgress: (progress: CopyProgress) => void
}

export interface CopyProgress {
  readonly table: string
  /** Parts of tables. */
  readonly doneCount: number
  readonly totalCount: number
}

export interface Copied {
  readonly tables: readonly { readonly name: string; readonly rowCount: number }[]
}

interface Table {
  readonly name: string
  readonly engine: string
  /** Tables that materialized views fill when rows are inserted into this one. */
  readonly fills: readonly string[]
}

/** Whoever has rows in one of these has been in use. */
const usedTables = ['ad_event', 'delivery', 'purchase_return', 'catalog_entry', 'audit'] as const

/** Throws CONFIG_INVALID if the server holds rows, and WAREHOUSE_REFUSED with the table if both differ at the end. */
export async function copyWarehouse(deps: CopyDeps): Promise<Copied> {
  await refuseUsed(deps.to)
  const tables = await listTables(deps.from)
  const partitions = new Map<string, readonly string[]>()
  for (const table of tables) partitions.set(table.name, await listPartitions(deps.from, table))
  const totalCount = [...partitions.values()].reduce((sum, { length }) => sum + length, 0)
  let doneCount = 0
  for (const table of tables) {
    // Migrations wrote into it, or materialized views while the tables before it were copied.
    await deps.to.command(`TRUNCATE TABLE ${table.name}`)
    for (const partition of partitions.get(table.name) ?? []) {
      deps.onProgress({ table: table.name, doneCount, totalCount })
      await send(deps, table, partition)
      doneCount += 1
    }
  }
  const copied = []
  for (const table of tables) copied.push(await compare(deps, table))
  return { tables: copied }
}

async function refuseUsed(to: Warehouse): Promise<void> {
  for (const name of usedTables) {
    const [row] = await to.rows<{ isUsed: number }>(
      `SELECT count() > 0 AS isUsed FROM (SELECT 1 FROM ${name} LIMIT 1)`
    )
    if (row?.isUsed !== 1) continue
    throw new ServiceError(
      'CONFIG_INVALID',
      `the database of SHELFTRACE_WAREHOUSE_URL holds rows already (table ${name}); nothing was copied. ` +
        'Name an empty one; if an earlier copy broke off, drop its database and create it again'
    )
  }
}

/** In an order in which tables that materialized views fill come after those that fill them. */
async function listTables(from: Warehouse): Promise<readonly Table[]> {
  const tables = await from.rows<Table>(`
    SELECT t.name AS name, t.engine AS engine, groupArray(v.target) AS fills
    FROM system.tables AS t
    LEFT JOIN (
      SELECT extract(create_table_query, ' TO [^. ]+\\\\.\`?(\\\\w+)') AS target,
        extract(as_select, ' FROM [^. ]+\\\\.\`?(\\\\w+)') AS source
      FROM system.tables WHERE database = currentDatabase() AND engine = 'MaterializedView'
    ) AS v ON v.source = t.name
    WHERE t.database = currentDatabase() AND t.engine LIKE '%MergeTree' AND t.name != 'migration'
    GROUP BY t.name, t.engine ORDER BY t.name`)
  const ordered = new Set<Table>()
  const add = (table: Table): void => {
    for (const one of tables) if (one.fills.includes(table.name) && !ordered.has(one)) add(one)
    ordered.add(table)
  }
  for (const table of tables) add(table)
  return [...ordered]
}

async function listPartitions(from: Warehouse, { name }: Table): Promise<readonly string[]> {
  const rows = await from.rows<{ id: string }>(
    `SELECT DISTINCT partition_id AS id FROM system.parts
     WHERE database = currentDatabase() AND table = {name:String} AND active ORDER BY id`,
    { name }
  )
  return rows.map(({ id }) => id)
}

/** Names of tables and columns come from the migrations of this program. The statement holds the password: unlogged. */
async function send(deps: CopyDeps, { name }: Table, partition: string): Promise<void> {
  const { from, url, settings } = deps
  const columns = await from.rows<{ name: string; type: string }>(
    `SELECT name, type FROM system.columns
     WHERE database = currentDatabase() AND table = {name:String}
       AND default_kind NOT IN ('ALIAS', 'MATERIALIZED') ORDER BY position`,
    { name }
  )
  const names = columns.map((column) => column.name).join(', ')
  const structure = columns.map((column) => `${column.name} ${column.type}`).join(', ')
  const target = new URL(url)
  const [user, password] = [target.username, target.password].map(decodeURIComponent)
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  const asked = new URLSearchParams({
    database: target.pathname.slice(1) || 'default',
    query: `INSERT INTO ${name} (${names}) FORMAT TabSeparated`,
    ...Object.fromEntries(
      Object.entries({ ...statementSettings, ...settings }).map(([setting, value]) => [
        setting,
        String(value),
      ])
    ),
  })
  const address = `${target.protocol}//${target.host}/?${asked.toString()}`
  await from.command(
    `INSERT INTO FUNCTION url(${quoted(address)}, 'TabSeparated', ${quoted(structure)},
       headers('Authorization' = ${quoted(authorization)}))
     SELECT ${names} FROM ${name} WHERE _partition_id = {partition:String}
     ${unlogged}`,
    { partition }
  )
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

async function compare(
  { from, to }: CopyDeps,
  { name, engine }: Table
): Promise<{ name: string; rowCount: number }> {
  // Repeats that are not merged yet may be merged on one side alone.
  const final = /Replacing|Aggregating/u.test(engine) ? 'FINAL' : ''
  const sql = `SELECT count() AS rowCount, toString(groupBitXor(cityHash64(*))) AS digest FROM ${name} ${final}`
  const [[own], [copy]] = [
    await from.rows<{ rowCount: number; digest: string }>(sql),
    await to.rows<{ rowCount: number; digest: string }>(sql),
  ]
  if (own !== undefined && own.rowCount === copy?.rowCount && own.digest === copy.digest) {
    return { name, rowCount: own.rowCount }
  }
  throw new ServiceError(
    'WAREHOUSE_REFUSED',
    `the copy of table ${name} differs: ${own?.rowCount ?? 0} rows here, ${copy?.rowCount ?? 0} there. ` +
      'Do not use the server; drop its database and copy again'
  )
}
