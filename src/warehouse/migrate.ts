import { readFile, readdir } from 'node:fs/promises'
import { ServiceError } from '../errors.ts'
import { programFolder } from '../program-folder.ts'
import { renderDdl } from './topology.ts'
import type { Topology } from './topology.ts'
import type { Warehouse } from './warehouse.ts'

const folder = new URL('warehouse/migrations/', programFolder)

/**
 * Brings the warehouse to the newest schema: runs every numbered file once, in order. `CREATE` statements are
 * rewritten to `CREATE … IF NOT EXISTS`, so that a file which was cut off by a crash, or is run by two engines at
 * once, can simply be run again. `given` lists the files to run if an older schema is wanted.
 */
export async function migrate(
  warehouse: Warehouse,
  given?: readonly string[],
  topology: Topology = 'single'
): Promise<readonly string[]> {
  await warehouse.command(renderDdl(migrationTableSql, topology))
  // A replica that lags would have an old file run again, over what newer ones have changed.
  await warehouse.barrier(['migration'])
  const done = new Set(
    (await warehouse.rows<{ name: string }>('SELECT DISTINCT name FROM migration LIMIT 10000')).map(
      (row) => row.name
    )
  )
  const files = given ?? (await knownMigrations())
  refuseNewerSchema(done, files)
  const wanted = files.filter((file) => !done.has(file))
  for (const file of wanted) {
    for (const statement of await readMigration(file, topology)) await warehouse.command(statement)
    await warehouse.command('INSERT INTO migration (name) VALUES ({name:String})', { name: file })
  }
  return wanted
}

export const migrationTableSql = `CREATE TABLE IF NOT EXISTS migration (name String, done_at DateTime64(6, 'UTC') DEFAULT now64(6))
     ENGINE = ReplacingMergeTree ORDER BY name
     SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`

/** The statements of a file, as this topology takes them. */
export async function readMigration(file: string, topology: Topology): Promise<readonly string[]> {
  const text = await readFile(new URL(file, folder), 'utf8')
  return splitStatements(text).map((statement) => renderDdl(statement, topology))
}

/** All migrations of this program, in order. */
export async function knownMigrations(): Promise<readonly string[]> {
  return (await readdir(folder)).filter((file) => /^\d{4}-.*\.sql$/u.test(file)).toSorted()
}

/** An older program on a newer schema would write rows that the newer one misreads. */
function refuseNewerSchema(done: ReadonlySet<string>, files: readonly string[]): void {
  const unknown = [...done].filter((name) => !files.includes(name))
  if (unknown.length === 0) return
  throw new ServiceError(
    'CONFIG_INVALID',
    `the warehouse was migrated by a newer version (${unknown.join(', ')}); run that version`
  )
}

/** Statements end in a semicolon at the end of a line; comments are whole lines. */
export function splitStatements(text: string): readonly string[] {
  return text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('--'))
    .join('\n')
    .split(/;\s*(?:\n|$)/u)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
    .map((statement) =>
      statement
        .replace(/^CREATE TABLE (?!IF)/u, 'CREATE TABLE IF NOT EXISTS ')
        .replace(/^CREATE MATERIALIZED VIEW (?!IF)/u, 'CREATE MATERIALIZED VIEW IF NOT EXISTS ')
    )
}
