import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, createServer, request as httpRequest } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { connect as connectTls } from 'node:tls'
import {
  noContent,
  pixel,
  redirect,
  send,
  stored,
  withTlsOnly,
} from '../../src/tracking/answers.ts'
import type { Answer } from '../../src/tracking/answers.ts'
import { withCors } from '../../src/tracking/cors.ts'
import { Sender, limits } from '../../src/tracking/sender.ts'
import { makeCertificate } from '../helpers/certificate.ts'
import { aConversion, startTracker } from './fixture.ts'

const keepAliveMs = 75_000
const shop = 'https://shop.example'
const aGet = 'GET / HTTP/1.1\r\nHost: x\r\n'

interface Certificate {
  readonly cert: Buffer
  readonly key: Buffer
}

/** As the tracking port, which closes idle connections by itself. */
async function serve(
  t: TestContext,
  listener: RequestListener,
  tls?: Certificate
): Promise<number> {
  return await listen(
    t,
    tls === undefined ? createServer(listener) : createHttpsServer(tls, listener),
    0
  )
}

async function serveAsNode(
  t: TestContext,
  listener: RequestListener,
  tls?: Certificate
): Promise<number> {
  const server = tls === undefined ? createServer(listener) : createHttpsServer(tls, listener)
  return await listen(t, server, keepAliveMs)
}

async function listen(t: TestContext, server: Server, keepAliveTimeout: number): Promise<number> {
  server.keepAliveTimeout = keepAliveTimeout
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}

/** Answers a turn later, as after a write: only then is the request known to be whole. */
function later(sender: Sender, answer: Answer, hasCors: boolean): RequestListener {
  return (request, response) => {
    setImmediate(() => sender.send({ request, response, hasCors }, answer))
  }
}

/** What is kept is dropped with each new second, so the time stands still unless a test says otherwise. */
function aSender(options: { readonly isTls?: boolean; readonly clock?: () => number } = {}) {
  return new Sender({ clock: () => 0, isTls: false, keepAliveMs, ...options })
}

/** What comes back until there are as many answers, which end in `ending`. */
async function readUntil(socket: Socket, isEnough: (text: string) => boolean): Promise<string> {
  let text = ''
  for await (const chunk of socket) {
    text += String(chunk)
    if (isEnough(text)) break
  }
  return text
}

/** The lines of the head in any order, then the body. */
function sorted(text: string): string {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  return [...head.split('\r\n').toSorted(), body].join('\n')
}

function withoutDate(text: string): string {
  return text.replace(/Date: [A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT/g, 'Date')
}

async function answerOf(port: number, head: string, ca?: Buffer): Promise<string> {
  const socket =
    ca === undefined
      ? connect(port, '127.0.0.1')
      : connectTls({ port, host: '127.0.0.1', ca, servername: 'localhost' })
  socket.setEncoding('latin1')
  socket.write(`${head}\r\n`)
  const whole = await readUntil(socket, (text) => text.includes('\r\n\r\n') && isWhole(text))
  socket.destroy()
  return withoutDate(whole)
}

function isWhole(text: string): boolean {
  const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
  return text.length >= text.indexOf('\r\n\r\n') + 4 + length
}

const answers: readonly (readonly [string, Answer])[] = [
  ['that of a POST', stored],
  ['the pixel', pixel],
  ['that without content', noContent],
  ['a redirect, which is never kept', redirect('https://shop.example/p')],
]

for (const [name, answer] of answers) {
  for (const hasCors of [true, false]) {
    test(`${name}, ${hasCors ? 'with' : 'without'} CORS: a kept answer has the bytes that node:http writes`, async (t) => {
      const sender = aSender()
      const port = await serve(t, later(sender, answer, hasCors))
      const otherPort = await serveAsNode(t, (request, response) => {
        send(response, hasCors ? withCors(answer, request.headers.origin) : answer)
      })

      for (const origin of ['', `Origin: ${shop}\r\n`, 'Origin: null\r\n', 'Origin: a b\r\n']) {
        const head = aGet + origin
        const [kept, keptAgain, expected] = [
          await answerOf(port, head),
          await answerOf(port, head),
          await answerOf(otherPort, head),
        ]
        assert.match(expected, /\r\nDate\r\nConnection: keep-alive\r\nKeep-Alive: timeout=75\r\n/)
        // Node writes its own lines last.
        assert.equal(sorted(kept), sorted(expected))
        if (answer.status !== 302) assert.equal(kept, expected)
        assert.equal(keptAgain, kept)
      }
      // Without an origin, and three that are sent; what is not kept goes the way of node:http.
      assert.equal(sender.keptCount, answer.status === 302 ? 0 : hasCors ? 4 : 1)
    })
  }
}

test('over TLS a kept answer has the bytes that node:http writes, and says that TLS is all there is', async (t) => {
  const tls = makeCertificate()
  const sender = aSender({ isTls: true })
  const port = await serve(t, later(sender, stored, true), tls)
  const otherPort = await serveAsNode(
    t,
    (_request, response) => send(response, withCors(withTlsOnly(stored), undefined)),
    tls
  )

  const kept = await answerOf(port, aGet, tls.cert)

  assert.match(kept, /strict-transport-security/)
  assert.equal(kept, await answerOf(otherPort, aGet, tls.cert))
  assert.equal(sender.keptCount, 1)
})

test('requests that ask for another form of answer get what node:http writes', async (t) => {
  const sender = aSender()
  const port = await serve(t, later(sender, stored, false))
  const otherPort = await serveAsNode(t, (_request, response) => send(response, stored))

  for (const head of [
    'HEAD / HTTP/1.1\r\nHost: x\r\n',
    'GET / HTTP/1.0\r\n',
    'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n',
  ]) {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1')
    const other = connect(otherPort, '127.0.0.1').setEncoding('latin1')
    socket.end(`${head}\r\n`)
    other.end(`${head}\r\n`)
    const [text, expected] = await Promise.all(
      [socket, other].map((each) => readUntil(each, () => false))
    )
    assert.equal(sorted(withoutDate(text ?? '')), sorted(withoutDate(expected ?? ' ')))
  }
  assert.equal(sender.keptCount, 0)
})

test('kept answers carry the second in which they leave', async (t) => {
  let nowMs = Date.UTC(2026, 2, 2, 10)
  const sender = aSender({ clock: () => nowMs })
  const dates: unknown[] = []
  const port = await serve(t, later(sender, stored, false))

  for (const stepMs of [0, 999, 1, 60_000, -60_000]) {
    nowMs += stepMs
    const { headers } = await fetch(`http://127.0.0.1:${port}/`)
    dates.push(headers.get('date'))
  }

  assert.deepEqual(dates, [
    'Mon, 02 Mar 2026 10:00:00 GMT',
    'Mon, 02 Mar 2026 10:00:00 GMT',
    'Mon, 02 Mar 2026 10:00:01 GMT',
    'Mon, 02 Mar 2026 10:01:01 GMT',
    'Mon, 02 Mar 2026 10:00:01 GMT',
  ])
})

test('more origins than are kept are answered all the same, and no more are kept', async (t) => {
  const sender = aSender({ clock: () => 0 })
  const port = await serve(t, later(sender, stored, true))
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())

  for (let index = 0; index < limits.keptMax + 20; index++) {
    const origin = `https://shop-${index}.example`
    const sending = httpRequest({ port, agent, headers: { origin } }).end()
    const [response] = await once(sending, 'response')
    response.resume()
    await once(response, 'end')
    assert.equal(response.headers['access-control-allow-origin'], origin)
  }

  assert.equal(sender.keptCount, limits.keptMax)
})

test('answers that leave at once and answers that wait keep the order of their requests', async (t) => {
  const sender = aSender()
  const port = await serve(t, (request, response) => {
    const answer = request.url === '/redirect' ? redirect(`${shop}/p`) : stored
    const reply = later(sender, answer, false)
    if (request.url === '/late') setTimeout(reply, 5, request, response)
    else reply(request, response)
  })
  const paths = Array.from({ length: 300 }, (_, index) => ['/', '/late', '/redirect'][index % 3])
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  socket.write(paths.map((path) => `POST ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''))

  const text = await readUntil(socket, (read) => statusesOf(read).length === 300)

  assert.deepEqual(
    statusesOf(text),
    paths.map((path) => (path === '/redirect' ? '302' : '200'))
  )
})

function statusesOf(text: string): readonly (string | undefined)[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1])
}

// Guarantee: one sender cannot fill the memory with answers that it does not read.
test('who does not read the answers is not read on, and gets all of them later', async (t) => {
  const tracker = await startTracker(t)
  const accepted: Socket[] = []
  tracker.server.on('connection', (socket: Socket) => accepted.push(socket))
  const count = 60_000
  const one = `POST /impression/${tracker.mint()} HTTP/1.1\r\nHost: x\r\n`
  const socket = connect(tracker.port, '127.0.0.1').setEncoding('latin1').pause()
  socket.write(`${`${one}\r\n`.repeat(count - 1)}${one}Connection: close\r\n\r\n`)
  const server = await eventually(() => accepted.find((each) => each.writableLength > 0))
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
  const waitingBytes = server.writableLength

  const text = await readUntil(socket.resume(), () => false)

  assert.ok(waitingBytes <= 4 * server.writableHighWaterMark, `${waitingBytes} bytes wait`)
  assert.equal(statusesOf(text).length, count)
})

async function eventually<T>(look: () => T | undefined): Promise<T> {
  for (;;) {
    const found = look()
    if (found !== undefined) return found
    await new Promise(setImmediate)
  }
}

test('who ends the sending half still gets the answer, and then the connection ends', async (t) => {
  const tracker = await startTracker(t)
  const body = JSON.stringify(aConversion())
  const socket = connect(tracker.port, '127.0.0.1').setEncoding('latin1')
  socket.end(
    `POST /conversion HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  )

  const text = await readUntil(socket, () => false)

  assert.match(text, /^HTTP\/1\.1 200 [\s\S]*\{\}$/)
})
