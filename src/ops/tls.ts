// Certificate and key of the ports. Both files are read again and again, so that a renewal needs no restart
// and breaks no connection.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { Server } from 'node:http'
import { createSecureContext, Server as TlsServer } from 'node:tls'
import type { Logger } from 'pino'
import type { TlsFiles } from '../config.ts'
import { ServiceError } from '../errors.ts'
import { assert } from '../lib/assert.ts'
import type { Clock } from '../lib/clock.ts'
import { systemCode } from '../lib/system-error.ts'
import { readContent, WatchedFile } from './watched-file.ts'

export const tlsLimits = {
  /** A chain of ten certificates has some 20 KB. */
  fileBytesMax: 1_048_576,
  pollMs: 2_000,
  pollMsMax: 30_000,
  expiryWarningMs: 14 * 86_400_000,
  expiryWarningEveryMs: 86_400_000,
} as const

export interface TlsOptions {
  readonly files: TlsFiles
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  readonly clock: Clock
  readonly pollMs?: number
}

/** The content of both files at one moment, as PEM: the certificate, then those that vouch for it; the key. */
interface Reading {
  readonly cert: Buffer
  readonly key: Buffer
  /** Why a file could not be read. Each names its variable. */
  readonly faults: readonly string[]
}

/** Throws CONFIG_INVALID naming the variables whose files are unfit. */
export async function openTls(options: TlsOptions): Promise<RenewedTls> {
  const reading = await readPair(options.files)
  const faults = faultsOf(reading)
  if (faults.length > 0) {
    throw new ServiceError('CONFIG_INVALID', `invalid configuration:\n  ${faults.join('\n  ')}`)
  }
  return new RenewedTls(options, reading)
}

/** The pair in use. */
export class RenewedTls {
  readonly #options: TlsOptions
  readonly #servers: TlsServer[] = []
  #current: Reading
  readonly #files: WatchedFile<Reading>
  #warnedAtMs = -Infinity

  constructor(options: TlsOptions, first: Reading) {
    this.#options = options
    this.#current = first
    this.#files = new WatchedFile({
      read: () => readPair(options.files),
      first,
      judge: (reading) => this.#judge(reading),
    })
    options.log.info(this.#facts(), 'the certificate is read')
    this.#watchExpiry()
  }

  get current(): Pick<Reading, 'cert' | 'key'> {
    const { cert, key } = this.#current
    return { cert, key }
  }

  /** The server gets the pair in use and every later one. Open connections keep theirs. */
  serve(server: Server): void {
    assert(server instanceof TlsServer, 'a port with a certificate speaks TLS')
    this.#servers.push(server)
    this.#hand(server)
  }

  /** Looks at the files every few seconds until closed. */
  watch(): void {
    this.#files.watch({
      pauseMs: this.#options.pollMs ?? tlsLimits.pollMs,
      failurePauseMsMax: tlsLimits.pollMsMax,
      check: () => this.check(),
      onFailure: (err) => this.#options.log.error({ err }, 'the certificate could not be checked'),
    })
  }

  /** One look; a pair counts when two in a row find the same. */
  async check(): Promise<void> {
    await this.#files.check()
    this.#watchExpiry()
  }

  async close(): Promise<void> {
    await this.#files.close()
  }

  #judge(reading: Reading): void {
    const { log } = this.#options
    const reasons = faultsOf(reading)
    if (reasons.length > 0) {
      log.error(
        { reasons, ...this.#facts() },
        'the new certificate is not taken, the old one goes on'
      )
      return
    }
    this.#current = reading
    for (const server of this.#servers) this.#hand(server)
    this.#warnedAtMs = -Infinity
    log.info(this.#facts(), 'the certificate is taken from its files anew')
  }

  #hand(server: TlsServer): void {
    // This resets every setting: what is not repeated here is back at its default.
    server.setSecureContext({ ...this.current, minVersion: 'TLSv1.2' })
  }

  /** Logs once a day, while it matters. */
  #watchExpiry(): void {
    const { log, clock } = this.#options
    const { validFrom, expiresAt } = this.#facts()
    const nowMs = clock()
    const isEarly = nowMs < validFrom.getTime()
    const leftMs = expiresAt.getTime() - nowMs
    const isDue = nowMs - this.#warnedAtMs >= tlsLimits.expiryWarningEveryMs
    if (!isDue || (!isEarly && leftMs > tlsLimits.expiryWarningMs)) return
    this.#warnedAtMs = nowMs
    if (leftMs <= 0) log.error(this.#facts(), 'the certificate has expired')
    else if (isEarly) log.warn(this.#facts(), 'the certificate is not valid yet')
    else log.warn(this.#facts(), 'the certificate expires soon')
  }

  /** The fingerprint is SHA-256, as browsers and `openssl x509 -fingerprint -sha256` show it. */
  #facts() {
    const { fingerprint256, validFrom, validTo } = new X509Certificate(this.#current.cert)
    return {
      fingerprint: fingerprint256,
      validFrom: new Date(validFrom),
      expiresAt: new Date(validTo),
    }
  }
}

/** Why the pair cannot serve: the variable and the rule, with nothing of either file. */
function faultsOf({ cert, key, faults }: Reading): readonly string[] {
  if (faults.length > 0) return faults
  const leaf = orNull(() => new X509Certificate(cert))
  const privateKey = orNull(() => createPrivateKey(key))
  if (leaf === null || privateKey === null) {
    return [
      ...(leaf === null ? ['SHELFTRACE_TLS_CERT must hold a certificate in PEM'] : []),
      ...(privateKey === null
        ? ['SHELFTRACE_TLS_KEY must hold a private key in PEM, without a passphrase']
        : []),
    ]
  }
  if (!leaf.checkPrivateKey(privateKey)) {
    return ['SHELFTRACE_TLS_KEY must be the key of the first certificate in SHELFTRACE_TLS_CERT']
  }
  try {
    // Finds what only TLS itself does: a broken chain behind the certificate, a key that is too weak.
    createSecureContext({ cert, key })
    return []
  } catch (error) {
    const reason = systemCode(error) ?? 'they are refused'
    return [`SHELFTRACE_TLS_CERT and SHELFTRACE_TLS_KEY must be fit for TLS: ${reason}`]
  }
}

/** OpenSSL's own words would help nobody, and could repeat what a file holds. */
function orNull<Parsed>(parse: () => Parsed): Parsed | null {
  try {
    return parse()
  } catch {
    return null
  }
}

async function readPair({ certPath, keyPath }: TlsFiles): Promise<Reading> {
  const faults: string[] = []
  const read = async (variable: string, path: string): Promise<Buffer> => {
    const content = await readContent(path, tlsLimits.fileBytesMax)
    if (Buffer.isBuffer(content)) return content
    faults.push(`${variable} ${content}`)
    return Buffer.alloc(0)
  }
  const cert = await read('SHELFTRACE_TLS_CERT', certPath)
  const key = await read('SHELFTRACE_TLS_KEY', keyPath)
  return { cert, key, faults }
}
