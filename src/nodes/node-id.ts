import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ServiceError } from '../errors.ts'
import { explainSystemError } from '../lib/system-error.ts'

/**
 * The id of a node is that of its data folder, since what it has to be told apart by is its spool. It is made at the
 * first start.
 */
export function ensureNodeId(dataDir: string): string {
  const path = join(dataDir, 'node-id')
  try {
    writeFileSync(path, `${randomBytes(8).toString('hex')}\n`, { flag: 'wx', flush: true })
  } catch (error) {
    if (!(error instanceof Error && Reflect.get(error, 'code') === 'EEXIST')) throw error
  }
  const id = readText(path).trim()
  if (/^[0-9a-f]{16}$/u.test(id)) return id
  throw new ServiceError(
    'CONFIG_INVALID',
    `${path} must hold 16 hexadecimal digits: remove the file, and the next start makes another`
  )
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const message = `${path} cannot be read: ${explainSystemError(cause)}`
    throw new ServiceError('CONFIG_INVALID', message, { cause })
  }
}
