// What only a real socket shows: broken transfers, callers that go away, back-pressure, slots.
import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'node:test'
import { ServiceError } from '../../src/errors.ts'
import type { ReportCall, ReportResult, ReportRow } from '../../src/reports/report.ts'
import type { CampaignDeps } from '../../src/campaign/deps.ts'
import { aRow, bearer, startHarness } from './harness.ts'

const csvPath = '/v2/advertisers/1/reports/spa/product.csv'
const body = JSON.stringify({ startDate: '2026-03-01', endDate: '2026-03-31' })

type After = { after(close: () => Promise<void>): void }

async function listen(t: After, changes: Partial<CampaignDeps>) {
  const harness = startHarness(changes)
  const url = await harness.app.listen({ port: 0, host: '127.0.0.1' })
  t.after(() => harness.app.close())
  return { ...harness, url }
}

function send(url: string, key = 'K1') {
  const sent = request(`${url}${csvPath}`, { method: 'POST', headers: bearer(key), agent: false })
  sent.on('error', () => {})
  sent.end(body)
  return sent
}

async function answerTo(sent: ReturnType<typeof send>): Promise<IncomingMessage> {
  const [response]: IncomingMessage[] = await once(sent, 'response')
  assert.ok(response !== undefined)
  return response
}

function resultOf(rows: AsyncIterable<readonly ReportRow[]>): Promise<ReportResult> {
  return Promise.resolve({ totalRows: 9, completeThrough: null, unconvertedCount: 0, rows })
}

const down = new ServiceError('WAREHOUSE_UNAVAILABLE', 'the engine is away')
const block = Array.from({ length: 500 }, () => aRow())

async function* failing(): AsyncGenerator<readonly ReportRow[]> {
  await delay(1)
  if (block.length > 0) throw down
  yield block
}

async function* breaking(): AsyncGenerator<readonly ReportRow[]> {
  yield block
  await delay(20)
  throw down
}

async function* stuck(): AsyncGenerator<readonly ReportRow[]> {
  yield block
  await delay(60_000, undefined, { ref: false })
}

test('rows that fail at once are a proper error answer, not an empty file', async (t) => {
  const { url, log } = await listen(t, { runReport: () => resultOf(failing()) })

  const response = await answerTo(send(url))
  const text = Buffer.concat(await response.toArray()).toString()

  assert.equal(response.statusCode, 503)
  assert.match(text, /"messages"/)
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
  assert.equal(response.headers['content-disposition'], undefined)
  assert.equal(log.lines().filter(({ level }) => Number(level) >= 50).length, 1)
})

test('an error in mid-stream breaks the connection, says nothing in the file, and is logged once', async (t) => {
  const { url, log } = await listen(t, { runReport: () => resultOf(breaking()) })

  const response = await answerTo(send(url))
  const chunks: Buffer[] = []
  response.on('data', (chunk: Buffer) => chunks.push(chunk))

  await assert.rejects(once(response, 'end'), /aborted/)
  const text = Buffer.concat(chunks).toString()
  assert.equal(response.statusCode, 200)
  assert.equal(response.complete, false)
  assert.ok(text.startsWith('GTIN,') && !text.includes('messages') && !text.includes('engine'))
  await delay(20)
  const logged = log.lines().filter(({ level }) => Number(level) >= 40)
  assert.deepEqual(
    logged.map(({ msg }) => msg),
    ['an answer broke off']
  )
})

test('a caller that goes away before the first row stops the query', async (t) => {
  const calls = new EventEmitter()
  const { url, log } = await listen(t, {
    runReport: async (call) => {
      calls.emit('call', call)
      await once(call.signal, 'abort')
      throw down
    },
  })

  const called = once(calls, 'call')
  const sent = send(url)
  const [call]: ReportCall[] = await called
  assert.ok(call !== undefined)
  sent.destroy()
  await once(call.signal, 'abort')
  await delay(20)

  assert.equal(log.lines().filter(({ level }) => Number(level) >= 40).length, 0)
})

test('a caller that goes away in mid-stream stops the query and frees its slot', async (t) => {
  const rows = new EventEmitter()
  async function* endless(signal: AbortSignal): AsyncGenerator<readonly ReportRow[]> {
    try {
      while (!signal.aborted) {
        yield block
        await delay(1)
      }
    } finally {
      rows.emit('closed')
    }
  }
  const { url, log } = await listen(t, {
    runReport: ({ signal }) => resultOf(endless(signal)),
    reportsPerKeyMax: 1,
  })

  const closed = once(rows, 'closed')
  const sent = send(url)
  await answerTo(sent)
  sent.destroy()
  await closed
  const next = send(url)
  const response = await answerTo(next)
  next.destroy()

  assert.equal(response.statusCode, 200)
  assert.equal(log.lines().filter(({ level }) => Number(level) >= 40).length, 0)
})

test('a reader that takes nothing keeps the rows waiting in the warehouse', async (t) => {
  let blockCount = 0
  async function* many(): AsyncGenerator<readonly ReportRow[]> {
    for (; blockCount < 2_000; blockCount += 1) {
      yield block
      await delay(0)
    }
  }
  const { url } = await listen(t, { runReport: () => resultOf(many()) })

  const sent = send(url)
  const response = await answerTo(sent)
  response.pause()
  await delay(300)
  const countWhilePaused = blockCount
  sent.destroy()

  // 2,000 blocks are 130 MB; the sockets of both sides hold a few.
  assert.ok(countWhilePaused < 500, String(countWhilePaused))
})

test('a key has so many reports at once; another key goes on; a finished one makes room', async (t) => {
  const waiting: (() => void)[] = []
  async function* held(): AsyncGenerator<readonly ReportRow[]> {
    yield block
    await new Promise<void>((resolve) => waiting.push(resolve))
  }
  const { url } = await listen(t, { runReport: () => resultOf(held()), reportsPerKeyMax: 2 })
  const running = [send(url), send(url)]
  const first = await Promise.all(running.map(answerTo))

  const refused = await answerTo(send(url))
  refused.resume()
  const other = await answerTo(send(url, 'admin').on('error', () => {}))

  assert.equal(refused.statusCode, 429)
  assert.ok(Number(refused.headers['retry-after']) > 0)
  assert.equal(other.statusCode, 200)
  for (const resolve of waiting) resolve()
  await Promise.all([...first, other].map((response) => response.resume() && once(response, 'end')))
  assert.equal((await answerTo(send(url))).statusCode, 200)
  await delay(5)
  for (const resolve of waiting) resolve()
})

test('closing finishes the report under way and refuses what comes behind it', async (t) => {
  const finished = new EventEmitter()
  async function* held(): AsyncGenerator<readonly ReportRow[]> {
    yield block
    await once(finished, 'now')
    yield block
  }
  const { url, app } = await listen(t, { runReport: () => resultOf(held()) })
  const response = await answerTo(send(url))

  const closed = app.close()
  await delay(20)
  const late = await app.inject({ url: '/healthz' }).catch(() => null)
  finished.emit('now')
  const text = Buffer.concat(await response.toArray()).toString()
  await closed

  assert.equal(text.split('\r\n').length, 2 * block.length + 2)
  assert.ok(late === null || late.statusCode === 503)
})

test('a close that nobody lets end is over after its time', { timeout: 60_000 }, async (t) => {
  const { url, app } = await listen(t, { runReport: () => resultOf(stuck()), drainMsMax: 100 })
  const response = await answerTo(send(url))
  response.on('error', () => {})

  await app.close()

  assert.equal(response.complete, false)
})
