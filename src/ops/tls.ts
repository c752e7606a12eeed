// Certificate and key of the ports, read from files and read again when they are renewed, so that a
// renewal needs no restart and breaks no connection.
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Server } from 'node:http'
import { Server as TlsServer } from 'node:tls'
import type { TlsFiles } from '../config.ts'
import { ServiceError } from '../errors.ts'
import { assert } from '../lib/assert.ts'
import type { Clock } from '../lib/clock.ts'
import { Loop } from '../lib/loop.ts'
import { judgePair, type Certificate, type JudgedPair } from './certificate.ts'

export const tlsLimits = {
  /** A chain of ten certificates has some 20 KB. */
  fileBytesMax: 1_048_576,
  pollMs: 2_000,
  pollMsMax: 30_000,
  expiryWarningMs: 14 * 86_400_000,
  expiryWarningEveryMs: 86_400_000,
} as const

interface TlsLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface TlsOptions {
  readonly files: TlsFiles
  readonly log: TlsLog
  readonly clock: Clock
  readonly pollMs?: number
}

/** What a file held at one moment. */
type Content =
  { readonly ok: true; readonly bytes: Buffer } | { readonly ok: false; readonly reason: string }

interface Reading {
  readonly cert: Content
  readonly key: Content
}

/** Throws CONFIG_INVALID naming the variables whose files are unfit. */
export async function openTls(options: TlsOptions): Promise<RenewedTls> {
  const reading = await readPair(options.files)
  const judged = judge(reading)
  if (!judged.ok) {
    throw new ServiceError(
      'CONFIG_INVALID',
      `invalid configuration:\n  ${judged.reasons.join('\n  ')}`
    )
  }
  return new RenewedTls(options, { reading, certificate: judged.certificate })
}

/**
 * The pair in use. Files are compared by what they hold: renewals swap links, rename or write in
 * place, on disks of all kinds, and no notice or date of a file can be relied on through all of them.
 */
export class RenewedTls {
  readonly #options: TlsOptions
  readonly #servers: TlsServer[] = []
  #certificate: Certificate
  #lastRead: Reading
  #lastJudged: Reading
  #warnedAtMs = -Infinity
  #polling: Loop | null = null

  constructor(
    options: TlsOptions,
    first: { readonly reading: Reading; readonly certificate: Certificate }
  ) {
    this.#options = options
    this.#lastRead = first.reading
    this.#lastJudged = first.reading
    this.#certificate = first.certificate
    this.#tellTaken('the certificate is read')
  }

  get current(): Pick<Certificate, 'cert' | 'key'> {
    const { cert, key } = this.#certificate
    return { cert, key }
  }

  /** The server gets the pair in use and every later one. Connections that are open keep theirs. */
  serve(server: Server): void {
    assert(server instanceof TlsServer, 'a port with a certificate speaks TLS')
    this.#servers.push(server)
    this.#hand(server)
  }

  /** Looks at the files every few seconds until closed. */
  watch(): void {
    this.#polling ??= new Loop({
      step: async () => {
        await this.check()
        return false
      },
      pauseMs: this.#options.pollMs ?? tlsLimits.pollMs,
      failurePauseMsMax: tlsLimits.pollMsMax,
      onFailure: (err) => this.#options.log.error({ err }, 'the certificate could not be checked'),
    })
  }

  /**
   * One look. A pair counts when two looks in a row find the same: certificate and key are never
   * replaced at one instant, and a chain that is only half written could be taken for a whole one.
   */
  async check(): Promise<void> {
    const reading = await readPair(this.#options.files)
    const isSettled = isSame(reading, this.#lastRead)
    this.#lastRead = reading
    if (isSettled && !isSame(reading, this.#lastJudged)) this.#consider(reading)
    this.#watchExpiry()
  }

  async close(): Promise<void> {
    await this.#polling?.stop()
  }

  #consider(reading: Reading): void {
    const { log } = this.#options
    this.#lastJudged = reading
    const judged = judge(reading)
    if (!judged.ok) {
      const { reasons } = judged
      log.error(
        { reasons, ...this.#facts() },
        'the new certificate is not taken, the old one goes on'
      )
      return
    }
    this.#certificate = judged.certificate
    for (const server of this.#servers) this.#hand(server)
    this.#warnedAtMs = -Infinity
    this.#tellTaken('the certificate is taken from its files anew')
  }

  #hand(server: TlsServer): void {
    // It sets everything anew: what is not said here again is back at its default.
    server.setSecureContext({ ...this.current, minVersion: 'TLSv1.2' })
  }

  #tellTaken(message: string): void {
    this.#options.log.info(this.#facts(), message)
    this.#watchExpiry()
  }

  /** Once a day, while it matters. */
  #watchExpiry(): void {
    const { log, clock } = this.#options
    const { validFromMs, expiresAtMs } = this.#certificate
    const nowMs = clock()
    const isDue = nowMs - this.#warnedAtMs >= tlsLimits.expiryWarningEveryMs
    const isTimely = validFromMs <= nowMs && nowMs < expiresAtMs - tlsLimits.expiryWarningMs
    if (isTimely || !isDue) return
    this.#warnedAtMs = nowMs
    if (nowMs >= expiresAtMs) log.error(this.#facts(), 'the certificate has expired')
    else if (nowMs < validFromMs) log.warn(this.#facts(), 'the certificate is not valid yet')
    else log.warn(this.#facts(), 'the certificate expires soon')
  }

  #facts() {
    const { fingerprint, validFromMs, expiresAtMs } = this.#certificate
    return { fingerprint, validFrom: new Date(validFromMs), expiresAt: new Date(expiresAtMs) }
  }
}

function judge({ cert, key }: Reading): JudgedPair {
  if (cert.ok && key.ok) return judgePair({ cert: cert.bytes, key: key.bytes })
  return { ok: false, reasons: [cert, key].flatMap((file) => (file.ok ? [] : [file.reason])) }
}

async function readPair({ certPath, keyPath }: TlsFiles): Promise<Reading> {
  return {
    cert: await readContent('SHELFTRACE_TLS_CERT', certPath),
    key: await readContent('SHELFTRACE_TLS_KEY', keyPath),
  }
}

async function readContent(variable: string, path: string): Promise<Content> {
  try {
    // A pipe would otherwise hold a thread until somebody writes to it.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const facts = await file.stat()
      if (facts.isFile() && facts.size <= tlsLimits.fileBytesMax) {
        return { ok: true, bytes: await file.readFile() }
      }
      return { ok: false, reason: `${variable} must name a file of at most 1 MiB` }
    } finally {
      await file.close()
    }
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : null
    return { ok: false, reason: `${variable} must name a readable file (${String(code)})` }
  }
}

function isSame(one: Reading, other: Reading): boolean {
  return isSameContent(one.cert, other.cert) && isSameContent(one.key, other.key)
}

function isSameContent(one: Content, other: Content): boolean {
  if (one.ok && other.ok) return one.bytes.equals(other.bytes)
  return !one.ok && !other.ok && one.reason === other.reason
}
