import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { Agent, request } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { ServiceError } from '../../src/errors.ts'
import { openMemorySpool } from '../helpers/memory-spool.ts'
import type { Spool } from '../../src/spool/spool.ts'
import { createTrackingServer, limits } from '../../src/tracking/server.ts'
import { makeCertificate } from '../helpers/certificate.ts'
import { aConversion, messagesOf, nowMs, startTracker } from './fixture.ts'

const valid = JSON.stringify(aConversion())
/** Fields of both, so that one body is a conversion at one path and a return at the other. */
const conversionAndReturn = JSON.stringify(aConversion({ return_id: 'r-1' }))

/** The memory spool, whose appends fail or wait as the test says. */
function aSpool(append: (store: () => Promise<void>) => Promise<void>): Spool {
  const spool = openMemorySpool({ clock: () => nowMs })
  return {
    append: (record) => append(() => spool.append(record)),
    read: (recordsMax) => spool.read(recordsMax),
    remove: (batch) => spool.remove(batch),
    depth: () => spool.depth(),
    close: () => spool.close(),
  }
}

function aGate(): { readonly gate: Promise<unknown>; readonly release: () => void } {
  const emitter = new EventEmitter()
  return { gate: once(emitter, 'open'), release: () => emitter.emit('open') }
}

// A board whose clock starts in 1970 or 1985 and was not set yet: the warehouse on it says the same.
for (const year of [1970, 1985, 2019, 2101]) {
  test(`while the clock says ${year}, nothing is acknowledged; once it is set, all is taken again`, async (t) => {
    const tracker = await startTracker(t)
    const token = tracker.mint()
    const body = { body: conversionAndReturn }
    const sendAll = async (): Promise<readonly number[]> => {
      const replies = [
        await tracker.send('POST', '/conversion', body),
        await tracker.send('POST', '/return', body),
        await tracker.send('POST', `/impression/${token}`),
        await tracker.send('GET', `/click/${token}`),
      ]
      return replies.map(({ status }) => status)
    }
    tracker.at.ms = Date.UTC(year, 5, 1)

    const unset = await sendAll()

    assert.deepEqual(unset, [503, 503, 503, 503])
    assert.equal(tracker.records().length, 0)
    tracker.at.ms = nowMs
    assert.deepEqual(await sendAll(), [200, 200, 200, 302])
    assert.equal(tracker.records().length, 4)
  })
}

for (const code of ['SPOOL_FULL', 'SPOOL_UNAVAILABLE'] as const) {
  test(`${code} is answered 503 with Retry-After and messages, never 200, and works again after`, async (t) => {
    let isFailing = true
    const spool = aSpool((store) =>
      isFailing ? Promise.reject(new ServiceError(code, 'secret detail')) : store()
    )
    const tracker = await startTracker(t, { spool })
    const token = tracker.mint()
    const calls = [
      ['POST', '/conversion'],
      ['POST', '/return'],
      ['POST', `/impression/${token}`],
      ['GET', `/click/${token}`],
    ] as const

    for (const [method, path] of calls) {
      const reply = await tracker.send(
        method,
        path,
        method === 'POST' ? { body: conversionAndReturn } : {}
      )
      assert.equal(reply.status, 503)
      assert.ok(Number(reply.headers['retry-after']) > 0)
      assert.ok(messagesOf(reply).length > 0)
      assert.doesNotMatch(reply.text, /secret/)
    }
    isFailing = false
    for (const [method, path] of calls) {
      const reply = await tracker.send(
        method,
        path,
        method === 'POST' ? { body: conversionAndReturn } : {}
      )
      assert.ok(reply.status < 400)
    }

    assert.equal(tracker.records().length, 4)
    const errors = tracker.logged.filter(({ level }) => level === 'error')
    assert.equal(errors.length, 1, 'a full disk is logged once a second, not once a request')
  })
}

test('no answer leaves before the record is on disk', async (t) => {
  const { gate, release } = aGate()
  const tracker = await startTracker(t, { spool: aSpool((store) => gate.then(store)) })
  let isAnswered = false

  const sending = tracker.send('POST', `/impression/${tracker.mint()}`).then((reply) => {
    isAnswered = true
    return reply
  })
  await tracker.send('GET', '/healthz')
  await new Promise((resolve) => setTimeout(resolve, 50))

  assert.equal(isAnswered, false)
  release()
  assert.equal((await sending).status, 200)
  assert.equal(tracker.records().length, 1)
})

test('a fault of ours is a bare 500 that tells nothing, and the process lives on', async (t) => {
  const tracker = await startTracker(t, {
    opener: {
      open: (): never => {
        throw new Error('secret detail')
      },
      openAll: (): never => {
        throw new Error('secret detail')
      },
    },
    hashIdentity: (): never => {
      throw new Error('secret detail')
    },
  })

  const link = await tracker.send('POST', '/impression/x', { body: 'beacon' })
  const conversion = await tracker.send('POST', '/conversion', { body: valid })
  const alive = await tracker.send('GET', '/healthz')

  for (const reply of [link, conversion]) {
    assert.equal(reply.status, 500)
    assert.doesNotMatch(reply.text, /secret/)
    assert.equal(messagesOf(reply).length, 1)
  }
  assert.equal(alive.status, 200)
})

test('the log holds route patterns and statuses, never a token, a path, an id or an address', async (t) => {
  const tracker = await startTracker(t)
  const token = tracker.mint()

  await tracker.send('POST', `/impression/${token}?q=canary`, {
    headers: { 'user-agent': 'canary', origin: 'https://canary.example' },
  })
  await tracker.send('GET', '/canary/path')
  await tracker.send('GET', '/click/canary%')
  await tracker.send('POST', '/conversion', {
    body: JSON.stringify(aConversion({ user_id: 'canary' })),
  })
  await new Promise((resolve) => setTimeout(resolve, 20))

  const lines = JSON.stringify(tracker.logged)
  assert.equal(tracker.logged.length, 4)
  assert.doesNotMatch(lines, /canary|127\.0\.0\.1/)
  assert.ok(!lines.includes(token.slice(0, 20)))
  assert.match(lines, /"route":"\/impression\/\{trackingData\}","method":"POST","status":200/)
})

test('a connection stays open for the next request well beyond a load balancer idle time', async (t) => {
  const tracker = await startTracker(t)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const ports = new Set<number | undefined>()

  for (let index = 0; index < 3; index++) {
    const sending = request({ port: tracker.port, method: 'POST', path: '/conversion', agent })
    sending.end(valid)
    const [response] = await once(sending, 'response')
    ports.add(response.socket.localPort)
    await buffer(response)
    assert.match(String(response.headers['keep-alive']), /timeout=7\d/)
  }

  assert.equal(ports.size, 1)
})

test('the timeouts of the server: idle above 60 s, heads and requests bounded well below', (t) => {
  assert.ok(limits.keepAliveMs > 60_000)
  const { server } = createTrackingServer({
    spool: openMemorySpool({ clock: Date.now }),
    opener: {
      open: () => ({ ok: false, reason: 'malformed' }),
      openAll: () => [],
    },
    hashIdentity: () => '',
    clock: Date.now,
    isReady: () => true,
    log: { isLevelEnabled: () => false, debug() {}, error() {} },
    trustProxy: false,
  })
  t.after(() => server.close())

  // A timer for each connection would be set twice for each request.
  assert.equal(server.keepAliveTimeout, 0)
  assert.ok(server.headersTimeout <= 20_000)
  assert.ok(server.requestTimeout >= server.headersTimeout && server.requestTimeout <= 60_000)
})

test('close answers what came in, ends idle connections and takes no new ones', async (t) => {
  const { gate, release } = aGate()
  const tracker = await startTracker(t, { spool: aSpool((store) => gate.then(store)) })
  const idle = connect(tracker.port, '127.0.0.1')
  await once(idle, 'connect')
  const idleClosed = once(idle, 'close')
  idle.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(idle, 'data')
  const pending = connect(tracker.port, '127.0.0.1')
  await once(pending, 'connect')
  let answer = ''
  pending.on('data', (chunk: Buffer) => (answer += chunk.toString()))
  pending.write(`POST /impression/${tracker.mint()} HTTP/1.1\r\nHost: x\r\n\r\n`)
  await new Promise((resolve) => setTimeout(resolve, 50))
  const pendingClosed = once(pending, 'close')

  const closed = tracker.close()
  await idleClosed
  release()
  await Promise.all([pendingClosed, closed])

  assert.match(answer, /^HTTP\/1\.1 200 /)
  assert.match(answer, /connection: close/i)
  assert.equal(tracker.records().length, 1)
  const late = connect(tracker.port, '127.0.0.1')
  const [refusal] = await once(late, 'error')
  assert.equal(refusal.code, 'ECONNREFUSED')
})

test(
  'close is bounded: a request that never ends does not hold it',
  { timeout: 60_000 },
  async (t) => {
    const tracker = await startTracker(t, { drainMsMax: 200 })
    const socket = connect(tracker.port, '127.0.0.1')
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    socket.write('POST /conversion HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{')
    await new Promise((resolve) => setTimeout(resolve, 50))

    await tracker.close()

    assert.equal(tracker.records().length, 0)
  }
)

test('with a certificate the port speaks HTTPS', async (t) => {
  const tls = makeCertificate()
  const tracker = await startTracker(t, { tls })

  const sending = httpsRequest({
    port: tracker.port,
    path: `/impression/${tracker.mint()}`,
    method: 'POST',
    ca: tls.cert,
    servername: 'localhost',
    agent: false,
  })
  sending.end()
  const [response] = await once(sending, 'response')

  assert.equal(response.statusCode, 200)
  assert.equal(tracker.records().length, 1)
})
