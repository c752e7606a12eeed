import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { commonHeaders } from '../../src/campaign/send.ts'
import { makeCertificate } from '../helpers/certificate.ts'
import { bearer, startHarness } from './harness.ts'

const csvPath = '/v2/advertisers/1/reports/spa/product.csv'

type After = { after(close: () => Promise<void>): void }

async function listen(t: After) {
  const harness = startHarness()
  const url = new URL(await harness.app.listen({ port: 0, host: '127.0.0.1' }))
  t.after(() => harness.app.close())
  return { ...harness, url }
}

async function talk(port: string, text: string): Promise<string> {
  const socket = connect(Number(port), '127.0.0.1')
  socket.on('error', () => {})
  socket.write(text)
  let answer = ''
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()))
  await Promise.race([once(socket, 'close'), delay(1_000)])
  socket.destroy()
  return answer
}

test('idle connections outlive those of common load balancers, and every wait is bounded', async (t) => {
  const { app } = await listen(t)
  assert.ok(app.server.keepAliveTimeout > 60_000)
  assert.ok(app.server.headersTimeout <= 20_000)
})

test('what is no HTTP is answered in the shape of every refusal', async (t) => {
  const { url, log } = await listen(t)

  const garbage = await talk(url.port, 'CANARY\r\n\r\n')
  const long = await talk(url.port, `GET / HTTP/1.1\r\nx: ${'CANARY'.repeat(9_000)}\r\n\r\n`)

  assert.match(garbage, /^HTTP\/1\.1 400 [^]*"messages":\["The request is not valid HTTP\."\]/)
  assert.match(long, /^HTTP\/1\.1 431 [^]*"messages"/)
  for (const [name, value] of Object.entries(commonHeaders)) {
    assert.ok(garbage.includes(`\r\n${name}: ${value}\r\n`), name)
  }
  assert.ok(!log.text.includes('CANARY'))
})

test('an unmet expectation and a missing Host are refused by the port itself, with their codes', async (t) => {
  const { url } = await listen(t)

  const expecting = await talk(url.port, 'GET /healthz HTTP/1.1\r\nhost: x\r\nexpect: x\r\n\r\n')
  const hostless = await talk(url.port, 'GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n')

  assert.match(expecting, /^HTTP\/1\.1 417 [^]*\r\nshelftrace-error-code: EXPECTATION_UNMET\r\n/)
  assert.match(expecting, /\{"messages":\["Only 100-continue may be expected\."\]\}$/)
  assert.match(hostless, /^HTTP\/1\.1 400 [^]*\r\nshelftrace-error-code: HTTP_MALFORMED\r\n/)
  assert.match(hostless, /\{"messages":\["The Host header is missing\."\]\}$/)
})

for (const [fault, head, message] of [
  [
    'two Hosts',
    'GET /healthz HTTP/1.1\r\nhost: x\r\nhost: y\r\n\r\n',
    'The Host header must be given once.',
  ],
  [
    'a coding beside chunks',
    `POST ${csvPath} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    'The only Transfer-Encoding is chunked.',
  ],
  ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n\r\n', 'CONNECT is not supported.'],
] as const) {
  test(`${fault} is refused by the port itself, and the connection ends`, async (t) => {
    const { url } = await listen(t)

    const answer = await talk(url.port, head)

    assert.match(answer, /^HTTP\/1\.1 40[05] /)
    assert.match(answer, /\r\nconnection: close\r\n/i)
    assert.ok(answer.endsWith(`\r\n\r\n{"messages":["${message}"]}`), answer)
  })
}

function headOf(one: string, other: string): string {
  return (
    `POST ${csvPath} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n` +
    `authorization: Bearer ${one}\r\nAuthorization: Bearer ${other}\r\ncontent-length: 0\r\n\r\n`
  )
}

test('two Authorization headers are one too many, whichever is good', async (t) => {
  const { url } = await listen(t)
  assert.match(await talk(url.port, headOf('K1', 'K1')), /^HTTP\/1\.1 401 /)
  assert.match(await talk(url.port, headOf('K1', 'x')), /^HTTP\/1\.1 401 /)
})

test('a body far too large is refused with an answer that its sender gets to read', async (t) => {
  const { url } = await listen(t)
  const large = Buffer.alloc(11_000_000, 0x20)

  const declared = await fetch(new URL(csvPath, url), {
    method: 'POST',
    headers: bearer('K1'),
    body: large,
  })
  const streamed = await fetch(new URL(csvPath, url), {
    method: 'POST',
    headers: bearer('K1'),
    body: new Blob([large]).stream(),
    duplex: 'half',
  })

  for (const response of [declared, streamed]) {
    assert.equal(response.status, 413)
    assert.deepEqual(await response.json(), { messages: ['body must have at most 1048576 bytes'] })
  }
})

test('who may not call is told so before the body is read', async (t) => {
  const { url } = await listen(t)

  const answer = await talk(
    url.port,
    `POST ${csvPath} HTTP/1.1\r\nhost: x\r\ncontent-length: 900000\r\n\r\n{`
  )

  assert.match(answer, /^HTTP\/1\.1 401 /)
})

test('several requests share a connection', async (t) => {
  const { url } = await listen(t)
  const one = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'
  const last = 'GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'

  const answer = await talk(url.port, one + one + last)

  assert.equal(answer.match(/HTTP\/1\.1 200 OK/g)?.length, 3)
})

test('over TLS every answer says that the port is to be asked over nothing else', async (t) => {
  const { cert, key } = makeCertificate()
  const { app } = startHarness({ tls: { cert, key } })
  t.after(() => app.close())
  const url = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))

  for (const path of ['/healthz', '/nothing', csvPath]) {
    const address = `https://127.0.0.1:${url.port}${path}`
    const sent = httpsRequest(address, { rejectUnauthorized: false, agent: false })
    sent.end()
    const [response]: IncomingMessage[] = await once(sent, 'response')
    response?.resume()
    assert.equal(response?.headers['strict-transport-security'], 'max-age=31536000', path)
  }
  const noHttp = connectTls({ port: Number(url.port), rejectUnauthorized: false })
  noHttp.end('no HTTP\r\n\r\n')
  assert.match(
    await textOf(noHttp),
    /^HTTP\/1\.1 400 [^]*strict-transport-security: max-age=31536000\r\n/
  )
  const plain = startHarness()
  t.after(() => plain.app.close())
  const { headers } = await plain.app.inject({ url: '/healthz' })
  assert.ok(!('strict-transport-security' in headers))
})
