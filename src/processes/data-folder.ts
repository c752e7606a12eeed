// One supervisor at a time has a data folder. Whether another one lives is told by its process id and
// the instant of its start, since ids are given out again. That is a courtesy, not a lock: what must not
// be shared (ports, warehouse) is locked by whoever has it, and then the start waits instead.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ServiceError } from '../errors.ts'
import { explainSystemError } from '../lib/system-error.ts'

export interface ClaimedFolder {
  /** A supervisor before this one did not end by itself: its children may still be about to end. */
  readonly isAfterCrash: boolean
  release(): void
}

/** Throws CONFIG_INVALID when the folder cannot be written, or a living supervisor has it. */
export function claimDataFolder(dataDir: string): ClaimedFolder {
  const path = join(dataDir, 'supervisor.pid')
  const own = `${describeProcess(process.pid) ?? String(process.pid)}\n`
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    const before = readIfThere(path)
    const owner = before === null ? null : livingOwner(before)
    if (owner !== null) throw inUse(dataDir, owner)
    writeFileSync(path, own, { mode: 0o600 })
    return {
      isAfterCrash: before !== null && bootOf(before) === bootOf(own),
      release: () => {
        // Another one may have claimed the folder where this process cannot be seen, as in a container.
        if (readIfThere(path) === own) rmSync(path, { force: true })
      },
    }
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause
    throw folderFault(dataDir, cause)
  }
}

export function folderFault(folder: string, cause: unknown): ServiceError {
  return new ServiceError(
    'CONFIG_INVALID',
    `the data folder ${folder} (SHELFTRACE_DATA_DIR) cannot be used: ${explainSystemError(cause)}`,
    { cause }
  )
}

function inUse(dataDir: string, pid: number): ServiceError {
  return new ServiceError(
    'CONFIG_INVALID',
    `another Shelftrace (process ${pid}) runs on the data folder ${dataDir}: ` +
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
 * Process id, start in clock ticks, and which boot of the machine that was. Null where a process cannot
 * be looked at (no such process, or not Linux): then nothing is known to live.
 */
function describeProcess(pid: number): string | null {
  try {
    // The name, in parentheses, may hold blanks; the start is the 20th field behind it.
    const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) (?=\w )/u)
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const words = fields.split(' ')
    // A process that ended and was not waited for yet holds nothing any more.
    return words[0] === 'Z' ? null : `${pid} ${words[19]} ${boot}`
  } catch {
    return null
  }
}
