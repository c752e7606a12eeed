import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { explainSystemError } from '../lib/system-error.ts'
import { isLoopback } from '../lib/loopback.ts'
import { CliError, usageError, type Environment } from './command.ts'

const urlDefault = 'http://127.0.0.1:8081'

interface AddressOptions {
  readonly url: string | undefined
  /** The operator says that the key may travel in the clear. */
  readonly allowPlainHttp: boolean
}

/** The address of the server: the option, else SHELFTRACE_URL, else the default address of the port. */
export function findUrl(options: AddressOptions, environment: Environment): URL {
  const text = options.url ?? environment['SHELFTRACE_URL'] ?? urlDefault
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw usageError(
      'The address of the server must be like http://127.0.0.1:8081 (--url or SHELFTRACE_URL).'
    )
  }
  if (url.username !== '' || url.password !== '') {
    throw usageError(
      'The address of the server must not contain credentials: put the key into SHELFTRACE_KEY.'
    )
  }
  if (url.protocol === 'http:' && !options.allowPlainHttp && !isLoopback(url.hostname)) {
    throw usageError(
      'The address of the server must begin with https://, since http:// would send the key in the ' +
        'clear; --allow-plain-http sends it anyway.'
    )
  }
  return url
}

/**
 * The key: SHELFTRACE_KEY, the file of SHELFTRACE_KEY_FILE, else the admin key in the data folder. It is never an argument, since everyone on
 * the machine could read that in the list of processes.
 */
export function findKey(environment: Environment): string {
  const given = environment['SHELFTRACE_KEY']?.trim() ?? ''
  const file = environment['SHELFTRACE_KEY_FILE'] ?? ''
  if (given !== '' && file !== '') {
    throw usageError('SHELFTRACE_KEY and SHELFTRACE_KEY_FILE must not both be set.')
  }
  if (given !== '') return checkKey(given, 'SHELFTRACE_KEY')
  if (file !== '') return checkKey(readKeyFile(file), file)
  const path = join(environment['SHELFTRACE_DATA_DIR'] ?? './data', 'admin-key')
  try {
    return checkKey(readFileSync(path, 'utf8').trim(), path)
  } catch (cause) {
    if (cause instanceof CliError) throw cause
    throw new CliError(
      `There is no key: set SHELFTRACE_KEY, or SHELFTRACE_DATA_DIR to the data folder of the server ` +
        `(${path} cannot be read).`,
      { cause }
    )
  }
}

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (cause) {
    throw new CliError(
      `SHELFTRACE_KEY_FILE: ${path} cannot be read: ${explainSystemError(cause)}.`,
      {
        cause,
      }
    )
  }
}

/** A header holds printable ASCII only, and Node's own error for it would repeat the key. */
function checkKey(key: string, source: string): string {
  if (/^[!-~]+$/.test(key)) return key
  throw new CliError(`The key in ${source} is empty or contains characters that no key has.`)
}
