// Restores a backup into an empty data folder. Everything is copied and checked in a folder beside its
// place and moved there last, so that a restore that breaks off never looks like the data of a node.

import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ServiceError } from '../errors.ts'
import { openEmbeddedWarehouse } from '../warehouse/embedded.ts'
import { knownMigrations } from '../warehouse/migrate.ts'
import { copyFile, syncFolder, syncFolders } from './files.ts'
import { findForeignDefinition } from './definitions.ts'
import {
  checkProof,
  invalid,
  manifestName,
  parseManifestText,
  proofName,
  readFileList,
  readManifestText,
} from './manifest.ts'
import type { ListedFile, Manifest } from './manifest.ts'

export interface RestoreOptions {
  readonly source: string
  readonly dataDir: string
  /** May already be in the data folder, since it is not part of a backup. */
  readonly secretsFile: string
  readonly identityFingerprint: string
  readonly trackingKeyIds: readonly string[]
  readonly proofKey: Buffer
  readonly acceptsUnsigned: boolean
  readonly onProgress?: (progress: {
    readonly fileCount: number
    readonly fileTotal: number
  }) => void
}

const stagingName = 'restoring'
/** How many backups are named where one of them is meant. */
const namedMax = 10
const placedNames = ['spool', 'warehouse'] as const

/**
 * Resolves with the manifest when every file has its digest and every table its number of rows. Throws
 * BACKUP_INVALID for the backup and CONFIG_INVALID for the folder and the secrets, and leaves the data folder
 * as it was. What a restore that was killed has left is removed. The caller has claimed the folder, so none runs.
 */
export async function restoreBackup(options: RestoreOptions): Promise<Manifest> {
  const { source, dataDir } = options
  refuseOtherPath(source)
  const text = readManifestText(source)
  if (text === null) throw invalid(source, withoutManifest(source))
  const manifest = parseManifestText(source, text)
  await refuseNewer(source, manifest)
  refuseOtherSecrets(options, manifest)
  const isProven = refuseUnproven(options, text)
  refuseUsedFolder(options)
  const files = readFileList(source, manifest)

  for (const name of listUnfinished(dataDir)) await remove(join(dataDir, name))
  const staging = join(dataDir, stagingName)
  try {
    for (const name of placedNames) {
      mkdirSync(join(staging, name), { recursive: true, mode: 0o700 })
    }
    await copyAll(options, { files, staging })
    await checkDefinitions(source, { manifest, isProven, staging })
    await checkWarehouse(source, { manifest, files, path: join(staging, 'warehouse') })
    await syncFolders(staging)
    for (const name of placedNames) await rename(join(staging, name), join(dataDir, name))
  } catch (error) {
    for (const name of placedNames) await remove(join(dataDir, name))
    throw error
  } finally {
    await remove(staging)
  }
  await syncFolder(dataDir)
  return manifest
}

function refuseOtherPath(source: string): void {
  const found = statSync(source, { throwIfNoEntry: false })
  if (found === undefined) throw invalid(source, 'there is no such folder')
  if (!found.isDirectory()) {
    throw invalid(source, 'it is a file; name the folder of a backup')
  }
}

/** Whoever names the folder of all backups is told the last ones. */
function withoutManifest(source: string): string {
  const names = readdirSync(source)
    .filter((name) => existsSync(join(source, name, manifestName)))
    .toSorted()
  if (names.length === 0) return `it has no ${manifestName}, so it was never completed`
  const listed = [...(names.length > namedMax ? ['…'] : []), ...names.slice(-namedMax)]
  return `it holds backups; name one of them: ${listed.join(', ')}`
}

/** Throws CONFIG_INVALID: a node would take half of a backup for all of its data. */
export function refuseHalfRestored(dataDir: string): void {
  if (!existsSync(join(dataDir, stagingName))) return
  throw new ServiceError(
    'CONFIG_INVALID',
    `a restore into ${dataDir} is under way or broke off; if none is running, restore again`
  )
}

async function refuseNewer(source: string, { migrations, version }: Manifest): Promise<void> {
  const known = await knownMigrations()
  const unknown = migrations.filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  throw invalid(
    source,
    `it was made by a newer version (${version}, with ${unknown.join(', ')}); restore with that one`
  )
}

/** Returns false if the backup has no proof and the operator accepts that. */
function refuseUnproven(options: RestoreOptions, manifestText: string): boolean {
  const { source, proofKey, acceptsUnsigned } = options
  const proof = checkProof(source, proofKey, manifestText)
  if (proof === 'wrong') {
    throw invalid(source, `${manifestName} was altered: it does not match ${proofName}`)
  }
  if (proof === 'missing' && !acceptsUnsigned) {
    throw invalid(
      source,
      `it has no ${proofName}: it was made by version 0.1.0, or the file was removed; --unsigned restores ` +
        'it anyway, with any keys and figures that somebody with access to the folder may have put in'
    )
  }
  return proof === 'right'
}

function refuseOtherSecrets(options: RestoreOptions, manifest: Manifest): void {
  const { secretsFile, identityFingerprint, trackingKeyIds } = options
  if (identityFingerprint !== manifest.identityFingerprint) {
    throw new ServiceError(
      'CONFIG_INVALID',
      `SHELFTRACE_SECRETS_FILE (${secretsFile}) holds another identity secret (${identityFingerprint}) than ` +
        `the backup needs (${manifest.identityFingerprint}); use the secrets file of the installation`
    )
  }
  const missing = manifest.trackingKeyIds.filter((id) => !trackingKeyIds.includes(id))
  if (missing.length === 0) return
  throw new ServiceError(
    'CONFIG_INVALID',
    `SHELFTRACE_SECRETS_FILE (${secretsFile}) lacks tracking keys that the node had ` +
      `(${missing.join(', ')}); use a newer copy`
  )
}

/**
 * What a restore that was killed has left: the parts that it had put in their place, and its draft, which goes last
 * because it is what tells them from the data of a node. A part that is in the draft was not moved yet, so whatever
 * has its name outside was made by somebody else.
 */
function listUnfinished(dataDir: string): readonly string[] {
  const staging = join(dataDir, stagingName)
  if (!existsSync(staging)) return []
  return [...placedNames.filter((name) => !existsSync(join(staging, name))), stagingName]
}

/** Nothing is ever overwritten. Files that no backup has may be there already. */
function refuseUsedFolder({ dataDir, secretsFile }: RestoreOptions): void {
  const claims = ['supervisor.pid', 'supervisor.sock']
  const allowed = ['lost+found', 'admin-key', ...claims, ...listUnfinished(dataDir)]
  if (dirname(secretsFile) === dataDir) allowed.push(basename(secretsFile))
  const found = existsSync(dataDir) ? readdirSync(dataDir) : []
  const others = found.filter((name) => !allowed.includes(name))
  if (others.length === 0) return
  throw new ServiceError(
    'CONFIG_INVALID',
    `SHELFTRACE_DATA_DIR (${dataDir}) must be empty except for the secrets file; it contains ${others.slice(0, 5).join(', ')}`
  )
}

interface Copying {
  readonly files: readonly ListedFile[]
  readonly staging: string
}

async function copyAll(options: RestoreOptions, { files, staging }: Copying): Promise<void> {
  const { source, onProgress } = options
  for (const [index, { path, sha256 }] of files.entries()) {
    const copied = await copyListed(source, path, join(staging, path))
    if (copied.sha256 !== sha256) throw invalid(source, `${path} is damaged`)
    onProgress?.({ fileCount: index + 1, fileTotal: files.length })
  }
}

async function copyListed(source: string, path: string, target: string) {
  try {
    return await copyFile(join(source, path), target)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      throw invalid(source, `${path} is missing`, error)
    }
    throw error
  }
}

interface CheckDefinitions {
  readonly manifest: Manifest
  readonly isProven: boolean
  readonly staging: string
}

/**
 * Another version of ClickHouse may spell the same definition differently. A proven backup of another
 * version is accepted, since nobody without the secrets can have written it.
 */
async function checkDefinitions(
  source: string,
  { manifest, isProven, staging }: CheckDefinitions
): Promise<void> {
  const { foreign, engineVersion } = await findForeignDefinition(join(staging, 'warehouse'), {
    migrations: manifest.migrations,
    scratch: join(staging, 'scratch'),
  })
  const isOfOtherEngine = engineVersion !== manifest.engineVersion
  if (foreign === null || (isProven && isOfOtherEngine)) return
  throw invalid(source, `the definition of ${foreign} is not the one that its migrations make`)
}

interface Check {
  readonly manifest: Manifest
  readonly files: readonly ListedFile[]
  readonly path: string
}

/** Opens the warehouse once: every table must have the parts of the backup, with as many rows as they had. */
async function checkWarehouse(source: string, { manifest, files, path }: Check): Promise<void> {
  const warehouse = openEmbeddedWarehouse({ path })
  try {
    const parts = await warehouse.rows<{ table: string; part: string; rowCount: number }>(
      // Includes inactive parts, since ClickHouse may begin to merge at once.
      `SELECT table, path AS part, rows AS rowCount FROM system.parts
       WHERE database = 'shelftrace' LIMIT 10000000`
    )
    const restored = new Set(
      files.flatMap(({ path: file }) => /store\/.+\/(?=count\.txt$)/u.exec(file)?.[0] ?? [])
    )
    const counts = new Map<string, number>()
    for (const { table, part, rowCount } of parts) {
      if (!restored.has(/store\/.+\/$/u.exec(part)?.[0] ?? '')) continue
      counts.set(table, (counts.get(table) ?? 0) + rowCount)
    }
    for (const { name, rowCount } of manifest.tables) {
      const found = counts.get(name) ?? 0
      if (found !== rowCount) {
        throw invalid(source, `table ${name} opens with ${found} rows instead of ${rowCount}`)
      }
    }
  } finally {
    await warehouse.close()
  }
}

async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true })
}
