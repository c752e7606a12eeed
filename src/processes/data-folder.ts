// One supervisor, or one restore, at a time uses a data folder. Whether another one runs is known from its process id
// and the instant of its start, since ids are reused, and from the socket at which it listens, since ids of another
// container cannot be looked at. This is a courtesy, not a lock: ports and warehouse, which must not be shared, are
// locked by the process that has them, and the start waits for those.

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ServiceError } from '../errors.ts'
import { makeFolder } from '../lib/make-folder.ts'
import { explainSystemError } from '../lib/system-error.ts'
import { holdFolder } from './folder-hold.ts'

export interface ClaimedFolder {
  /** The supervisor before this one crashed, so its children may still be ending. */
  readonly isAfterCrash: boolean
  release(): void
}

/** Throws CONFIG_INVALID if the folder cannot be written, or another supervisor, or a restore, uses it. */
export async function claimDataFolder(dataDir: string): Promise<ClaimedFolder> {
  const path = join(dataDir, 'supervisor.pid')
  const own = `${describeProcess(process.pid) ?? String(process.pid)}\n`
  try {
    makeFolder(dataDir)
    const before = readIfThere(path)
    const owner = before === null ? null : livingOwner(before)
    if (owner !== null) throw inUse(dataDir, `process ${owner}`)
    const letGo = await holdFolder(dataDir)
    if (letGo === null) throw inUse(dataDir, 'in another container, or started this instant')
    writeFileSync(path, own, { mode: 0o600 })
    return {
      isAfterCrash: before !== null && bootOf(before) === bootOf(own),
      release: () => {
        // Another supervisor, which cannot see this process, may have claimed the folder.
        if (readIfThere(path) === own) rmSync(path, { force: true })
        letGo()
      },
    }
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause
    throw folderFault(dataDir, cause)
  }
}

/** The process id of the supervisor that uses the folder, null if none does. Only where processes can be looked at. */
export function findSupervisor(dataDir: string): number | null {
  const text = readIfThere(join(dataDir, 'supervisor.pid'))
  return text === null ? null : livingOwner(text)
}

export function folderFault(folder: string, cause: unknown): ServiceError {
  return new ServiceError(
    'CONFIG_INVALID',
    `the data folder ${folder} (SHELFTRACE_DATA_DIR) cannot be used: ${explainSystemError(cause)}`,
    { cause }
  )
}

function inUse(dataDir: string, owner: string): ServiceError {
  return new ServiceError(
    'CONFIG_INVALID',
    `another Shelftrace (${owner}) uses the data folder ${dataDir}: ` +
      'end that one, or set SHELFTRACE_DATA_DIR to another folder'
  )
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, 'code') === 'ENOENT') return null
    throw error
  }
}

/** The process id, if the process that wrote this still runs. */
function livingOwner(text: string): number | null {
  const pid = Number(/^\d+/u.exec(text)?.[0] ?? Number.NaN)
  if (!Number.isSafeInteger(pid) || pid === process.pid) return null
  return describeProcess(pid) === text.trim() ? pid : null
}

function bootOf(text: string): string | undefined {
  return text.trim().split(' ')[2]
}

/**
 * Process id, start in clock ticks, and boot id of the machine. Null if the process cannot be looked
 * at: there is no such process, or the system is not Linux.
 */
function describeProcess(pid: number): string | null {
  try {
    // The name in parentheses may contain blanks; the start is the 20th field after it.
    const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) (?=\w )/u)
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const words = fields.split(' ')
    // A zombie holds nothing any more.
    return words[0] === 'Z' ? null : `${pid} ${words[19]} ${boot}`
  } catch {
    return null
  }
}
