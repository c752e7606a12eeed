// Against a server that plays a script: faults, and what is sent. The real service has its own file.
import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { test } from 'node:test'
import { inspect } from 'node:util'
import {
  ClientError,
  createCampaignClient,
  type CampaignClientOptions,
  type ReportQuery,
  type ReportRow,
} from '../../src/client/client.ts'
import { listColumns } from '../../src/contract/report-columns.ts'
import { csvRow } from '../../src/reports/csv.ts'
import { answer, breakOff, hangUp, playScript, stayMute } from '../helpers/scripted-server.ts'

const key = 'st_a-key-that-nobody-may-read'
const query: ReportQuery = { startDate: '2026-03-01', endDate: '2026-03-31' }
const columns = listColumns({ dateBreakdown: false })
const head = csvRow(columns.map((text) => ({ text })))

function clientOf({ url }: { readonly url: string }, options: Partial<CampaignClientOptions> = {}) {
  return createCampaignClient({ url, key, backoffMs: 1, backoffMsMax: 2, ...options })
}

/** A row whose GTIN is its number. */
function rowText(index: number, title = 'Coffee, "ground"\r\n1 kg'): string {
  return csvRow(
    columns.map((column) => {
      if (column === 'GTIN') return { number: String(index) }
      return column === 'PRODUCT_TITLE' ? { text: title } : { number: '0.10' }
    })
  )
}

function rows(from: number, to: number): string {
  return Array.from({ length: to - from }, (_, index) => rowText(from + index)).join('')
}

function csvHeaders(totalRows: number, others: Readonly<Record<string, string>> = {}) {
  return { 'content-type': 'text/csv; charset=utf-8', 'x-total-rows': String(totalRows), ...others }
}

function page(text: string, totalRows: number, others: Readonly<Record<string, string>> = {}) {
  return answer(200, text, csvHeaders(totalRows, others))
}

async function collect(stream: AsyncIterable<ReportRow>): Promise<ReportRow[]> {
  const collected: ReportRow[] = []
  for await (const row of stream) collected.push(row)
  return collected
}

/** What was read before the failure, and the failure. */
async function readToFailure(stream: AsyncIterable<ReportRow>) {
  const gtins: string[] = []
  try {
    for await (const { GTIN } of stream) gtins.push(GTIN)
  } catch (error) {
    assert.ok(error instanceof ClientError)
    return { gtins, error }
  }
  return assert.fail(`it ended well after ${gtins.length} rows`)
}

test('a report is all pages in order, with its values as text and what its headers say', async (t) => {
  const headers = { 'x-result-id': 'r1', 'x-unconverted': '4', 'x-complete-through': '2026-03-30' }
  const server = await playScript(
    t,
    page(head + rows(0, 2), 5, headers),
    page(head + rows(2, 4), 5, headers),
    page(head + rows(4, 5), 5, headers)
  )
  const heads: unknown[] = []

  const report = await collect(
    clientOf(server).report(1, { ...query, limit: 2 }, { onHead: (one) => heads.push(one) })
  )

  assert.deepEqual(
    report.map(({ GTIN }) => GTIN),
    ['0', '1', '2', '3', '4']
  )
  assert.equal(report[0]?.PRODUCT_TITLE, 'Coffee, "ground"\r\n1 kg')
  assert.equal(report[0]?.CONVERSION_VALUE, '0.10')
  assert.equal(report[0]?.DATE, undefined)
  assert.deepEqual(heads, [
    { totalRows: 5, unconvertedCount: 4, completeThrough: '2026-03-30', labels: columns },
  ])
  assert.deepEqual(
    server.received.map(({ body }) => JSON.parse(body).page),
    [0, 1, 2]
  )
  const [{ method, url, headers: sent } = assert.fail('nothing came')] = server.received
  assert.equal(`${method} ${url}`, 'POST /v2/advertisers/1/reports/spa/product.csv')
  assert.equal(sent.authorization, `Bearer ${key}`)
  assert.equal(sent.origin, undefined)
  assert.equal(sent['sec-fetch-site'], undefined)
})

test('a report without rows ends at once and still has a head', async (t) => {
  const server = await playScript(t, page(head, 0))
  let totalRows = -1

  const report = await collect(
    clientOf(server).report(1, query, { onHead: (one) => (totalRows = one.totalRows) })
  )

  assert.deepEqual(report, [])
  assert.equal(totalRows, 0)
  assert.equal(server.received.length, 1)
})

test('with a locale the columns are found by their place, and the labels are passed on', async (t) => {
  const labels = columns.map((column) => `das ist ${column}`)
  const text = csvRow(labels.map((label) => ({ text: label }))) + rows(7, 8)
  const server = await playScript(t, page(text, 1))
  let seen: readonly string[] = []

  const report = await collect(
    clientOf(server).report(1, query, { locale: 'de', onHead: (one) => (seen = one.labels) })
  )

  assert.equal(report[0]?.GTIN, '7')
  assert.equal(report[0]?.CURRENCY, '0.10')
  assert.deepEqual(seen, labels)
  assert.match(server.received[0]?.url ?? '', /\?locale=de$/)
})

test('columns that are appended later do no harm, other columns are not taken for ours', async (t) => {
  const widen = (text: string) => text.replaceAll(/(CURRENCY|0\.10)\r\n/g, '$1,new\r\n')
  const server = await playScript(
    t,
    page(widen(head + rowText(1, 'x')), 1),
    page(head.replace('CLICKS', 'KLICKS') + rowText(1), 1)
  )

  const report = await collect(clientOf(server).report(1, query))
  const { gtins, error } = await readToFailure(clientOf(server).report(1, query))

  assert.deepEqual(Object.keys(report[0] ?? {}), columns)
  assert.deepEqual(gtins, [])
  assert.equal(error.code, 'ANSWER_UNEXPECTED')
})

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

test('more rows than announced, no CSV, and no number of rows are no report', async (t) => {
  for (const step of [
    page(head + rows(0, 3), 2),
    answer(200, '<html>', { 'content-type': 'text/html', 'x-total-rows': '0' }),
    answer(200, head, { 'content-type': 'text/csv' }),
    answer(200, head, { 'content-type': 'text/csv', 'x-total-rows': '1e3' }),
    page(`${head}a,b\r\n`, 1),
    page(`${head}"a"b,c\r\n`, 1),
  ]) {
    const { error } = await readToFailure(clientOf(await playScript(t, step)).report(1, query))

    assert.equal(error.code, 'ANSWER_UNEXPECTED')
    assert.equal(error.isRetryable, false)
  }
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
  assert.match(error.message, /sent nothing for 100 ms/)
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

test('a head that its reader cannot bear closes the connection', async (t) => {
  const { server, closed } = await playEndless(t)
  const onHead = () => {
    throw new Error('too many rows for me')
  }

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

test('a CSV page is the bytes of the service with its name and numbers', async (t) => {
  const disposition = (name: string) => ({
    'content-disposition': `attachment; filename="${name}"`,
  })
  const server = await playScript(
    t,
    page(head + rows(2, 4), 5, disposition('report-page-1.csv')),
    page(head, 0, disposition('../../etc/passwd'))
  )
  const client = clientOf(server)

  const { body, ...rest } = await client.reportCsv(
    7,
    { ...query, page: 1, limit: 2 },
    { locale: 'de' }
  )
  const text = Buffer.concat(await body.toArray()).toString()
  const other = await client.reportCsv(7, query)
  other.body.destroy()

  assert.equal(text, head + rows(2, 4))
  assert.deepEqual(rest, {
    totalRows: 5,
    unconvertedCount: 0,
    completeThrough: null,
    fileName: 'report-page-1.csv',
  })
  assert.equal(other.fileName, null)
})

test('a mistake in a report, an asset or a query never leaves the process', async (t) => {
  const server = await playScript(t, answer(200))
  const client = clientOf(server)
  const collectOf = (id: number, body: object, options = {}) =>
    collect(client.report(id, body as ReportQuery, options))
  const refused = async (call: Promise<unknown>, message: string) => {
    await assert.rejects(call, { code: 'REQUEST_INVALID', messages: [message], attemptCount: 0 })
  }

  await refused(
    collectOf(1, { ...query, startDate: '2026-04-01' }),
    '/startDate must not be after /endDate'
  )
  await refused(
    collectOf(1, { ...query, page: 1 }),
    '/page must be absent: all pages are read; reportCsv reads one'
  )
  await refused(collectOf(1.5, query), '/advertiserId must be integer')
  await refused(collectOf(1, query, { locale: 7 }), '/locale must be string')
  await refused(client.reportCsv(1, { ...query, limit: 0 }), '/limit must be at least 1')
  await refused(client.reportJson(1, { ...query, page: 1_001 }), '/page must be at most 1000')
  const adGroup = { advertiserId: 1, campaignId: 2, adGroupId: 2 ** 31 }
  const assetId = '0f8fad5b-d9cb-469f-a165-70867728950e'
  await refused(
    client.addAsset({ ...adGroup, adGroupId: 3 }, { creativeSizeId: 0, assetId }),
    '/creativeSizeId must be at least 1'
  )
  await refused(
    client.addAsset(adGroup, { creativeSizeId: 1, assetId }),
    '/adGroupId must be at most 2147483647'
  )
  await refused(
    client.siteLocations(1, { publisherId: 10, marketId: 1, adGroupType: 'ALL' as 'SPA' }),
    '/adGroupType must be one of: DISPLAY, SPA, SPONSORED_BRAND'
  )
  assert.equal(server.received.length, 0)
})

test('JSON that is cut is tried again, JSON of another shape is not', async (t) => {
  const sites = [{ site: { id: 1, name: 'Desktop', type: 'DESKTOP' }, locations: [] }]
  const type = { 'content-type': 'application/json' }
  const server = await playScript(
    t,
    breakOff(JSON.stringify(sites).slice(0, 20), type, 'close'),
    breakOff(JSON.stringify(sites).slice(0, 20), type, 'reset'),
    answer(200, sites),
    answer(200, { sites })
  )
  const client = clientOf(server)
  const where = { publisherId: 10, marketId: 1 }

  assert.deepEqual(await client.siteLocations(1, where), sites)
  assert.equal(
    server.received[0]?.url,
    '/v2/advertisers/1/eligible/site-locations?publisherId=10&marketId=1'
  )
  assert.equal(server.received[0]?.method, 'GET')
  await assert.rejects(client.siteLocations(1, where), {
    code: 'ANSWER_UNEXPECTED',
    messages: ['body must be array'],
    attemptCount: 1,
    status: 200,
  })
})

test('401, 403, 404 and 422 have codes of their own', async (t) => {
  for (const [status, code] of [
    [401, 'KEY_REFUSED'],
    [403, 'ACCESS_FORBIDDEN'],
    [404, 'NOT_FOUND'],
    [422, 'REQUEST_REFUSED'],
  ] as const) {
    const server = await playScript(t, answer(status, { messages: ['No.'] }))
    const { error } = await readToFailure(clientOf(server).report(1, query))

    assert.deepEqual([error.code, error.status, error.messages], [code, status, ['No.']])
    assert.equal(error.isRetryable, false)
  }
})

test('no error and no client shows the key, whatever goes wrong', async (t) => {
  const echo = `you sent Bearer ${key}`
  for (const step of [
    answer(401, { messages: [echo] }),
    answer(500, { messages: [echo] }),
    answer(200, { messages: [echo] }),
    hangUp,
    stayMute,
    breakOff(head, csvHeaders(9), 'reset'),
  ]) {
    const server = await playScript(t, step)
    const client = clientOf(server, { timeoutMs: 100, attemptsMax: 2 })
    const { error } = await readToFailure(client.report(1, query))

    const shown = inspect(error, { depth: 10, showHidden: true }) + JSON.stringify(error)
    assert.ok(!shown.includes(key), shown)
    assert.ok(!inspect(client, { depth: 10, showHidden: true }).includes(key))
  }
  for (const bad of [`${key}\n`, `${key} x`, '', `${key}\u00e9`]) {
    assert.throws(
      () => createCampaignClient({ url: 'https://s.example', key: bad }),
      (error) => error instanceof ClientError && !inspect(error).includes('nobody-may-read')
    )
  }
})
