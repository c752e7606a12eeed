// What a start finds that its user may not use, as after a command that was run as root. Such a start would be repeated
// for ever on a node that ran before.

import { accessSync, constants, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ServiceError } from '../errors.ts'
import { explainSystemError, systemCode } from '../lib/system-error.ts'

const forbidden: ReadonlySet<string | null> = new Set(['EACCES', 'EPERM', 'EROFS'])

interface Part {
  readonly name: string
  /** How many levels of folders are looked at: a warehouse has more files than a start should wait for. */
  readonly levels: number
}

const ownParts: readonly Part[] = [
  { name: 'node-id', levels: 0 },
  { name: 'identity-fingerprint', levels: 0 },
  { name: 'spool', levels: 1 },
]
/** Down to the folders of the parts of each table: `store/abc/abc12345-…/202603_1_1_0`. */
const ownWarehouse: Part = { name: 'warehouse', levels: 4 }

/** Throws CONFIG_INVALID naming the first part of the data folder that this user may not use. */
export function refuseForbiddenParts({
  dataDir,
  warehouseUrls,
}: {
  readonly dataDir: string
  readonly warehouseUrls: readonly string[] | null
}): void {
  for (const { name, levels } of [...ownParts, ...(warehouseUrls === null ? [ownWarehouse] : [])]) {
    refuseForbidden(join(dataDir, name), levels)
  }
}

/** The same for whatever is at the path or below it. */
export function refuseForbidden(path: string, levels = Infinity): void {
  try {
    const isFolder = statSync(path).isDirectory()
    const { R_OK, W_OK, X_OK } = constants
    // ClickHouse writes some of its own files once and then makes them read-only.
    accessSync(path, isFolder ? R_OK | W_OK | X_OK : R_OK)
    if (!isFolder || levels === 0) return
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      // The links of a warehouse lead to folders of its own. `lost+found` is root's on every disk that is mounted.
      if (entry.isSymbolicLink() || entry.name === 'lost+found') continue
      refuseForbidden(join(path, entry.name), levels - 1)
    }
  } catch (error) {
    // What is missing, or goes meanwhile, is no fault.
    if (forbidden.has(systemCode(error))) throw fault(path, error)
    if (error instanceof ServiceError) throw error
  }
}

function fault(path: string, cause: unknown): ServiceError {
  return new ServiceError(
    'CONFIG_INVALID',
    `${path} cannot be used: ${explainSystemError(cause)}; ` +
      'the user of the service must be able to read and write all that is in its data folder (SHELFTRACE_DATA_DIR)',
    { cause }
  )
}
