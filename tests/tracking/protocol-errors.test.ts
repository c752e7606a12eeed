import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { isRefusalCode, refusalKinds } from '../../src/contract/refusal-codes.ts'
import { aConversion, startTracker } from './fixture.ts'

const valid = JSON.stringify(aConversion())

for (const [fault, bytes, status] of [
  ['no HTTP', 'hello\r\n\r\n', 400],
  ['a TLS greeting', Buffer.from('16030100c8010000c40303', 'hex'), 400],
  ['an unknown method', 'BREW /conversion HTTP/1.1\r\nHost: x\r\n\r\n', 400],
  ['a blank in the path', 'GET /click/a b HTTP/1.1\r\nHost: x\r\n\r\n', 400],
  ['a broken header', 'GET / HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n', 400],
  ['no Host', 'GET /healthz HTTP/1.1\r\n\r\n', 400],
  ['two Hosts', 'GET /healthz HTTP/1.1\r\nHost: x\r\nhoST: y\r\n\r\n', 400],
  ['the same Host twice', 'GET /healthz HTTP/1.0\r\nHost: x\r\nHost: x\r\n\r\n', 400],
  [
    'a coding beside chunks',
    'POST /conversion HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  [
    'two lengths',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na',
    400,
  ],
  [
    'length and chunks, the smuggling pair',
    'POST /conversion HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  [
    'a broken chunk',
    'POST /conversion HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    400,
  ],
  ['headers of 40 KB', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(40_000)}\r\n\r\n`, 431],
  ['a path of 40 KB', `GET /click/${'y'.repeat(40_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
  ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n', 405],
] as const) {
  test(`${fault} is answered ${status} with messages and the connection ends`, async (t) => {
    const tracker = await startTracker(t)

    const answer = await tracker.raw(bytes, 4_000)

    assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `))
    assert.match(answer, /content-type: application\/json\r\n/i)
    assert.match(answer, /\r\n\r\n\{"messages":\["[^"]+"\]\}$/)
    assert.match(answer, /connection: close\r\n/i)
    const code = /\r\nshelftrace-error-code: (\w+)\r\n/.exec(answer)?.[1] ?? ''
    assert.ok(isRefusalCode(code) && refusalKinds[code].status === status, code)
  })
}

test('a token of 4 KiB with every character escaped fits into the request line', async (t) => {
  const tracker = await startTracker(t)
  const path = `/impression/${'%41'.repeat(5_464)}`

  const reply = await tracker.send('POST', path)

  assert.equal(reply.status, 400)
  assert.match(reply.text, /tracking data/)
})

test('an upgrade is not taken up: the request is answered as it stands', async (t) => {
  const tracker = await startTracker(t)

  const answer = await tracker.raw(
    'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
  )

  assert.match(answer, /^HTTP\/1\.1 200 /)
})

test('HTTP/1.0 is answered, without a Host header, and the connection ends', async (t) => {
  const tracker = await startTracker(t)

  const answer = await tracker.raw(
    `POST /conversion HTTP/1.0\r\nContent-Length: ${valid.length}\r\n\r\n${valid}`
  )

  assert.match(answer, /^HTTP\/1\.1 200 [\s\S]*\{\}$/)
  assert.equal(tracker.records().length, 1)
})

test('pipelined requests are answered in their order, and each is stored', async (t) => {
  const tracker = await startTracker(t)
  const link = (kind: string, method: string): string =>
    `${method} /${kind}/${tracker.mint()} HTTP/1.1\r\nHost: x\r\n`

  const answer = await tracker.raw(
    `${link('impression', 'POST')}\r\n${link('click', 'GET')}\r\n` +
      `POST /impression/forged HTTP/1.1\r\nHost: x\r\n\r\n` +
      `${link('load', 'POST')}Connection: close\r\n\r\n`
  )

  const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1])
  assert.deepEqual(statuses, ['200', '302', '400', '200'])
  assert.equal(tracker.records().length, 3)
})

test('junk behind a request that waits for its answer is never taken for that answer', async (t) => {
  const tracker = await startTracker(t)

  const answer = await tracker.raw(
    `POST /impression/${tracker.mint()} HTTP/1.1\r\nHost: x\r\n\r\njunk junk\r\n\r\n`
  )

  assert.match(answer, /^HTTP\/1\.1 200 [\s\S]*connection: close[\s\S]*\{\}$/i)
  assert.equal(tracker.records().length, 1)
})

test('a connection that says nothing, or half of something, stops nobody', async (t) => {
  const tracker = await startTracker(t)
  const sockets = ['', 'POST /conv', 'POST /conversion HTTP/1.1\r\nHost: x\r\n'].map((text) => {
    const socket = connect(tracker.port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(text)
    return socket
  })
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))

  const reply = await tracker.send('POST', '/conversion', { body: valid })

  assert.equal(reply.status, 200)
  for (const socket of sockets) socket.destroy()
})

// Guarantee: no input of any kind causes a 5xx or ends the process.
test('whatever is sent, no answer is a 5xx, every refusal has messages, and the port lives on', async (t) => {
  const tracker = await startTracker(t)
  const token = tracker.mint()
  const path = fc.oneof(
    fc.webPath(),
    fc.stringMatching(/^\/(impression|click|load)\/[!-~]{0,60}$/),
    fc.constant(`/impression/${token}`),
    fc.constant('/conversion')
  )
  const anyRequest = fc
    .record({
      method: fc.constantFrom('GET', 'POST', 'PUT', 'HEAD', 'OPTIONS', 'PATCH', 'QUERY', 'get'),
      path,
      version: fc.constantFrom('1.1', '1.0', '1.1', '2.0', '0.9'),
      headers: fc.array(fc.tuple(fc.stringMatching(/^[a-z-]{1,20}$/), fc.string()), {
        maxLength: 4,
      }),
      body: fc.oneof(fc.string(), fc.json(), fc.constant(valid)),
      encoding: fc.constantFrom('', 'content-encoding: gzip\r\n', 'expect: 100-continue\r\n'),
    })
    .map(({ method, path: target, version, headers, body, encoding }) => {
      const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
      const length = `content-length: ${Buffer.byteLength(body)}\r\n`
      return Buffer.from(
        `${method} ${target} HTTP/${version}\r\nhost: x\r\nconnection: close\r\n${lines}${encoding}${length}\r\n${body}`
      )
    })
  const anyBytes = fc.oneof(
    anyRequest,
    anyRequest,
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes))
  )

  await fc.assert(
    fc.asyncProperty(anyBytes, async (bytes) => {
      const answer = await tracker.raw(bytes, 150)
      for (const [, status = ''] of answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
        assert.ok(Number(status) < 500, answer)
      }
      if (answer.startsWith('HTTP/1.1 4') && !bytes.toString('latin1').startsWith('HEAD')) {
        assert.match(answer, /"messages":\[/)
      }
    }),
    { numRuns: 150 }
  )

  const reply = await tracker.send('GET', '/healthz')
  assert.equal(reply.status, 200)
  assert.deepEqual(
    tracker.logged.filter(({ level }) => level !== 'debug'),
    []
  )
})
