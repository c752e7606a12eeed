// Real sockets from several addresses of loopback, each a network of its own.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createServer as createHttpsServer, get } from 'node:https'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { promisify } from 'node:util'
import { makeCertificate } from '../helpers/certificate.ts'
import { Connections, limits, boundConnections } from '../../src/http/connections.ts'
import { startTracker } from './fixture.ts'
import type { Tracker } from './fixture.ts'

const health = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'
const halfABody = 'POST /conversion HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{'

interface Peer {
  readonly socket: Socket
  readonly closed: Promise<unknown>
}

async function open(t: TestContext, { port }: Tracker, localAddress: string): Promise<Peer> {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  socket.on('error', () => undefined)
  socket.resume()
  const closed = once(socket, 'close')
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  return { socket, closed }
}

/** An answer shows that the server has seen the connection and all that were opened before it. */
async function ask({ socket }: Peer): Promise<string> {
  const answer = once(socket, 'data')
  socket.write(health)
  return String(((await answer) as [Buffer])[0]).slice(0, 12)
}

async function openAndAsk(t: TestContext, tracker: Tracker, address: string): Promise<Peer> {
  const peer = await open(t, tracker, address)
  assert.equal(await ask(peer), 'HTTP/1.1 200')
  return peer
}

test('where all places are taken a new connection gets that of one that never asked, and those that did stay', async (t) => {
  const tracker = await startTracker(t, { drainMsMax: 50, connectionsMax: 4 })
  const used = await openAndAsk(t, tracker, '127.0.0.2')
  const silent = await open(t, tracker, '127.0.0.3')
  const others = [
    await openAndAsk(t, tracker, '127.0.0.4'),
    await openAndAsk(t, tracker, '127.0.0.5'),
  ]

  const next = await openAndAsk(t, tracker, '127.0.0.6')

  await silent.closed
  for (const peer of [used, ...others, next]) assert.equal(await ask(peer), 'HTTP/1.1 200')
})

test('idle connections beyond any number keep nobody out', async (t) => {
  const tracker = await startTracker(t, { drainMsMax: 50, connectionsMax: 50 })

  for (let count = 0; count < 300; count += 1) {
    await open(t, tracker, `127.0.1.${1 + (count % 100)}`)
  }

  assert.equal(await ask(await open(t, tracker, '127.0.0.2')), 'HTTP/1.1 200')
})

test('a request under way is never cut for a new connection: where all are at work the new one is dropped', async (t) => {
  const tracker = await startTracker(t, { drainMsMax: 50, connectionsMax: 3 })
  const busy = [
    await openAndAsk(t, tracker, '127.0.0.2'),
    await openAndAsk(t, tracker, '127.0.0.3'),
    await openAndAsk(t, tracker, '127.0.0.4'),
  ]
  for (const { socket } of busy) {
    const seen = once(tracker.server, 'request')
    socket.write(halfABody)
    await seen
  }

  const beyond = await open(t, tracker, '127.0.0.5')

  await beyond.closed
  for (const { socket } of busy) assert.equal(socket.destroyed, false)
})

test('one network takes its share at most, of which its own idle ones go first', async (t) => {
  const tracker = await startTracker(t, { drainMsMax: 50, connectionsMax: 100 })
  const share = limits.perNetworkMin + 2
  const other = await open(t, tracker, '127.0.0.2')
  const crowd: Peer[] = []
  for (let count = 0; count < share + 1; count += 1) {
    crowd.push(await openAndAsk(t, tracker, '127.0.0.3'))
  }

  await crowd[0]?.closed
  assert.deepEqual(
    crowd.slice(1).map(({ socket }) => socket.destroyed),
    crowd.slice(1).map(() => false)
  )
  assert.equal(await ask(other), 'HTTP/1.1 200')
})

test('behind a proxy, where all connections have one address, only their number in all is bounded', async (t) => {
  const tracker = await startTracker(t, { drainMsMax: 50, connectionsMax: 100, trustProxy: true })
  const crowd: Peer[] = []
  for (let count = 0; count < 90; count += 1) crowd.push(await open(t, tracker, '127.0.0.2'))

  for (const peer of crowd) assert.equal(await ask(peer), 'HTTP/1.1 200')
})

test('over TLS a connection at work stays as well', async (t) => {
  const { cert, key } = makeCertificate()
  const tracker = await startTracker(t, { drainMsMax: 50, connectionsMax: 2, tls: { cert, key } })
  const busy = connectTls({ port: tracker.port, host: '127.0.0.1', rejectUnauthorized: false })
  t.after(() => busy.destroy())
  busy.on('error', () => undefined)
  const seen = once(tracker.server, 'request')
  busy.write(halfABody)
  await seen
  const silent = await open(t, tracker, '127.0.0.2')

  const next = await open(t, tracker, '127.0.0.3')

  await silent.closed
  assert.equal(busy.destroyed, false)
  assert.equal(next.socket.destroyed, false)
})

test('one network has a tenth of the connections, and never so few that a browser waits', () => {
  assert.deepEqual(boundConnections(400, false), { connectionsMax: 400, perNetworkMax: 40 })
  assert.deepEqual(boundConnections(10_000, false), {
    connectionsMax: 10_000,
    perNetworkMax: 1_000,
  })
  assert.deepEqual(boundConnections(40, false), { connectionsMax: 40, perNetworkMax: 8 })
  assert.deepEqual(boundConnections(400, true), { connectionsMax: 400, perNetworkMax: null })
})

test('over TLS every answer tells browsers to come by nothing else, and without TLS none does', async (t) => {
  const { cert, key } = makeCertificate()
  const tracker = await startTracker(t, { drainMsMax: 50, tls: { cert, key } })
  const plain = await startTracker(t)

  for (const path of ['/healthz', '/nowhere', `/click/${tracker.mint()}`, '/impression/x']) {
    const request = get({ host: '127.0.0.1', port: tracker.port, path, rejectUnauthorized: false })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    response.resume()

    assert.equal(response.headers['strict-transport-security'], 'max-age=31536000', path)
    const { headers } = await plain.send('GET', path)
    assert.equal(headers['strict-transport-security'], undefined)
  }
  const noHttp = connectTls({ port: tracker.port, rejectUnauthorized: false })
  noHttp.end('no HTTP\r\n\r\n')
  assert.match(
    await textOf(noHttp),
    /^HTTP\/1\.1 400 [^]*strict-transport-security: max-age=31536000\r\n/
  )
})

const keepAliveMs = 75_000
const checkMs = 5_000

/** What the port does every five seconds, over a connection of its own. */
async function startIdling(t: TestContext, tls?: { readonly cert: Buffer; readonly key: Buffer }) {
  const connections = new Connections(boundConnections(100, false), () => undefined)
  const held: ServerResponse[] = []
  const listener: RequestListener = (request, response) => {
    if (request.url === '/held') held.push(response)
    else response.end('{}')
  }
  const server = tls === undefined ? createServer(listener) : createHttpsServer(tls, listener)
  server.keepAliveTimeout = 0
  connections.watch(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    connections.closeAll()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  let nowMs = 0
  /** Lets time pass, with a check every five seconds; true if the connection stayed. */
  const pass = async (ms: number): Promise<boolean> => {
    // Over TLS an answer is there a little before its server knows that it has left.
    await someTurns()
    for (const endMs = nowMs + ms; nowMs < endMs;) {
      nowMs += checkMs
      connections.closeIdle({ nowMs, idleMsMax: keepAliveMs })
    }
    await someTurns()
    const counted = await promisify(server.getConnections.bind(server))()
    return counted === 1
  }
  return { port, pass, held }
}

async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
}

for (const kind of ['plain', 'TLS'] as const) {
  test(`${kind}: a connection by which nothing comes is closed after the idle time, and no earlier`, async (t) => {
    const tls = kind === 'TLS' ? makeCertificate() : undefined
    const { port, pass, held } = await startIdling(t, tls)
    const socket =
      tls === undefined
        ? connect(port, '127.0.0.1')
        : connectTls({ port, host: '127.0.0.1', ca: tls.cert, servername: 'localhost' })
    t.after(() => socket.destroy())
    const closed = once(socket, 'close')
    await once(socket, tls === undefined ? 'connect' : 'secureConnect')
    socket.write(health)
    await once(socket, 'data')

    assert.equal(await pass(keepAliveMs), true)
    socket.write(health)
    await once(socket, 'data')
    assert.equal(await pass(keepAliveMs), true, 'a request begins the time anew')
    socket.write('GET /held HTTP/1.1\r\nhost: x\r\n\r\n')
    while (held.length === 0) await new Promise(setImmediate)
    assert.equal(await pass(10 * keepAliveMs), true, 'an answer that is owed keeps it open')
    held[0]?.end('{}')
    await once(socket, 'data')
    assert.equal(await pass(keepAliveMs - checkMs), true, 'an answer begins the time anew')

    await pass(checkMs)
    await closed
  })
}
