// Servers that cannot be spoken to as they were named, on real sockets.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { createServer as createHttpsServer, request as httpsRequest } from 'node:https'
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net'
import { test, type TestContext } from 'node:test'
import { explainConnection } from '../../src/cli/connection-failure.ts'
import { makeCertificate, type CertificatePair } from '../helpers/certificate.ts'
import { run, useCliServer } from './harness.ts'

useCliServer()

const dayMs = 86_400_000

async function listen(t: TestContext, server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => void server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** With the keys that came, of which there must be none. */
async function listenSecurely(t: TestContext, pair: CertificatePair = makeCertificate()) {
  const keys: (string | undefined)[] = []
  const server = createHttpsServer(pair, ({ headers }, response) => {
    keys.push(headers.authorization)
    response.end('{}')
  })
  return { host: await listen(t, server), keys }
}

/** What the command line would say of a server with this certificate, if it trusts it and finds it there. */
async function wordsOf(t: TestContext, pair: CertificatePair, name: string): Promise<string> {
  const { host } = await listenSecurely(t, pair)
  const url = new URL(`https://${name}:${new URL(`https://${host}`).port}`)
  const request = httpsRequest(url, {
    agent: false,
    ca: pair.cert,
    lookup: (_name, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
  })
  const error = await new Promise<Error>((resolve) => request.once('error', resolve).end())
  return String(await explainConnection(error, url)).replace(url.host, name)
}

test('a server that speaks HTTPS where http:// was named, or the other way round, is told as such', async (t) => {
  const secure = await listenSecurely(t)
  const plain = await listen(
    t,
    createServer((_request, response) => response.end('{}'))
  )

  const overHttp = await run(['keys', 'list', '--url', `http://${secure.host}`])
  const overHttps = await run(['keys', 'list', '--url', `https://${plain}`])

  assert.deepEqual([overHttp.exitCode, overHttps.exitCode], [1, 1])
  assert.equal(
    overHttp.stderr,
    `shelftrace: ${secure.host} speaks HTTPS: begin the address (--url or SHELFTRACE_URL) with https://\n`
  )
  assert.equal(
    overHttps.stderr,
    `shelftrace: ${plain} speaks HTTP without TLS: begin the address (--url or SHELFTRACE_URL) with http://\n`
  )
  // Nobody knows whose certificate it is.
  assert.deepEqual(secure.keys, [undefined])
})

test('a certificate that is not trusted is told as such, with the variable that names its authority', async (t) => {
  const { host, keys } = await listenSecurely(t)

  const { exitCode, stderr } = await run(['status', '--url', `https://${host}`])

  assert.equal(exitCode, 1)
  assert.match(stderr, /is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\).*NODE_EXTRA_CA_CERTS/u)
  assert.deepEqual(keys, [])
})

test('a certificate of another server, of the past or of the future is told as such', async (t) => {
  const nowMs = Date.now()
  const old = { validFromMs: nowMs - 2 * dayMs, expiresAtMs: nowMs - dayMs }
  const early = { validFromMs: nowMs + dayMs, expiresAtMs: nowMs + 2 * dayMs }

  assert.match(
    await wordsOf(t, makeCertificate(), 'track.example'),
    /The certificate of https:\/\/track\.example is for localhost, 127\.0\.0\.1, not for track\.example\. Name/u
  )
  assert.match(await wordsOf(t, makeCertificate(old), 'localhost'), /localhost has expired\./u)
  assert.match(await wordsOf(t, makeCertificate(early), 'localhost'), /is not valid yet\./u)
})

test('a connection that breaks for no such reason is told with its code', async (t) => {
  const host = await listen(
    t,
    createTcpServer((socket) => socket.destroy())
  )

  const { exitCode, stderr } = await run(['status', '--url', `http://${host}`])

  assert.equal(exitCode, 1)
  assert.match(stderr, /^shelftrace: The connection to http:\/\/\S+ broke \(ECONNRESET\)\.\n$/u)
})
