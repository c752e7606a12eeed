// Senders that end their half of the connection after the request: `nc -N`, some proxies on the level of TCP.
import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { makeCertificate } from '../helpers/certificate.ts'
import { openMemorySpool } from '../helpers/memory-spool.ts'
import type { Spool } from '../../src/spool/spool.ts'
import { aConversion, nowMs, startTracker } from './fixture.ts'
import type { Tracker } from './fixture.ts'

/** A spool that stores at once what is appended and says so once the gate is open. */
function gatedSpool() {
  const spool = openMemorySpool({ clock: () => nowMs })
  const gate = new EventEmitter()
  const opened = once(gate, 'open')
  const gated: Spool = {
    append: async (record) => {
      await spool.append(record)
      await opened
    },
    read: (recordsMax) => spool.read(recordsMax),
    remove: (batch) => spool.remove(batch),
    depth: () => spool.depth(),
    close: () => spool.close(),
  }
  return { spool: gated, open: () => void gate.emit('open') }
}

/** Its answers wait for the gate, which opens at the end of the test at the latest. */
async function startGated(t: TestContext, options: Parameters<typeof startTracker>[1] = {}) {
  const { spool, open } = gatedSpool()
  const tracker = await startTracker(t, { ...options, spool })
  t.after(open)
  return { tracker, open }
}

const body = JSON.stringify(aConversion())
const conversion = `POST /conversion HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`
const click = (tracker: Tracker) =>
  `GET /click/${tracker.mint()} HTTP/1.1\r\nHost: x\r\nUser-Agent: Firefox\r\n\r\n`

const requests = {
  conversion: { request: () => conversion, answer: /^HTTP\/1\.1 200 [\s\S]*\r\n\r\n\{\}$/ },
  click: { request: click, answer: /^HTTP\/1\.1 302 [\s\S]*location: https:\/\/shop\.example\//i },
}

async function halfClose(tracker: Tracker, bytes: string): Promise<Socket> {
  const sender = connect(tracker.port, '127.0.0.1')
  sender.on('error', () => undefined)
  const ended = once(tracker.server, 'connection').then(([accepted]) => once(accepted, 'end'))
  sender.end(bytes)
  await ended
  return sender
}

async function connectionsOf({ server }: Tracker): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)))
  })
}

for (const [name, { request, answer }] of Object.entries(requests)) {
  test(`a ${name} whose sender has ended its half is answered, and then the connection ends`, async (t) => {
    const { tracker, open } = await startGated(t)
    const socket = await halfClose(tracker, request(tracker))
    const accepted = await connectionsOf(tracker)

    open()

    assert.match(await text(socket), answer)
    assert.equal(accepted, 1)
    while ((await connectionsOf(tracker)) > 0) await new Promise(setImmediate)
    assert.equal(tracker.records().length, 1)
  })
}

test('all requests that came before the end are answered', async (t) => {
  const { tracker, open } = await startGated(t)
  const socket = await halfClose(tracker, conversion + click(tracker) + conversion)

  open()

  const statuses = (await text(socket)).match(/HTTP\/1\.1 \d+/g)
  assert.deepEqual(statuses, ['HTTP/1.1 200', 'HTTP/1.1 302', 'HTTP/1.1 200'])
})

test('a sender that ends before or within a request keeps no connection', async (t) => {
  const tracker = await startTracker(t)
  for (const bytes of ['', 'GET /healthz HT', conversion.slice(0, -5)]) {
    const socket = await halfClose(tracker, bytes)

    assert.doesNotMatch(await text(socket), /HTTP\/1\.1 2/)
  }
  while ((await connectionsOf(tracker)) > 0) await new Promise(setImmediate)
  assert.equal(tracker.records().length, 0)
})

test('shutting down answers such a sender too', async (t) => {
  const { tracker, open } = await startGated(t)
  const socket = await halfClose(tracker, conversion)

  const closed = tracker.close()
  open()

  assert.match(await text(socket), requests.conversion.answer)
  await closed
})

test('shutting down does not wait for ever for the answer of such a sender', async (t) => {
  const { tracker } = await startGated(t, { drainMsMax: 50 })
  const socket = await halfClose(tracker, conversion)
  socket.resume()
  const gone = once(socket, 'close')

  await tracker.close()
  await gone
})

test('over TLS such a sender is answered as well', async (t) => {
  const { cert, key } = makeCertificate()
  const { tracker, open } = await startGated(t, { tls: { cert, key } })
  const socket = connectTls({
    port: tracker.port,
    host: '127.0.0.1',
    ca: cert,
    servername: 'localhost',
  })
  const [accepted] = await once(tracker.server, 'secureConnection')
  const ended = once(accepted, 'end')
  socket.end(conversion)
  await ended

  open()

  assert.match(await text(socket), requests.conversion.answer)
  while ((await connectionsOf(tracker)) > 0) await new Promise(setImmediate)
})

test(
  'over TLS a sender that ends before a request keeps no connection',
  { timeout: 12_000 },
  async (t) => {
    const { cert, key } = makeCertificate()
    const tracker = await startTracker(t, { tls: { cert, key } })
    // The first byte of a handshake, and no handshake.
    for (const bytes of ['', '\u0016', 'GET /healthz HTTP/1.1\r\n']) {
      const socket = connect(tracker.port, '127.0.0.1').resume()
      socket.on('error', () => undefined)
      await once(tracker.server, 'connection')
      socket.end(bytes)
    }
    const raw = connect(tracker.port, '127.0.0.1')
    const greeted = connectTls({ socket: raw, ca: cert, servername: 'localhost' })
    greeted.on('error', () => undefined)
    const [accepted] = await once(tracker.server, 'secureConnection')
    accepted.on('error', () => undefined)
    raw.end()
    greeted.resume()
    const other = connectTls({
      port: tracker.port,
      host: '127.0.0.1',
      ca: cert,
      servername: 'localhost',
    })
    await once(tracker.server, 'secureConnection')
    other.end()

    while ((await connectionsOf(tracker)) > 0) await new Promise(setImmediate)
  }
)
