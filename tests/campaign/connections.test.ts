// Real sockets from several addresses of loopback, each a network of its own.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { limits } from '../../src/http/connections.ts'
import { bearer, startHarness } from './harness.ts'

const health = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'
const halfABody =
  'POST /v2/advertisers/1/reports/spa/product.csv HTTP/1.1\r\nhost: x\r\n' +
  `authorization: ${bearer('K1').authorization}\r\ncontent-length: 100\r\n\r\n{`

interface Peer {
  readonly socket: Socket
  readonly closed: Promise<unknown>
}

async function start(t: TestContext, bounds: { connectionsMax: number; trustProxy?: boolean }) {
  const { app } = startHarness({ drainMsMax: 50, ...bounds })
  t.after(() => app.close())
  const url = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const open = async (localAddress: string): Promise<Peer> => {
    const socket = connect({ port: Number(url.port), host: '127.0.0.1', localAddress })
    socket.on('error', () => undefined)
    socket.resume()
    const closed = once(socket, 'close')
    t.after(() => socket.destroy())
    await once(socket, 'connect')
    return { socket, closed }
  }
  return { server: app.server, open }
}

/** An answer shows that the server has seen the connection and all that were opened before it. */
async function ask({ socket }: Peer): Promise<string> {
  const answer: Promise<unknown[]> = once(socket, 'data')
  socket.write(health)
  return String((await answer)[0]).slice(0, 12)
}

test('connections that ask for nothing keep nobody out, from however many addresses', async (t) => {
  const { open } = await start(t, { connectionsMax: 20 })
  for (let count = 0; count < 100; count += 1) await open(`127.0.1.${1 + count}`)

  assert.equal(await ask(await open('127.0.0.2')), 'HTTP/1.1 200')
})

test('one network takes its share of unfinished requests at most, and all others go on', async (t) => {
  const { server, open } = await start(t, { connectionsMax: 100 })
  const share = limits.perNetworkMin + 2
  const other = await open('127.0.0.2')
  const busy: Peer[] = []
  for (let count = 0; count < share; count += 1) {
    const peer = await open('127.0.0.3')
    const seen = once(server, 'request')
    peer.socket.write(halfABody)
    await seen
    busy.push(peer)
  }

  const beyond = await open('127.0.0.3')

  await beyond.closed
  assert.ok(busy.every(({ socket }) => !socket.destroyed))
  assert.equal(await ask(other), 'HTTP/1.1 200')
  assert.equal(await ask(await open('127.0.0.4')), 'HTTP/1.1 200')
})

test('behind a proxy, where all connections have one address, only their number in all is bounded', async (t) => {
  const { open } = await start(t, { connectionsMax: 100, trustProxy: true })
  const crowd: Peer[] = []
  for (let count = 0; count < 90; count += 1) crowd.push(await open('127.0.0.2'))

  for (const peer of crowd) assert.equal(await ask(peer), 'HTTP/1.1 200')
})

test('what never came so far as to be HTTP holds up no end of the port', async (t) => {
  const { app } = startHarness({ drainMsMax: 50 })
  const url = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const socket = connect(Number(url.port), '127.0.0.1')
  socket.on('error', () => undefined)
  t.after(() => socket.destroy())
  const closed = once(socket, 'close')
  await once(socket, 'connect')

  await app.close()

  await closed
})
