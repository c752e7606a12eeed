import { readFileSync } from 'node:fs'
import type { TlsFiles } from '../config.ts'
import { ServiceError } from '../errors.ts'

export interface TlsMaterial {
  readonly cert: Buffer
  readonly key: Buffer
}

/** Throws CONFIG_INVALID naming the variable whose file cannot be read. */
export function readTlsFiles(files: TlsFiles): TlsMaterial {
  return {
    cert: readFile('SHELFTRACE_TLS_CERT', files.certPath),
    key: readFile('SHELFTRACE_TLS_KEY', files.keyPath),
  }
}

function readFile(variable: string, path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    throw new ServiceError('CONFIG_INVALID', `${variable} must name a readable file`, { cause })
  }
}
