// Why a warehouse in process cannot be opened. chdb says only that it failed; ClickHouse prints its reason itself.

import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ServiceError } from '../errors.ts'
import { explainSystemError, systemCode } from '../lib/system-error.ts'

export function refusedFolder(path: string, cause: unknown): ServiceError {
  const message = `the warehouse in ${path} cannot be opened: ${reasonOf(path, cause)}`
  return new ServiceError('WAREHOUSE_NOT_OPENED', message, { cause })
}

function reasonOf(path: string, cause: unknown): string {
  if (systemCode(cause) !== null) return explainSystemError(cause)
  const holder = findHolder(path)
  if (holder !== null) return `another process has it (${holder}); end that one first`
  return (
    'ClickHouse failed, and says why in the lines above; if another server has the folder, as another container may, ' +
    'end that one first; if the warehouse is damaged, move its data folder away and restore a backup (shelftrace restore)'
  )
}

/**
 * The process that has ClickHouse's lock on the folder. Null if none has, or if that cannot be seen: the list of locks
 * is Linux's, leaves out processes of other containers, and some file systems have another device there.
 */
function findHolder(path: string): string | null {
  try {
    const { dev, ino } = statSync(join(path, 'status'), { bigint: true })
    const file = `${hex((dev >> 8n) & 0xfffn)}:${hex((dev & 0xffn) | ((dev >> 12n) & 0xfff00n))}:${ino}`
    const locks = readFileSync('/proc/locks', 'utf8').split('\n')
    // `1: FLOCK  ADVISORY  WRITE 4711 00:1b:815 0 EOF`, behind `->` for one that waits.
    const lock = locks.map((line) => line.split(/\s+/u)).find((words) => words[5] === file)
    const [, , , , holder = ''] = lock ?? []
    return Number(holder) > 0 && Number(holder) !== process.pid ? holder : null
  } catch {
    // Then ClickHouse's own words are all that is known.
    return null
  }
}

function hex(part: bigint): string {
  return part.toString(16).padStart(2, '0')
}
