// The definitions of the tables in a backup. ClickHouse runs them when it opens the folder, and a
// definition may name a file, an address or a program to read from. So they must equal those that the
// migrations make.

import { mkdir, readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { openEmbeddedWarehouse } from '../warehouse/embedded.ts'
import { migrate } from '../warehouse/migrate.ts'
import { listFiles } from './files.ts'

const definitionPattern = /^(?:metadata\/shelftrace|store\/[0-9a-f]{3}\/[0-9a-f-]{36}\/\w+)\.sql$/u

/** By the name of the table, or of the database. UUIDs are left out, since each folder has its own. */
type Definitions = ReadonlyMap<string, string>

interface Comparison {
  /** A table, or another file, that differs from what the migrations make; null if none does. */
  readonly foreign: string | null
  /** The version of ClickHouse in this process. */
  readonly engineVersion: string
}

interface Wanted {
  readonly migrations: readonly string[]
  /** A folder for a warehouse to compare with; removed afterwards. */
  readonly scratch: string
}

export async function findForeignDefinition(folder: string, wanted: Wanted): Promise<Comparison> {
  const { definitions, engineVersion } = await makeDefinitions(wanted)
  const found = await readDefinitions(folder)
  const names = [...found.keys(), ...definitions.keys()]
  const foreign = names.find((name) => found.get(name) !== definitions.get(name)) ?? null
  return { foreign, engineVersion }
}

async function makeDefinitions({ migrations, scratch }: Wanted) {
  await mkdir(scratch, { recursive: true, mode: 0o700 })
  try {
    const warehouse = openEmbeddedWarehouse({ path: scratch })
    let engineVersion = ''
    try {
      await migrate(warehouse, migrations)
      const [row] = await warehouse.rows<{ version: string }>('SELECT version() AS version')
      engineVersion = row?.version ?? ''
    } finally {
      await warehouse.close()
    }
    return { definitions: await readDefinitions(scratch), engineVersion }
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function readDefinitions(folder: string): Promise<Definitions> {
  const definitions = new Map<string, string>()
  for (const path of await listFiles(folder)) {
    if (!path.endsWith('.sql')) continue
    const name = basename(path, '.sql')
    const isPlain = definitionPattern.test(path) && !definitions.has(name)
    const text = await readFile(join(folder, path), 'utf8')
    definitions.set(isPlain ? name : path, text.replaceAll(/UUID '[0-9a-f-]{36}'/gu, 'UUID'))
  }
  return definitions
}
