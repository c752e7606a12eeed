// What only a real socket shows: whole answers, callers that go away, slots.
import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'node:test'
import { ServiceError } from '../../src/errors.ts'
import type { ReportCall, ReportResult } from '../../src/reports/report.ts'
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

const rowCount = 500
const whole: ReportResult = {
  totalRows: rowCount,
  completeThrough: null,
  unconvertedCount: 0,
  rows: Array.from({ length: rowCount }, () => aRow()),
}

const down = new ServiceError('WAREHOUSE_UNAVAILABLE', 'the engine is away')

test('rows that fail are a proper error answer, not an empty or a cut file', async (t) => {
  const { url, log } = await listen(t, { runReport: () => Promise.reject(down) })

  const response = await answerTo(send(url))
  const text = Buffer.concat(await response.toArray()).toString()

  assert.equal(response.statusCode, 503)
  assert.match(text, /"messages"/)
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
  assert.equal(response.headers['content-disposition'], undefined)
  assert.equal(log.lines().filter(({ level }) => Number(level) >= 50).length, 1)
})

test('a report is sent with its length, so that every client tells a cut file from a whole one', async (t) => {
  const { url } = await listen(t, { runReport: () => Promise.resolve(whole) })

  const response = await answerTo(send(url))
  const bytes = Buffer.concat(await response.toArray())

  assert.equal(response.headers['content-length'], String(bytes.length))
  assert.equal(bytes.toString().split('\r\n').length, rowCount + 2)
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

test('closing finishes the report under way and refuses what comes behind it', async (t) => {
  const called = new EventEmitter()
  const finished = once(called, 'finish')
  const { url, app } = await listen(t, {
    runReport: async () => {
      called.emit('call')
      await finished
      return whole
    },
  })
  const call = once(called, 'call')
  const answering = answerTo(send(url))
  await call

  const closed = app.close()
  await delay(20)
  const late = await app.inject({ url: '/healthz' }).catch(() => null)
  called.emit('finish')
  const text = Buffer.concat(await (await answering).toArray()).toString()
  await closed

  assert.equal(text.split('\r\n').length, rowCount + 2)
  assert.ok(late === null || late.statusCode === 503)
})

test('a close that nobody lets end is over after its time', { timeout: 60_000 }, async (t) => {
  const called = new EventEmitter()
  const { url, app } = await listen(t, {
    runReport: ({ signal }) => {
      called.emit('call')
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(down))
      })
    },
    drainMsMax: 100,
  })
  const call = once(called, 'call')
  const sent = send(url)
  await call
  const closed = new Promise<void>((resolve) => sent.once('close', () => resolve()))

  await app.close()

  await closed
})
