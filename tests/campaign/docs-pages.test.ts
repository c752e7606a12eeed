import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test, type TestContext } from 'node:test'
import { Script, createContext } from 'node:vm'
import { gunzipSync } from 'node:zlib'
import { createDocsPages } from '../../src/campaign/docs-pages.ts'
import { StaticFile } from '../../src/http/static-file.ts'
import { startHarness } from './harness.ts'

const trackingUrl = 'https://track.example:8443/base'
const campaignUrl = 'https://0.0.0.0:8081'
const pages = createDocsPages({ trackingUrl, campaignUrl })
const paths = pages.map(({ path }) => path)

function start(t: TestContext) {
  const { app } = startHarness({ pages })
  t.after(() => app.close())
  return app
}

test('the page and all it refers to are served with their types, and nothing is referred to elsewhere', async (t) => {
  const app = start(t)

  const index = await app.inject({ url: '/docs' })

  assert.equal(index.statusCode, 200)
  assert.equal(index.headers['content-type'], 'text/html; charset=utf-8')
  const references = [...index.body.matchAll(/(?:src|href)="([^"]+)"/gu)].map((match) => match[1])
  const served = references.filter((reference) => reference !== 'data:,')
  assert.equal(served.length, 5)
  for (const reference of served) {
    const url = new URL(reference ?? '', 'http://ads.example/docs')
    assert.equal(url.host, 'ads.example')
    const { statusCode, headers } = await app.inject({ url: url.pathname })
    assert.equal(statusCode, 200, url.pathname)
    const type = { js: 'text/javascript', css: 'text/css', json: 'application/json' }[
      url.pathname.split('.').at(-1) ?? ''
    ]
    assert.equal(headers['content-type'], `${type}; charset=utf-8`)
  }
})

test('the page may run and load what the port serves, call both ports, and do nothing else', async (t) => {
  const { headers } = await start(t).inject({ url: '/docs' })

  assert.deepEqual(String(headers['content-security-policy']).split('; '), [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self' https://track.example:8443",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ])
})

test('the page holds no inline script or style, which its policy would refuse', async (t) => {
  const { body } = await start(t).inject({ url: '/docs' })

  assert.deepEqual(body.match(/<script(?![^>]*src=)|<style|style=|\son\w+=/gu), null)
})

test('styles load nothing but data that they hold themselves', async (t) => {
  const app = start(t)
  for (const path of paths.filter((name) => name.endsWith('.css'))) {
    const { body } = await app.inject({ url: path })
    const loaded = [...body.matchAll(/url\(["']?(.{5})|@import/gu)].map((match) => match[1])
    assert.ok(
      loaded.every((scheme) => scheme === 'data:'),
      path
    )
  }
})

test('every part is safe from sniffing and framing, and tells no referrer', async (t) => {
  const app = start(t)
  for (const url of paths) {
    const { headers } = await app.inject({ url })
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['referrer-policy'], 'no-referrer')
    assert.equal(headers['x-frame-options'], 'DENY')
    assert.match(String(headers['content-security-policy']), /default-src 'none'.*frame-ancestors/)
  }
})

const encodings: readonly (readonly [accepted: string | undefined, isGzip: boolean])[] = [
  [undefined, false],
  ['', false],
  ['gzip', true],
  ['GZIP;q=0.5', true],
  ['x-gzip', true],
  ['br, gzip, deflate', true],
  ['*', true],
  ['br', false],
  ['gzip;q=0', false],
  ['gzip; q=0.000, *', false],
  ['*;q=0', false],
  ['gzip;q=much', false],
  ['identity', false],
  [`${'br,'.repeat(5_000)}gzip`, true],
]
test('a client that takes gzip gets it, any other the plain bytes, and both are the same', async (t) => {
  const app = start(t)
  for (const path of paths) {
    const plain = await app.inject({ url: path })
    for (const [accepted, isGzip] of encodings) {
      const headers = accepted === undefined ? {} : { 'accept-encoding': accepted }
      const response = await app.inject({ url: path, headers })
      const name = `${path} ${accepted?.slice(0, 30)}`
      assert.equal(response.headers['content-encoding'], isGzip ? 'gzip' : undefined, name)
      const { rawPayload } = response
      assert.ok((isGzip ? gunzipSync(rawPayload) : rawPayload).equals(plain.rawPayload), name)
      assert.equal(response.headers['content-length'], String(rawPayload.length))
      assert.equal(response.headers.vary, 'accept-encoding')
    }
  }
})

test('what is too short to gain from compression is sent as it is', async (t) => {
  const answer = { status: 200, body: { file: new StaticFile(() => 'short') } }
  const { app } = startHarness({ pages: [{ path: '/docs', answer }] })
  t.after(() => app.close())

  const response = await app.inject({ url: '/docs', headers: { 'accept-encoding': 'gzip' } })

  assert.equal(response.headers['content-encoding'], undefined)
  assert.equal(response.body, 'short')
})

test('a file is written once, for the first who asks', async (t) => {
  let writtenCount = 0
  const file = new StaticFile(() => `written ${(writtenCount += 1)} times`)
  const { app } = startHarness({
    pages: [{ path: '/docs', answer: { status: 200, body: { file } } }],
  })
  t.after(() => app.close())

  await app.ready()
  assert.equal(writtenCount, 0)
  for (const accepted of ['gzip', 'identity']) {
    const headers = { 'accept-encoding': accepted }
    assert.equal((await app.inject({ url: '/docs', headers })).body, 'written 1 times')
  }
})

test('a client that has a part already is told so without its bytes, by GET and by HEAD', async (t) => {
  const app = start(t)
  for (const url of paths) {
    const { headers } = await app.inject({ url })
    const etag = String(headers.etag)
    const strong = etag.replace('W/', '')
    for (const known of [etag, strong, '*', `"x", ${etag}`, `${etag},"y"`]) {
      for (const method of ['GET', 'HEAD'] as const) {
        const response = await app.inject({ url, method, headers: { 'if-none-match': known } })
        assert.deepEqual([response.statusCode, response.body], [304, ''], known)
        assert.equal(response.headers.etag, etag)
        assert.equal(response.headers['cache-control'], 'no-cache')
        assert.notEqual(response.headers['content-length'], '0')
      }
    }
    for (const other of ['"x"', '', etag.slice(0, -2), 'x'.repeat(9_000)]) {
      const response = await app.inject({ url, headers: { 'if-none-match': other } })
      assert.equal(response.statusCode, 200)
    }
  }
  const etags = await Promise.all(paths.map((url) => app.inject({ url })))
  assert.equal(new Set(etags.map(({ headers }) => headers.etag)).size, paths.length)
})

test('HEAD answers like GET without a body, and other methods are refused', async (t) => {
  const app = start(t)
  for (const url of paths) {
    const get = await app.inject({ url })
    const head = await app.inject({ method: 'HEAD', url })
    assert.deepEqual([head.statusCode, head.body], [200, ''])
    assert.equal(head.headers['content-length'], get.headers['content-length'])
    assert.equal(head.headers['content-type'], get.headers['content-type'])
    const post = await app.inject({ method: 'POST', url })
    assert.deepEqual([post.statusCode, post.headers.allow], [405, 'GET, HEAD'])
  }
  for (const url of ['/docs/', '/docs/x', '/docs/../package.json', '/docs/%2e%2e/package.json']) {
    assert.equal((await app.inject({ url })).statusCode, 404, url)
  }
})

interface Server {
  readonly url: string
}

interface Settings {
  readonly url: string
  readonly validatorUrl: unknown
  readonly persistAuthorization: unknown
  readonly queryConfigEnabled: unknown
  readonly responseInterceptor: (response: object) => { readonly text: string }
}

/** What the initializer asks the package for, on a page at some address. */
function runInitializer(body: string, index: string, href: string): Settings {
  const given: Settings[] = []
  const bundle = Object.assign((settings: Settings) => given.push(settings), {
    presets: { apis: 'apis' },
  })
  const attribute = /id="swagger-ui" data-campaign-url="([^"]*)"/u.exec(index)?.[1]
  const container = { dataset: { campaignUrl: attribute } }
  const document = { querySelector: (selector: string) => selector === '#swagger-ui' && container }
  new Script(body).runInContext(
    createContext({ SwaggerUIBundle: bundle, URL, location: { href }, document })
  )
  const [settings] = given
  assert.ok(settings !== undefined && given.length === 1)
  return settings
}

test('the page reads the document beside it, asks nothing elsewhere and keeps no key', async (t) => {
  const app = start(t)
  const { body } = await app.inject({ url: '/docs/initializer.js' })
  const index = await app.inject({ url: '/docs' })

  const settings = runInitializer(
    body,
    index.body,
    'https://proxy.example/ads/docs?url=https://evil.example#x'
  )

  assert.equal(settings.url, 'https://proxy.example/ads/openapi.json')
  assert.equal(settings.validatorUrl, null)
  assert.equal(settings.persistAuthorization, false)
  assert.equal(settings.queryConfigEnabled, false)
})

test('on the page the campaign port is where the page came from, and the tracking port as configured', async (t) => {
  const app = start(t)
  const { body } = await app.inject({ url: '/docs/initializer.js' })
  const index = await app.inject({ url: '/docs' })
  const settings = runInitializer(body, index.body, 'https://proxy.example/ads/docs')
  const document = {
    servers: [{ url: trackingUrl }, { url: campaignUrl, description: 'Campaign port' }],
    paths: {
      '/conversion': { post: { servers: [{ url: trackingUrl }] } },
      '/healthz': { get: { servers: [{ url: trackingUrl }, { url: campaignUrl }] } },
    },
  }
  const answer = { url: settings.url, ok: true, text: JSON.stringify(document) }

  const { text } = settings.responseInterceptor({ ...answer })

  const { servers, paths: items }: { servers: Server[]; paths: Record<string, unknown> } =
    JSON.parse(text)
  const here = 'https://proxy.example/ads'
  assert.deepEqual(servers, [{ url: trackingUrl }, { url: here, description: 'Campaign port' }])
  assert.deepEqual(items, {
    '/conversion': { post: { servers: [{ url: trackingUrl }] } },
    '/healthz': { get: { servers: [{ url: trackingUrl }, { url: here }] } },
  })
  const other = { ...answer, url: 'https://proxy.example/ads/healthz', text: 'not JSON' }
  assert.equal(settings.responseInterceptor(other).text, 'not JSON')
})

test('what is served is the package as it was installed', async (t) => {
  const file = new URL(
    '../../node_modules/@fastify/swagger-ui/static/swagger-ui-bundle.js',
    import.meta.url
  )
  const { rawPayload } = await start(t).inject({ url: '/docs/swagger-ui-bundle.js' })
  assert.ok(rawPayload.equals(readFileSync(file)))
})
