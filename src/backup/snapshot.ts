// Holds the data of a node still by hard links, which cost no copying: the parts of every table (ClickHouse's
// FREEZE) and the segments of the spool. Parts never change, and segments only grow.

import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { assert } from '../lib/assert.ts'
import { instantMs, warehouseNow } from '../warehouse/instant.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { listFiles } from './files.ts'

export interface SnapshotFile {
  /** The path of the held file. */
  readonly source: string
  /** Its path in the backup, relative. */
  readonly path: string
  readonly bytes: number
}

export interface Snapshot {
  readonly takenAt: string
  readonly files: readonly SnapshotFile[]
  readonly tables: readonly { readonly name: string; readonly rowCount: number }[]
}

export interface SnapshotOptions {
  readonly warehouse: Pick<Warehouse, 'rows' | 'command'>
  /** The data folder of the node, with the folders `warehouse` and `spool`. */
  readonly dataDir: string
  /** Runs the work while nothing moves from the spool into the warehouse or within it. */
  readonly whileStill: <Result>(work: () => Promise<Result>) => Promise<Result>
}

const freezeName = 'backup'

/** Holds everything still until `releaseSnapshot`. */
export async function takeSnapshot(options: SnapshotOptions): Promise<Snapshot> {
  const { warehouse, dataDir, whileStill } = options
  releaseSnapshot(dataDir)
  const tables = await listTables(warehouse)
  const takenAt = await whileStill(async () => {
    const instant = await warehouseNow(warehouse)
    linkSpool(dataDir)
    for (const { name, folder } of tables) {
      if (folder === null) continue
      // Neither can be a bound value. The name of the table comes from ClickHouse itself.
      await warehouse.command(`ALTER TABLE ${name} FREEZE WITH NAME '${freezeName}'`)
    }
    return instant
  })
  const parts = await heldFiles(join(shadowOf(dataDir), freezeName), 'warehouse')
  const segments = await heldFiles(heldSpoolOf(dataDir), 'spool')
  const files = [...definitionFiles(dataDir, tables), ...parts, ...segments]
  const counted = await Promise.all(
    tables
      .filter(({ folder }) => folder !== null)
      .map(async (table) => ({ name: table.name, rowCount: await countRows(table, parts) }))
  )
  return { takenAt: new Date(instantMs(takenAt)).toISOString(), files, tables: counted }
}

/** Also removes what a process that died has left, since held parts take space on the disk. */
export function releaseSnapshot(dataDir: string): void {
  rmSync(shadowOf(dataDir), { recursive: true, force: true })
  rmSync(heldSpoolOf(dataDir), { recursive: true, force: true })
}

interface Table {
  readonly name: string
  /**
   * Both are relative to the folder of the warehouse. A table without data, such as a materialized
   * view, has no folder.
   */
  readonly definition: string
  readonly folder: string | null
}

async function listTables(warehouse: Pick<Warehouse, 'rows'>): Promise<readonly Table[]> {
  const rows = await warehouse.rows<{
    name: string
    isMergeTree: number
    folder: string
    definition: string
  }>(
    `SELECT name, engine LIKE '%MergeTree' AS isMergeTree, data_paths[1] AS folder,
       metadata_path AS definition
     FROM system.tables WHERE database = 'shelftrace' ORDER BY name LIMIT 1000`
  )
  return rows.map(({ name, isMergeTree, folder, definition }) => {
    assert(/^\w+$/u.test(name), 'tables have plain names')
    return {
      name,
      definition: insideStore(definition),
      folder: isMergeTree === 1 ? insideStore(folder) : null,
    }
  })
}

/** ClickHouse gives some paths absolute and some relative; all are in its `store`. */
function insideStore(path: string): string {
  const [found] = /store\/[0-9a-f]{3}\/[0-9a-f-]{36}(?:\/\w+\.sql)?(?=\/?$)/u.exec(path) ?? []
  assert(found !== undefined, 'ClickHouse keeps tables by their ids')
  return found
}

/** Links the segments, since nothing is shipped meanwhile. A spool on another file system is copied. */
function linkSpool(dataDir: string): void {
  const from = join(dataDir, 'spool')
  const to = heldSpoolOf(dataDir)
  mkdirSync(to, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(from)) {
    const [source, target] = [join(from, name), join(to, name)]
    // This file is overwritten in place with how far its segment was shipped, so a link would change later.
    if (name.endsWith('.done')) copyFileSync(source, target)
    else if (name.endsWith('.seg')) linkOrCopy(source, target)
  }
}

function linkOrCopy(source: string, target: string): void {
  try {
    linkSync(source, target)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EXDEV')) throw error
    copyFileSync(source, target)
  }
}

/** The files below a held folder, by their paths in a folder of the backup; none if nothing is held. */
async function heldFiles(held: string, target: string): Promise<readonly SnapshotFile[]> {
  const paths = existsSync(held) ? await listFiles(held) : []
  return paths.map((path) => describeFile(join(held, path), join(target, path)))
}

/** The files that ClickHouse needs beside the parts to open the folder. */
function definitionFiles(dataDir: string, tables: readonly Table[]): readonly SnapshotFile[] {
  const paths = [
    'metadata/shelftrace.sql',
    ...tables.map(({ definition }) => definition),
    ...tables.flatMap(({ folder }) => (folder === null ? [] : [`${folder}/format_version.txt`])),
  ]
  return paths.map((path) =>
    describeFile(join(dataDir, 'warehouse', path), join('warehouse', path))
  )
}

function describeFile(source: string, path: string): SnapshotFile {
  return { source, path, bytes: statSync(source).size }
}

/** Sums the row counts that the parts have in files. */
async function countRows(table: Table, parts: readonly SnapshotFile[]): Promise<number> {
  const counts = parts.filter(
    ({ path }) => table.folder !== null && isRowCountOf(`warehouse/${table.folder}`, path)
  )
  const texts = await Promise.all(counts.map(({ source }) => readFile(source, 'utf8')))
  return texts.reduce((sum, text) => sum + Number(text), 0)
}

function isRowCountOf(folder: string, path: string): boolean {
  return path.startsWith(`${folder}/`) && /^\/[^/]+\/count\.txt$/u.test(path.slice(folder.length))
}

function shadowOf(dataDir: string): string {
  return join(dataDir, 'warehouse', 'shadow')
}

function heldSpoolOf(dataDir: string): string {
  return join(dataDir, 'held-spool')
}
