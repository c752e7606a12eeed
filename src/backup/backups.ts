// Backs up a node while it runs: its data is held still for a moment and copied afterwards, and the
// manifest is written last. One backup runs at a time. One that breaks off leaves a folder without a
// manifest.

import { existsSync, readdirSync } from 'node:fs'
import { mkdir, open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { backupNamePattern } from '../contract/backups.ts'
import { ServiceError } from '../errors.ts'
import { freeBytesOf } from '../lib/free-bytes.ts'
import type { Backup } from '../contract/backups.ts'
import type { Clock } from '../lib/clock.ts'
import { makeFolder } from '../lib/make-folder.ts'
import { saysDiskFull } from '../warehouse/refusal.ts'
import { copyFile, syncFolder, syncFolders } from './files.ts'
import {
  fileListName,
  format,
  formatFileList,
  manifestName,
  proofName,
  proofOf,
  readManifest,
  sha256Of,
} from './manifest.ts'
import type { ListedFile, Manifest } from './manifest.ts'
import { releaseSnapshot, takeSnapshot } from './snapshot.ts'
import type { Snapshot, SnapshotOptions } from './snapshot.ts'

export const backupLimits = {
  listedMax: 1_000,
  /** Kept free on the disk of the backups, which may also be that of the spool. */
  diskFreeBytesMin: 268_435_456,
} as const

export interface BackupsOptions extends SnapshotOptions {
  /** Created with the first backup. */
  readonly folder: string
  readonly version: string
  readonly identityFingerprint: string
  readonly trackingKeyIds: readonly string[]
  readonly proofKey: Buffer
  readonly clock: Clock
  /** Whether the disk of the data folder takes nothing any more, which explains most other failures. */
  readonly isDiskFull?: () => boolean
  readonly log: Logger
}

export type BackupStart =
  | { readonly kind: 'started'; readonly backup: Backup }
  | { readonly kind: 'running'; readonly name: string }
  | { readonly kind: 'taken'; readonly name: string }
  | { readonly kind: 'unwritable'; readonly cause: unknown }

export class Backups {
  readonly #options: BackupsOptions
  readonly #stopping = new AbortController()
  /** The newest backup of this process. */
  #latest: Backup | null = null
  #running: Promise<void> | null = null
  /** 0 if there is none, null if the folder was not read yet. */
  #lastTakenAtMs: number | null = null

  constructor(options: BackupsOptions) {
    this.#options = options
    releaseSnapshot(options.dataDir)
  }

  /** Starts a backup and returns; the list shows its progress. A name is never used twice. */
  start(name = nameOf(this.#options.clock())): BackupStart {
    if (this.#running !== null) return { kind: 'running', name: this.#latest?.name ?? name }
    const folder = join(this.#options.folder, name)
    if (existsSync(folder)) return { kind: 'taken', name }
    try {
      makeFolder(folder)
    } catch (error) {
      return { kind: 'unwritable', cause: error }
    }
    const backup: Backup = { name, folder, state: 'running', bytes: 0 }
    this.#latest = backup
    this.#running = this.#run(backup).finally(() => (this.#running = null))
    return { kind: 'started', backup }
  }

  list(): readonly Backup[] {
    const names = existsSync(this.#options.folder) ? readdirSync(this.#options.folder) : []
    return names
      .filter((name) => new RegExp(backupNamePattern, 'u').test(name))
      .toSorted()
      .slice(-backupLimits.listedMax)
      .map((name) => (name === this.#latest?.name ? this.#latest : this.#describe(name)))
  }

  /** The instant of the newest complete backup. Read from the folder only once, since metrics ask often. */
  lastTakenAtMs(): number | null {
    this.#lastTakenAtMs ??= Math.max(
      0,
      ...this.list().map(({ state, takenAt = '' }) =>
        state === 'complete' ? Date.parse(takenAt) : 0
      )
    )
    return this.#lastTakenAtMs === 0 ? null : this.#lastTakenAtMs
  }

  /** Breaks off a copy under way. */
  async close(): Promise<void> {
    this.#stopping.abort(new Error('the service was stopped'))
    await this.#running
  }

  #describe(name: string): Backup {
    const folder = join(this.#options.folder, name)
    try {
      const manifest = readManifest(folder)
      if (manifest === null) return { name, folder, state: 'incomplete' }
      const { takenAt, bytes } = manifest
      return { name, folder, state: 'complete', takenAt, bytes, bytesTotal: bytes }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      return { name, folder, state: 'incomplete', reason }
    }
  }

  /** Never rejects: the list and the log say how it ended. */
  async #run(backup: Backup): Promise<void> {
    const { log, dataDir } = this.#options
    try {
      const manifest = await this.#write(backup)
      const { takenAt, bytes } = manifest
      this.#latest = { ...backup, state: 'complete', takenAt, bytes, bytesTotal: bytes }
      this.#lastTakenAtMs = Date.parse(takenAt)
      log.info({ backup: backup.name, bytes, takenAt }, 'a backup is complete')
    } catch (error) {
      this.#latest = { ...backup, state: 'failed', reason: this.#reasonOf(error) }
      log.error({ backup: backup.name, err: error }, 'a backup failed')
    } finally {
      releaseSnapshot(dataDir)
    }
  }

  #reasonOf(error: unknown): string {
    const isForWantOfRoom =
      error instanceof ServiceError &&
      (saysDiskFull(error) || this.#options.isDiskFull?.() === true)
    if (isForWantOfRoom) return `the disk of ${this.#options.dataDir} is full: make room`
    return error instanceof Error ? error.message : String(error)
  }

  async #write(backup: Backup): Promise<Manifest> {
    const { version, identityFingerprint, trackingKeyIds, proofKey } = this.#options
    const { folder } = backup
    const snapshot = await takeSnapshot(this.#options)
    const files = await this.#copy(backup, snapshot)
    const fileList = formatFileList(files.list)
    await writeSynced(join(folder, fileListName), fileList)
    const manifest: Manifest = {
      format,
      version,
      ...(await this.#readOrigin()),
      takenAt: snapshot.takenAt,
      identityFingerprint,
      trackingKeyIds,
      tables: snapshot.tables,
      fileCount: files.list.length,
      bytes: files.bytes,
      fileListSha256: sha256Of(fileList),
    }
    await syncFolders(folder)
    const text = `${JSON.stringify(manifest, null, 2)}\n`
    await writeSynced(join(folder, proofName), proofOf(proofKey, text))
    const draft = join(folder, `${manifestName}.draft`)
    await writeSynced(draft, text)
    await rename(draft, join(folder, manifestName))
    await syncFolder(folder)
    await syncFolder(this.#options.folder)
    return manifest
  }

  async #copy(backup: Backup, { files, takenAt }: Snapshot) {
    const bytesTotal = files.reduce((sum, file) => sum + file.bytes, 0)
    refuseTooLittleRoom(backup.folder, bytesTotal)
    await mkdir(join(backup.folder, 'spool'), { mode: 0o700 })
    const list: ListedFile[] = []
    let bytes = 0
    for (const { source, path } of files) {
      this.#stopping.signal.throwIfAborted()
      const copied = await copyFile(source, join(backup.folder, path))
      bytes += copied.bytes
      list.push({ path, sha256: copied.sha256 })
      this.#latest = { ...backup, takenAt, bytes, bytesTotal: Math.max(bytes, bytesTotal) }
    }
    return { list, bytes }
  }

  async #readOrigin(): Promise<Pick<Manifest, 'engineVersion' | 'migrations'>> {
    const { warehouse } = this.#options
    const [engine] = await warehouse.rows<{ version: string }>('SELECT version() AS version')
    const migrations = await warehouse.rows<{ name: string }>(
      'SELECT DISTINCT name FROM migration ORDER BY name LIMIT 10000'
    )
    return {
      engineVersion: engine?.version ?? '',
      migrations: migrations.map(({ name }) => name),
    }
  }
}

/** Such as `20260301T093000Z`, so that names sort by time. */
function nameOf(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/gu, '')}Z`
}

/** A full disk would stop the service if it shares that disk. */
function refuseTooLittleRoom(folder: string, bytes: number): void {
  const freeBytes = freeBytesOf(folder)
  const neededBytes = bytes + backupLimits.diskFreeBytesMin
  if (freeBytes >= neededBytes) return
  throw new Error(
    `the disk of SHELFTRACE_BACKUP_DIR has ${freeBytes} bytes left; the backup takes ${bytes}, and ` +
      `${backupLimits.diskFreeBytesMin} must stay free`
  )
}

async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}
