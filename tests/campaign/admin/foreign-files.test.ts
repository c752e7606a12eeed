import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { adminKey, bearer, bundle, startAdmin, type AdminHarness } from './harness.ts'

let admin: AdminHarness
let url: string

before(async () => {
  admin = await startAdmin()
  await admin.catalog.apply(bundle as Parameters<typeof admin.catalog.apply>[0])
  url = await admin.app.listen({ port: 0, host: '127.0.0.1' })
})
after(() => admin.close())

async function send(
  { method, path }: { readonly method: string; readonly path: string },
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {}
) {
  const init = { method, body, headers: { ...bearer(adminKey), ...headers } }
  const response = await fetch(`${url}${path}`, init)
  const { messages = [] }: { messages?: readonly string[] } = JSON.parse(await response.text())
  return { status: response.status, message: messages.join(' ') }
}

const uploads = [
  { method: 'PUT', path: '/admin/v1/catalog', text: '{}', what: 'body' },
  {
    method: 'PUT',
    path: '/admin/v1/markets/1/products',
    text: 'gtin,title\n40,Tea\n',
    what: 'The feed',
  },
  {
    method: 'PUT',
    path: '/admin/v1/rates',
    text: 'Date,USD\n2026-03-02,1.2\n',
    what: 'the file',
  },
  { method: 'POST', path: '/admin/v1/events', text: '{}\n', what: 'body' },
]

for (const { text, what, ...upload } of uploads) {
  test(`a compressed file is told as one, not as a broken text: ${upload.path}`, async () => {
    // Enough bytes that some of them look like line ends.
    const gzip = gzipSync(text.padEnd(9_000, text), { level: 0 })
    const zip = Buffer.concat([Buffer.from('504b0304', 'hex'), gzip])

    const [asGzip, asZip] = [await send(upload, gzip), await send(upload, zip)]

    assert.deepEqual([asGzip.status, asZip.status], [422, 422])
    assert.match(asGzip.message, new RegExp(`^${what} is a gzip file: unpack it first\\.?$`))
    assert.match(asZip.message, new RegExp(`^${what} is a zip file, or a workbook .*\\.?$`))
    assert.equal((await send(upload, text)).status, 200)
  })

  test(`a text in UTF-16 is told as one: ${upload.path}`, async () => {
    const little = Buffer.from(text.padEnd(300, text), 'utf16le')
    const big = Buffer.from(little).swap16()
    const [littleMark, bigMark] = [Buffer.from('fffe', 'hex'), Buffer.from('feff', 'hex')]
    const forms = [Buffer.concat([littleMark, little]), Buffer.concat([bigMark, big]), little, big]

    for (const form of forms) {
      const { status, message } = await send(upload, form)

      assert.equal(status, 422)
      assert.match(message, new RegExp(`^${what} is text in UTF-16 and must be in UTF-8\\.?$`))
    }
  })

  test(`a coding that is announced is refused, whatever the body is: ${upload.path}`, async () => {
    for (const coding of ['gzip', 'br', 'identity, gzip']) {
      const { status, message } = await send(upload, text, { 'content-encoding': coding })

      assert.equal(status, 422, coding)
      assert.match(message, /^content-encoding must be identity/)
    }
    assert.equal((await send(upload, text, { 'content-encoding': 'Identity' })).status, 200)
  })
}
