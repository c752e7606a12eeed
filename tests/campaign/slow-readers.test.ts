// Two keys with four sockets each that take a byte now and then, over the real sessions of a warehouse.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { answerPage } from '../../src/reports/paged.ts'
import type { ReportCall, ReportRow } from '../../src/reports/report.ts'
import { openEmbeddedLanes } from '../../src/warehouse/embedded.ts'
import { openKeptPages } from '../helpers/kept-pages.ts'
import { aWarehouseFolder } from '../helpers/warehouse-folder.ts'
import { aKey, aRow, bearer, startHarness } from './harness.ts'

const path = '/v2/advertisers/1/reports/spa/product.csv'
const body = JSON.stringify({ startDate: '2026-03-01', endDate: '2026-03-31' })
const rowCount = 10_000

function head(key: string): string {
  return (
    `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${bearer(key).authorization}\r\n` +
    `content-length: ${body.length}\r\n\r\n${body}`
  )
}

/** Takes the first bytes of the answer and then no more. */
async function startSlowly(port: number, key: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(head(key))
  const [first] = await once(socket, 'data')
  socket.pause()
  assert.match(String(first), /^HTTP\/1\.1 200 /)
  return socket
}

test('slow readers of two keys hold no session: pipeline, look-ups and reports of others go on', async (t) => {
  const lanes = openEmbeddedLanes({ path: aWarehouseFolder(t).path })
  const keptPages = openKeptPages()
  const totals = { totalRows: rowCount, completeThrough: null, unconvertedCount: 0 }
  let questionCount = 0
  const runReport = async ({ signal, keyId }: ReportCall) =>
    await answerPage<ReportRow>(
      keptPages,
      { question: keyId + String(questionCount++), owner: keyId, page: 0, limit: rowCount, signal },
      () =>
        Promise.resolve({
          advertiserId: 1,
          blocks: lanes.reports.stream(`SELECT number, 1 FROM numbers(${rowCount})`, {}, signal),
          readTotals: () => totals,
          format: ([number]) => aRow({ gtin: String(number), title: 'x'.repeat(400) }),
        })
    )
  const keys = new Map(['one', 'two', 'three'].map((id) => [id, aKey({ id })]))
  const { app } = startHarness({
    runReport,
    keys: {
      isValid: () => true,
      findRefused: () => null,
      findPerson: () => null,
      find: (token) => keys.get(token) ?? null,
    },
    reportWaitMsMax: 20_000,
  })
  t.after(async () => {
    await app.close()
    await keptPages.close()
    await lanes.close()
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const port = Number(new URL(url).port)
  const slow = await Promise.all(
    Array.from({ length: 8 }, (_, index) => startSlowly(port, index % 2 === 0 ? 'one' : 'two'))
  )
  t.after(() => slow.forEach((socket) => socket.destroy()))

  const [written, looked, answer] = await Promise.all([
    lanes.pipeline.rows('SELECT 1 AS one'),
    lanes.lookups.rows('SELECT 2 AS two'),
    fetch(`${url}${path}`, { method: 'POST', headers: bearer('three'), body }),
  ])

  assert.deepEqual([written, looked], [[{ one: 1 }], [{ two: 2 }]])
  assert.equal((await answer.text()).split('\r\n').length, rowCount + 2)
  assert.deepEqual(
    slow.map(({ destroyed }) => destroyed),
    slow.map(() => false)
  )
})
