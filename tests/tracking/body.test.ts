import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { BodyReader, limits } from '../../src/tracking/body.ts'
import { aConversion, messagesOf, startTracker } from './fixture.ts'

const valid = JSON.stringify(aConversion())
const mebibyte = 1_048_576

test('a body of exactly 1 MiB is taken, one byte more is 413 and not stored', async (t) => {
  const tracker = await startTracker(t)
  const exact = valid.padEnd(mebibyte, ' ')

  const taken = await tracker.send('POST', '/conversion', { body: exact })
  const refused = await tracker.send('POST', '/conversion', { body: `${exact} ` })

  assert.equal(taken.status, 200)
  assert.equal(refused.status, 413)
  assert.match(messagesOf(refused).join(), /1 MiB/)
  assert.equal(tracker.records().length, 1)
})

test('11 MB of JSON are answered 413 with a readable body, and the connection serves on', async (t) => {
  const tracker = await startTracker(t)
  const body = JSON.stringify(aConversion({ extra: 'x'.repeat(11_000_000) }))
  const next = `POST /conversion HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${valid.length}\r\n\r\n${valid}`

  const answers = await tracker.raw(
    `POST /conversion HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}${next}`,
    5_000
  )

  assert.match(answers, /^HTTP\/1\.1 413 [\s\S]*\{"messages":\[[\s\S]*HTTP\/1\.1 200 [\s\S]*\{\}$/)
  assert.equal(tracker.records().length, 1)
})

test('the links refuse a body over 1 MiB too, and count nothing', async (t) => {
  const tracker = await startTracker(t)
  const token = tracker.mint()

  for (const method of ['POST', 'GET']) {
    const headers = { 'content-length': String(mebibyte + 1) }
    const body = Buffer.alloc(mebibyte + 1)
    const reply = await tracker.send(method, `/impression/${token}`, { headers, body })
    assert.equal(reply.status, 413)
    assert.ok(messagesOf(reply).length > 0)
  }
  assert.equal(tracker.records().length, 0)
})

test('a length beyond reading on is refused at once and the connection ends', async (t) => {
  const tracker = await startTracker(t)

  for (const path of ['/conversion', `/impression/${tracker.mint()}`]) {
    const answer = await tracker.raw(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n{`
    )
    assert.match(answer, /^HTTP\/1\.1 413 [\s\S]*connection: close[\s\S]*\{"messages":\[/i)
  }
  assert.equal(tracker.records().length, 0)
})

test(
  'an endless chunked body is cut off, and the port serves on',
  { timeout: 30_000 },
  async (t) => {
    const tracker = await startTracker(t)
    const socket = connect(tracker.port, '127.0.0.1')
    socket.on('error', () => undefined)
    const chunk = `100000\r\n${'x'.repeat(mebibyte)}\r\n`
    socket.write('POST /conversion HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    let sentChunks = 0
    socket.resume()

    while (!socket.destroyed && sentChunks < 200) {
      sentChunks += 1
      const drained = new Promise<void>((resolve) => socket.once('drain', () => resolve()))
      if (!socket.write(chunk)) await Promise.race([drained, closed])
    }
    await closed

    assert.ok(sentChunks < 100, `${sentChunks} MiB were taken`)
    const reply = await tracker.send('POST', '/conversion', { body: valid })
    assert.equal(reply.status, 200)
  }
)

test('a chunked body is read whole, in whatever pieces it comes', async (t) => {
  const tracker = await startTracker(t)
  const pieces = Array.from(valid, (char) => `1\r\n${char}\r\n`).join('')

  const answer = await tracker.raw(
    `POST /conversion HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n` +
      `${pieces}0\r\n\r\n`
  )

  assert.match(answer, /^HTTP\/1\.1 200 /)
  assert.equal(tracker.records().length, 1)
})

test('a body that breaks off stores nothing and harms nobody', async (t) => {
  const tracker = await startTracker(t)
  const token = tracker.mint()

  for (const path of ['/conversion', `/impression/${token}`]) {
    const socket = connect(tracker.port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n${valid}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
    socket.resetAndDestroy()
    await once(socket, 'close')
  }

  const reply = await tracker.send('POST', `/impression/${token}`)
  assert.equal(reply.status, 200)
  assert.equal(tracker.records().length, 1)
})

test('a sender that expects 100-continue gets it, or 413 instead of it', async (t) => {
  const tracker = await startTracker(t)
  const head =
    'POST /conversion HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nConnection: close\r\n'

  const taken = await tracker.raw(`${head}Content-Length: ${valid.length}\r\n\r\n${valid}`)
  const refused = await tracker.raw(`${head}Content-Length: 50000000\r\n\r\n`)
  const unknown = await tracker.raw(
    `POST /conversion HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`
  )

  assert.match(taken, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /)
  assert.match(refused, /^HTTP\/1\.1 413 [\s\S]*"messages"/)
  assert.match(unknown, /^HTTP\/1\.1 417 [\s\S]*"messages"/)
})

for (const [target, status] of [
  ['POST /conversion', 413],
  ['POST /return', 413],
  ['POST /nowhere', 404],
  ['PUT /conversion', 405],
  ['PUT /return', 405],
  ['POST /impression/', 404],
  ['POST /healthz', 405],
  ['POST /%', 400],
] as const) {
  test(`${target} that expects 100-continue is answered ${status} at once, and the body is not asked for`, async (t) => {
    const tracker = await startTracker(t)
    const head = `${target} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: ${mebibyte + 1}\r\n\r\n`

    const answer = await tracker.raw(head)

    assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} [^]*\\r\\nconnection: close\\r\\n`, 'i'))
    assert.match(answer, /"messages"/)
    assert.equal(tracker.records().length, 0)
  })
}

test('a link that expects 100-continue for a body above 1 MiB is answered 413 at once', async (t) => {
  const tracker = await startTracker(t)
  const head = `POST /click/${tracker.mint()} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n`

  const answer = await tracker.raw(`${head}Content-Length: ${mebibyte + 1}\r\n\r\n`)

  assert.match(answer, /^HTTP\/1\.1 413 /)
  assert.equal(tracker.records().length, 0)
})

test('a body of exactly 1 MiB is asked for, and so is one of unknown length and one of a link', async (t) => {
  const tracker = await startTracker(t)
  const rest = 'HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nConnection: close\r\n'
  const exact = valid.padEnd(mebibyte, ' ')
  const chunked = `${valid.length.toString(16)}\r\n${valid}\r\n0\r\n\r\n`
  const requests = [
    `POST /conversion ${rest}Content-Length: ${mebibyte}\r\n\r\n${exact}`,
    `POST /conversion ${rest}Transfer-Encoding: chunked\r\n\r\n${chunked}`,
    `POST /impression/${tracker.mint()} ${rest}Content-Length: ${mebibyte}\r\n\r\n${exact}`,
  ]

  for (const each of requests) {
    assert.match(await tracker.raw(each), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /)
  }
  assert.equal(tracker.records().length, 3)
})

test('bodies that would not fit into memory together are refused with 503', async (t) => {
  const tracker = await startTracker(t, { trustProxy: true })
  const large = valid.padEnd(1_000_000, ' ')
  let statuses: readonly string[] = []
  let taken = 0

  // How long the bodies take to arrive hangs on the machine; a slow one gets more time.
  for (const pauseMs of [500, 2_000, 6_000]) {
    statuses = await sendTogether(tracker.port, { body: large, count: 70, pauseMs })
    taken += statuses.filter((status) => status === '200').length
    if (statuses.includes('503')) break
  }

  const refused = statuses.filter((status) => status === '503').length
  assert.ok(statuses.every((status) => status === '200' || status === '503'))
  assert.ok(refused >= 1 && refused <= 18, `${refused} refused`)
  assert.equal(tracker.records().length, taken)
  const after = await tracker.send('POST', '/conversion', { body: large })
  assert.equal(after.status, 200)
})

test('the bodies of one network take a part of the room, and another network is heard meanwhile', async (t) => {
  const tracker = await startTracker(t)
  const large = valid.padEnd(1_000_000, ' ')

  const crowd = sendTogether(tracker.port, { body: large, count: 40, pauseMs: 2_000 })
  const other = request({
    host: '127.0.0.1',
    port: tracker.port,
    localAddress: '127.0.0.2',
    method: 'POST',
    path: '/conversion',
  })
  other.end(large)
  const [response] = (await once(other, 'response')) as [IncomingMessage]
  response.resume()

  assert.equal(response.statusCode, 200)
  const refused = (await crowd).filter((status) => status === '503').length
  assert.ok(refused >= 40 - limits.networkBytesMax / 1_000_000, `${refused} refused`)
})

/** Sends all bodies but for the last byte of each, pauses, and then ends them all. */
async function sendTogether(
  port: number,
  { body, count, pauseMs }: { body: string; count: number; pauseMs: number }
): Promise<readonly string[]> {
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1'))
  const head = `POST /conversion HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`
  const answers = sockets.map(async (socket) => {
    let answer = ''
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()))
    await once(socket, 'close')
    return answer
  })
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise<void>((resolve) => {
          socket.write(head + body.slice(0, -1), () => resolve())
        })
    )
  )
  await new Promise((resolve) => setTimeout(resolve, pauseMs))
  for (const socket of sockets) socket.write(' ')
  return (await Promise.all(answers)).map((answer) => answer.slice(9, 12))
}

test('gzip bodies that wait to be inflated are counted, and those beyond the bound are told to come again', async () => {
  const reader = new BodyReader({ networkOf: () => null })
  const bytes = gzipSync(randomBytes(limits.bodyBytesMax - 1_024), { level: 0 })

  const outcomes = await Promise.all(
    Array.from({ length: 70 }, async () => {
      return await new Promise<string>((resolve) => {
        reader.inflate(bytes, ({ outcome }) => resolve(outcome))
      })
    })
  )

  // 64 MiB less the 8 that inflating itself may take, besides the four that need not wait.
  assert.equal(outcomes.filter((outcome) => outcome === 'whole').length, 60)
  assert.equal(outcomes.filter((outcome) => outcome === 'busy').length, 10)
})
