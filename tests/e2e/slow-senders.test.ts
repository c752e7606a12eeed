// Senders that hold on to what they were given: heads and bodies that never end, connections without
// number, packets behind a broken head. Both ports, real sockets; the bounds are the servers' own, set lower for the time of a test.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { limits as campaignLimits } from '../../src/campaign/app.ts'
import { uploadLimits } from '../../src/campaign/body.ts'
import { limits as trackingLimits } from '../../src/tracking/server.ts'
import { bearer, startHarness } from '../campaign/harness.ts'
import { startTracker } from '../tracking/fixture.ts'

interface Port {
  readonly server: Server
  readonly port: number
}

const reportPath = '/v2/advertisers/1/reports/spa/product.csv'

type Open = (t: TestContext) => Promise<Port>

const openTracking: Open = async (t) => {
  const { server, port } = await startTracker(t)
  return { server, port }
}

const openCampaign: Open = async (t) => {
  const { app } = startHarness()
  t.after(() => app.close())
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  return { server: app.server, port: Number(new URL(url).port) }
}

const ports: readonly (readonly [string, Open, string])[] = [
  ['tracking', openTracking, '/conversion'],
  ['campaign', openCampaign, reportPath],
]

async function open(t: TestContext, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

/** All that comes until the server closes. */
async function readToEnd(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  await once(socket, 'close')
  return text
}

async function askHealth(port: number): Promise<number> {
  return (await fetch(`http://127.0.0.1:${port}/healthz`)).status
}

for (const [name, openPort, path] of ports) {
  test(`${name}: a head that never ends is answered 408 once its time is over, and the connection ends`, async (t) => {
    const { server, port } = await openPort(t)
    server.headersTimeout = 50
    const socket = await open(t, port)

    socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\nx-slow: `)

    const answer = await readToEnd(socket)
    assert.match(answer, /^HTTP\/1\.1 408 [^]*\{"messages":\["[^"]+"\]\}$/)
    assert.equal(await askHealth(port), 200)
  })

  test(`${name}: connections beyond the bound are dropped, and one that ends makes room`, async (t) => {
    const { server, port } = await openPort(t)
    server.maxConnections = 3
    const held = await Promise.all(Array.from({ length: 3 }, () => open(t, port)))

    const beyond = connect(port, '127.0.0.1')
    beyond.on('error', () => {})
    assert.equal(await readToEnd(beyond), '')

    const [first] = held
    assert.ok(first !== undefined)
    first.write('GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
    assert.match(await readToEnd(first), /^HTTP\/1\.1 200 /)
    const next = await open(t, port)
    next.write('GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
    assert.match(await readToEnd(next), /^HTTP\/1\.1 200 /)
  })

  // A head of many packets is broken by each of them.
  test(`${name}: what comes behind a broken head does not cut the answer to it`, async (t) => {
    const { server, port } = await openPort(t)
    const accepted = once(server, 'connection')
    const socket = await open(t, port)
    const [serverSide] = (await accepted) as [Socket]
    const answered = readToEnd(socket)

    for (let count = 0; count < 3; count += 1) {
      server.emit('clientError', new Error('broken'), serverSide)
      assert.equal(serverSide.destroyed, false)
    }

    assert.match(await answered, /^HTTP\/1\.1 400 [^]*\{"messages":\["[^"]+"\]\}$/)
  })

  test(`${name}: hundreds of senders that stop half-way keep nobody else waiting`, async (t) => {
    const { port } = await openPort(t)
    const sockets = await Promise.all(Array.from({ length: 300 }, () => open(t, port)))
    for (const [index, socket] of sockets.entries()) {
      const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n{"a":`
      socket.write(head.slice(0, index % 3 === 0 ? undefined : 10 + (index % 40)))
    }

    for (let count = 0; count < 20; count += 1) assert.equal(await askHealth(port), 200)
  })
}

test('tracking: a body that never ends is answered 408 once its time is over, and nothing is stored', async (t) => {
  const tracker = await startTracker(t)
  // Node takes the smaller of the two for the head, whichever it was set as.
  tracker.server.headersTimeout = 50
  tracker.server.requestTimeout = 50
  const socket = await open(t, tracker.port)

  socket.write('POST /conversion HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"user_id":')

  assert.match(await readToEnd(socket), /^HTTP\/1\.1 408 /)
  assert.equal(tracker.records().length, 0)
})

test('campaign: a body that never ends breaks its connection once its time is over', async (t) => {
  const { port } = await openCampaign(t)
  const socket = await open(t, port)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { authorization } = bearer('K1')

  // The server asks for the body in the same turn in which it begins to read it.
  socket.write(
    `POST ${reportPath} HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n` +
      'content-length: 100\r\nexpect: 100-continue\r\n\r\n'
  )
  const [first] = await once(socket, 'data')
  socket.resume()
  socket.write('{"startDate":')
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  t.mock.timers.tick(uploadLimits.wholeMsMax)
  t.mock.timers.reset()

  assert.match(String(first), /^HTTP\/1\.1 100 /)
  await closed
})

test('every wait and every number of a port has a bound', () => {
  for (const { connectionsMax, headerBytesMax, headersMs, timeoutCheckMs } of [
    trackingLimits,
    campaignLimits,
  ]) {
    assert.ok(connectionsMax <= 10_000)
    assert.ok(headerBytesMax <= 65_536)
    assert.ok(headersMs <= 120_000)
    assert.ok(timeoutCheckMs <= 10_000)
  }
  assert.ok(trackingLimits.requestMs <= 120_000)
  assert.ok(uploadLimits.wholeMsMax <= 120_000 && uploadLimits.streamIdleMsMax <= 120_000)
})
