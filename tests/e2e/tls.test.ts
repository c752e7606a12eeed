import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { makeCertificate, writeCertificate, type CertificatePair } from '../helpers/certificate.ts'
import { eventually, prepareService, type Service } from '../helpers/service.ts'

async function open(t: TestContext, url: string, { cert }: CertificatePair): Promise<TLSSocket> {
  const port = Number(new URL(url).port)
  const socket = connect({ host: '127.0.0.1', port, ca: cert, servername: 'localhost' })
  t.after(() => socket.destroy())
  await once(socket, 'secureConnect')
  return socket
}

async function askHealth(socket: TLSSocket): Promise<string> {
  socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
  const [chunk]: Buffer[] = await once(socket, 'data')
  return String(chunk)
}

async function startTls(t: TestContext, pair: CertificatePair) {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-tls-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const service: Service = await prepareService(t, {
    env: { ...writeCertificate(folder, pair), SHELFTRACE_TRACKERS: '2' },
  })
  return { service, folder }
}

test('a renewed certificate is taken by every process of a node, and no open connection breaks', async (t) => {
  const [first, next] = [makeCertificate(), makeCertificate()]
  const { service, folder } = await startTls(t, first)
  await service.start()
  const urls = [service.trackingUrl, service.campaignUrl]
  const before = await Promise.all(urls.map((url) => open(t, url, first)))

  writeCertificate(folder, next)
  await eventually('the two trackers and the engine took it', async () => {
    const lines = service.stderr.split('\n').filter((line) => line.includes(next.fingerprint))
    return await Promise.resolve(lines.length === 3)
  })

  const after = await Promise.all(urls.map((url) => open(t, url, next)))
  for (const socket of [...before, ...after]) {
    assert.match(await askHealth(socket), /^HTTP\/1\.1 200 /)
  }
})

test('a certificate without its key ends the start with an error that names the variable', async (t) => {
  const { service } = await startTls(t, { ...makeCertificate(), key: makeCertificate().key })

  await assert.rejects(
    service.start(),
    /SHELFTRACE_TLS_KEY must be the key of the first certificate/
  )
})
