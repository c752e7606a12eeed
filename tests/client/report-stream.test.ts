// Reports that break off, fall silent, change, or are let go.
import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { test } from 'node:test'
import { answer, breakOff, hangUp, playScript } from '../helpers/scripted-server.ts'
import {
  clientOf,
  collect,
  csvHeaders,
  head,
  page,
  query,
  readToFailure,
  rows,
  rowText,
} from './harness.ts'

for (const end of ['reset', 'close'] as const) {
  test(`a report that breaks off in mid-stream (${end}) fails, at a row end or within a row, and is not tried again`, async (t) => {
    const whole = head + rows(0, 3)
    for (const begun of [whole, `${whole}12345,half`, `${whole}"half`, head, head.slice(0, 5)]) {
      const server = await playScript(t, breakOff(begun, csvHeaders(9), end))

      const { gtins, error } = await readToFailure(clientOf(server).report(1, query))

      assert.equal(error.code, 'ANSWER_BROKEN')
      assert.equal(error.isRetryable, true)
      assert.deepEqual([error.status, error.attemptCount], [200, 1])
      assert.ok(gtins.length <= 3)
      assert.equal(server.received.length, 1)
    }
  })

  test(`a CSV file that breaks off (${end}) fails for its reader, last row cut in its last field or not`, async (t) => {
    // All fields are there, and so is the number of rows: only the line end is missing.
    const cut = (head + rows(0, 2)).slice(0, -3)
    const server = await playScript(t, breakOff(cut, csvHeaders(2), end))

    const { body } = await clientOf(server).reportCsv(1, query)

    await assert.rejects(body.toArray(), { code: 'ANSWER_BROKEN' })
  })
}

test('a page that breaks off fails after the rows of the pages before it', async (t) => {
  const id = { 'x-result-id': 'r1' }
  const server = await playScript(
    t,
    page(head + rows(0, 2), 4, id),
    breakOff(head + rows(2, 3), csvHeaders(4, id), 'close')
  )

  const { gtins, error } = await readToFailure(clientOf(server).report(1, { ...query, limit: 2 }))

  assert.deepEqual(gtins.slice(0, 2), ['0', '1'])
  assert.equal(error.code, 'ANSWER_BROKEN')
})

test('a page of another result than the first fails instead of repeating or skipping rows', async (t) => {
  const first = page(head + rows(0, 2), 4, { 'x-result-id': 'r1' })
  for (const second of [
    page(head + rows(2, 4), 4, { 'x-result-id': 'r2' }),
    page(head + rows(2, 4), 4),
    page(head + rows(2, 3), 3, { 'x-result-id': 'r1' }),
  ]) {
    const server = await playScript(t, first, second)

    const { gtins, error } = await readToFailure(clientOf(server).report(1, { ...query, limit: 2 }))

    assert.deepEqual(gtins, ['0', '1'])
    assert.equal(error.code, 'REPORT_CHANGED')
    assert.equal(error.isRetryable, true)
  }
})

test('a report that its pages cannot hold fails before its first row', async (t) => {
  const server = await playScript(t, page(head + rows(0, 1), 1_002))

  const { gtins, error } = await readToFailure(clientOf(server).report(1, { ...query, limit: 1 }))

  assert.deepEqual(gtins, [])
  assert.equal(error.code, 'REPORT_TOO_LONG')
  assert.match(error.message, /1002 rows, and pages of 1 hold 1001 at most/)
})

test('before its first byte a report is tried again: 429 and 503 with Retry-After, a hang-up', async (t) => {
  const wait = { 'retry-after': '0' }
  const server = await playScript(
    t,
    answer(429, { messages: ['too many'] }, wait),
    answer(503, {}, wait),
    hangUp,
    page(head + rows(0, 1), 1)
  )

  assert.equal((await collect(clientOf(server).report(1, query))).length, 1)
  assert.equal(server.received.length, 4)
})

test('a report that falls silent in mid-stream fails in time', async (t) => {
  const server = await playScript(t, (response) => {
    response.writeHead(200, csvHeaders(9))
    response.write(head + rows(0, 1))
  })

  const { error } = await readToFailure(clientOf(server, { silenceMs: 100 }).report(1, query))

  assert.equal(error.code, 'TIMED_OUT')
  assert.match(error.message, /waiting for more than 100 ms/)
})

test('a report may last longer than the time for its beginning', async (t) => {
  const server = await playScript(t, async (response) => {
    response.writeHead(200, csvHeaders(60))
    response.write(head)
    for (let index = 0; index < 60; index += 1) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      response.write(rowText(index))
    }
    response.end()
  })

  const report = await collect(clientOf(server, { timeoutMs: 1_000 }).report(1, query))

  assert.equal(report.length, 60)
})

/** A report that goes on for ever, and what becomes of its connection. */
async function playEndless(t: Parameters<typeof playScript>[0]) {
  const connection = new EventEmitter()
  const closed = once(connection, 'close')
  const server = await playScript(t, (response) => {
    response.once('close', () => connection.emit('close'))
    response.writeHead(200, csvHeaders(1_000_000))
    response.write(head + rows(0, 3))
  })
  return { server, closed }
}

test('leaving the loop closes the connection of a report under way', async (t) => {
  const { server, closed } = await playEndless(t)

  for await (const { GTIN } of clientOf(server).report(1, query)) if (GTIN === '1') break

  await closed
})

function onHead(): never {
  throw new Error('too many rows for me')
}

test('a head that its reader cannot bear closes the connection', async (t) => {
  const { server, closed } = await playEndless(t)

  await assert.rejects(
    collect(clientOf(server).report(1, query, { onHead })),
    /too many rows for me/
  )

  await closed
})

test('the signal closes the connection at once, and the reader fails with ABORTED', async (t) => {
  const { server, closed } = await playEndless(t)
  const abort = new AbortController()
  const report = clientOf(server).report(1, query, { signal: abort.signal })

  await report.next()
  abort.abort(new Error('enough'))
  await closed

  const { error } = await readToFailure(report)
  assert.equal(error.code, 'ABORTED')
  assert.deepEqual(error.cause, new Error('enough'))
})

test('a CSV page that is let go unread closes its connection', async (t) => {
  const { server, closed } = await playEndless(t)

  const { body } = await clientOf(server).reportCsv(1, query)
  body.destroy()

  await closed
})

test('what the reader does not take stays with the service', async (t) => {
  let sentBytes = 0
  const progress = new EventEmitter()
  const stalled = once(progress, 'stalled')
  const block = rows(0, 500)
  const server = await playScript(t, async (response) => {
    response.writeHead(200, csvHeaders(10_000))
    response.write(head)
    // A hundred megabytes, if they were taken.
    for (let count = 0; count < 2_000 && !response.destroyed; count += 1) {
      const isTaken = response.write(block, () => (sentBytes += block.length))
      if (isTaken) continue
      const drained = once(response, 'drain').then(() => 'drained')
      const patience = new Promise((resolve) => setTimeout(resolve, 1_000)).then(() => 'stalled')
      if ((await Promise.race([drained, patience])) === 'drained') continue
      break
    }
    progress.emit('stalled')
  })
  const report = clientOf(server).report(1, query)

  await report.next()
  await stalled
  await report.return()

  // The buffers of both sockets take a few megabytes.
  assert.ok(sentBytes < 20_000_000, String(sentBytes))
})
