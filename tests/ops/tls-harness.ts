// A campaign port on a real TLS socket whose certificate stands in files that a test may change.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { openTls, type RenewedTls } from '../../src/ops/tls.ts'
import { startHarness } from '../campaign/harness.ts'
import { makeCertificate, type CertificatePair } from '../helpers/certificate.ts'

export interface Logged {
  readonly level: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly message: string
}

export interface Files {
  readonly folder: string
  readonly certPath: string
  readonly keyPath: string
}

export function writePair(files: Files, { cert, key }: Pick<CertificatePair, 'cert' | 'key'>) {
  writeFileSync(files.certPath, cert)
  writeFileSync(files.keyPath, key)
}

export function makeFiles(t: TestContext, pair: Pick<CertificatePair, 'cert' | 'key'>): Files {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-tls-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const files = { folder, certPath: join(folder, 'cert.pem'), keyPath: join(folder, 'key.pem') }
  writePair(files, pair)
  return files
}

export interface Port {
  readonly files: Files
  readonly tls: RenewedTls
  readonly first: CertificatePair
  readonly at: { ms: number }
  /** What the port logged at a level. */
  readonly logged: (level: string) => readonly Logged[]
  readonly connect: (session?: Buffer) => Promise<TLSSocket>
  /** The fingerprint that a new connection is shown. */
  readonly shown: () => Promise<string>
  /** Twice, since what is seen once may be half written. */
  readonly look: () => Promise<void>
}

interface PortOptions {
  readonly first?: CertificatePair
  readonly files?: (t: TestContext, pair: CertificatePair) => Files
  readonly nowMs?: number
  readonly pollMs?: number
}

export async function startPort(t: TestContext, options: PortOptions = {}): Promise<Port> {
  const first = options.first ?? makeCertificate()
  const files = (options.files ?? makeFiles)(t, first)
  const at = { ms: options.nowMs ?? Date.now() }
  const lines: Logged[] = []
  const log = (level: string) => (fields: unknown, message?: unknown) => {
    lines.push({ level, fields: { ...Object(fields) }, message: String(message) })
  }
  const tls = await openTls({
    files,
    log: { info: log('info'), warn: log('warn'), error: log('error') },
    clock: () => at.ms,
    ...(options.pollMs !== undefined && { pollMs: options.pollMs }),
  })
  const { app } = startHarness({ tls: tls.current })
  tls.serve(app.server)
  await app.listen({ port: 0, host: '127.0.0.1' })
  t.after(async () => {
    await tls.close()
    await app.close()
  })
  const address = app.server.address()
  assert.ok(typeof address === 'object' && address !== null)

  const openConnection = async (session?: Buffer) => {
    const trusted = { rejectUnauthorized: false, ...(session !== undefined && { session }) }
    const socket = connect({ host: '127.0.0.1', port: address.port, ...trusted })
    t.after(() => socket.destroy())
    await once(socket, 'secureConnect')
    return socket
  }
  return {
    files,
    tls,
    first,
    at,
    logged: (level) => lines.filter((line) => line.level === level),
    connect: openConnection,
    shown: async () => {
      const socket = await openConnection()
      const { fingerprint256 } = socket.getPeerCertificate()
      socket.destroy()
      return fingerprint256
    },
    look: async () => {
      await tls.check()
      await tls.check()
    },
  }
}

/** Asks for health on an open connection; the head of the answer. */
export async function askHealth(socket: TLSSocket): Promise<string> {
  socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
  const [chunk]: Buffer[] = await once(socket, 'data')
  return String(chunk)
}
