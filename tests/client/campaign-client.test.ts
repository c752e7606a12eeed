// Against a server that plays a script: what is sent, and what is made of the answers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { ClientError, createCampaignClient, type ReportQuery } from '../../src/client/client.ts'
import { csvRow } from '../../src/domain/csv.ts'
import { answer, breakOff, hangUp, playScript, stayMute } from '../helpers/scripted-server.ts'
import {
  clientOf,
  collect,
  columns,
  csvHeaders,
  head,
  key,
  page,
  query,
  readToFailure,
  rows,
  rowText,
} from './harness.ts'

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
    {
      totalRows: 5,
      unconvertedCount: 4,
      completeThrough: '2026-03-30',
      renewingDayCount: 0,
      labels: columns,
    },
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

test('a refusal keeps the code of the service, unless this version does not know it', async (t) => {
  const body = '{"messages":["/startDate is required"]}'
  const server = await playScript(
    t,
    answer(422, body, { 'shelftrace-error-code': 'REQUEST_INVALID' }),
    answer(422, body, { 'shelftrace-error-code': 'OF_A_LATER_VERSION' }),
    answer(422, body)
  )
  const codes: unknown[] = []
  for (let call = 0; call < 3; call += 1) {
    await assert.rejects(
      () => clientOf(server).reportJson(1, query),
      (error) => {
        assert.ok(error instanceof ClientError)
        codes.push([error.code, error.refusalCode])
        return true
      }
    )
  }

  assert.deepEqual(codes, [
    ['REQUEST_REFUSED', 'REQUEST_INVALID'],
    ['REQUEST_REFUSED', null],
    ['REQUEST_REFUSED', null],
  ])
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

function widen(text: string): string {
  return text.replaceAll(/(CURRENCY|0\.10)\r\n/g, '$1,new\r\n')
}

test('columns that are appended later do no harm, other columns are not taken for ours', async (t) => {
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

function disposition(name: string) {
  return { 'content-disposition': `attachment; filename="${name}"` }
}

test('a CSV page is the bytes of the service with its name and numbers', async (t) => {
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
    renewingDayCount: 0,
    fileName: 'report-page-1.csv',
  })
  assert.equal(other.fileName, null)
})

async function refused(call: Promise<unknown>, message: string): Promise<void> {
  await assert.rejects(call, { code: 'REQUEST_INVALID', messages: [message], attemptCount: 0 })
}

test('a mistake in a report, an asset or a query never leaves the process', async (t) => {
  const server = await playScript(t, answer(200))
  const client = clientOf(server)
  const collectOf = (id: number, body: object, options = {}) =>
    collect(client.report(id, body as ReportQuery, options))

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

test('JSON that is cut is tried again, JSON of another shape and a page of HTML are not', async (t) => {
  const sites = [{ site: { id: 1, name: 'Desktop', type: 'DESKTOP' }, locations: [] }]
  const type = { 'content-type': 'application/json' }
  const server = await playScript(
    t,
    breakOff(JSON.stringify(sites).slice(0, 20), type, 'close'),
    breakOff(JSON.stringify(sites).slice(0, 20), type, 'reset'),
    answer(200, sites),
    answer(200, { sites }),
    answer(200, '<html>', { 'content-type': 'text/html' })
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
  await assert.rejects(client.siteLocations(1, where), {
    code: 'ANSWER_UNEXPECTED',
    message: 'the answer is not JSON',
    attemptCount: 1,
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

test("a refusal that is not the service's is not told as one of its own", async (t) => {
  for (const status of [302, 401, 403, 404, 422]) {
    const server = await playScript(t, answer(status, '<html>No.</html>'))
    const { error } = await readToFailure(clientOf(server).report(1, query))

    assert.deepEqual([error.code, error.status], ['ANSWER_UNEXPECTED', status])
    assert.equal(error.isRetryable, false)
    assert.match(error.message, /is not the service's: check the address, and what is in between$/)
    assert.equal(server.received.length, 1)
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

test('the credited lines are asked for by their query and come as a page that must be whole', async (t) => {
  const text = 'DATE,UNITS\r\n2026-03-04,1\r\n'
  const server = await playScript(t, page(text, 1, { 'x-unconverted': '1' }), page(text, 2))
  const client = clientOf(server)

  const { body, ...rest } = await client.attributionsCsv(7, {
    ...query,
    attributionProfile: 'IMP_1_DAY',
  })
  const bytes = Buffer.concat(await body.toArray())
  const cut = await client.attributionsCsv(7, { ...query, limit: 5 })

  assert.equal(bytes.toString(), text)
  assert.deepEqual(rest, {
    totalRows: 1,
    unconvertedCount: 1,
    completeThrough: null,
    renewingDayCount: 0,
    fileName: null,
  })
  await assert.rejects(cut.body.toArray(), { code: 'ANSWER_BROKEN' })
  assert.equal(
    server.received[0]?.url,
    '/v2/advertisers/7/attributions?startDate=2026-03-01&endDate=2026-03-31&attributionProfile=IMP_1_DAY'
  )
  await assert.rejects(client.attributionsCsv(7, { ...query, limit: 0 }), {
    code: 'REQUEST_INVALID',
  })
})
