import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { compressAnswer } from '../../src/http/compress.ts'
import { answerJson } from '../../src/http/handler.ts'
import { aRow, bearer, startHarness } from './harness.ts'

const path = '/v2/advertisers/1/reports/spa/product'
const payload = { startDate: '2026-03-01', endDate: '2026-03-31' }
const decode = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  identity: (bytes: Buffer) => bytes,
} as const

async function download(rowCount: number, kind: 'csv' | 'json', acceptEncoding?: string) {
  const { app } = startHarness({
    runReport: () =>
      Promise.resolve({
        totalRows: rowCount,
        completeThrough: null,
        unconvertedCount: 0,
        rows: Array.from({ length: rowCount }, () => aRow()),
      }),
  })
  const response = await app.inject({
    method: 'POST',
    url: `${path}.${kind}`,
    headers: {
      ...bearer('K1'),
      ...(acceptEncoding !== undefined && { 'accept-encoding': acceptEncoding }),
    },
    payload,
  })
  await app.close()
  const { headers, rawPayload: bytes } = response
  const coding = headers['content-encoding'] ?? 'identity'
  assert.ok(coding === 'br' || coding === 'gzip' || coding === 'identity')
  assert.equal(response.statusCode, 200)
  assert.equal(headers.vary, 'accept-encoding')
  assert.equal(headers['content-length'], String(bytes.length))
  return {
    coding,
    bytes,
    text: decode[coding](bytes).toString(),
    type: headers['content-type'],
  }
}

for (const kind of ['csv', 'json'] as const) {
  test(`a report as ${kind} says the same in every coding, and is sent with the length of its bytes`, async () => {
    const plain = await download(200, kind)
    const brotli = await download(200, kind, 'gzip, deflate, br')
    const gzip = await download(200, kind, 'gzip, deflate')

    assert.deepEqual([plain.coding, brotli.coding, gzip.coding], ['identity', 'br', 'gzip'])
    for (const one of [brotli, gzip]) {
      assert.equal(one.text, plain.text)
      assert.equal(one.type, plain.type)
      assert.ok(one.bytes.length < plain.bytes.length / 4)
    }
  })
}

for (const [accepted, coding] of [
  ['br;q=0.5, gzip', 'gzip'],
  ['br;q=0.5, gzip;q=0.5', 'br'],
  ['br;q=0, *', 'gzip'],
  ['X-GZIP', 'gzip'],
  ['*;q=0', 'identity'],
  ['deflate, zstd', 'identity'],
  ['gzip;q=much', 'identity'],
  ['', 'identity'],
] as const) {
  test(`a caller that accepts "${accepted}" gets ${coding}`, async () => {
    assert.equal((await download(50, 'csv', accepted)).coding, coding)
  })
}

test('an answer of less than a kilobyte is sent as it is', async () => {
  assert.equal((await download(1, 'csv', 'br')).coding, 'identity')
})

test('an answer that does not say that it may be compressed never is: it may hold a secret', async () => {
  const answer = answerJson(201, { key: 'secret '.repeat(1_000) })

  assert.equal(await compressAnswer(answer, 'br, gzip'), answer)
})
