import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aConversion, messagesOf, startTracker } from './fixture.ts'

const valid = JSON.stringify(aConversion())

test('a missing token is 404, with and without the slash, for every method', async (t) => {
  const tracker = await startTracker(t)

  for (const kind of ['impression', 'click', 'load']) {
    for (const path of [`/${kind}`, `/${kind}/`, `/${kind}?x=1`, `/${kind}/?x=1`]) {
      for (const method of ['POST', 'GET', 'PUT']) {
        const reply = await tracker.send(method, path)
        assert.equal(reply.status, 404, `${method} ${path}`)
        assert.match(messagesOf(reply).join(), /missing/)
      }
    }
  }
})

test('paths are exact: other case, doubled and trailing slashes, dots and unknown ones are 404', async (t) => {
  const tracker = await startTracker(t)
  const token = tracker.mint()
  const standard = `${token.slice(0, 20)}/${token.slice(20)}`
  const paths = [
    '/',
    '//conversion',
    '/conversion/',
    '/Conversion',
    '/conversions',
    '/conversion/x',
    '/%63onversion',
    `/impression/${token}/`,
    `/impression//${token}`,
    `//impression/${token}`,
    `/impression/${standard}`,
    `/Impression/${token}`,
    `/impressions/${token}`,
    `/impression${token}`,
    `/x/../impression/${token}`,
    `/./impression/${token}`,
    '/healthz/',
    '/admin',
    '/favicon.ico',
  ]

  for (const path of paths) {
    const reply = await tracker.send('POST', path, { body: valid })
    assert.equal(reply.status, 404, path)
    assert.ok(messagesOf(reply).length > 0)
  }
  assert.equal(tracker.records().length, 0)
})

test('a broken percent escape is 400 wherever it stands in the path', async (t) => {
  const tracker = await startTracker(t)

  for (const path of [
    '/impression/%',
    '/click/%zz',
    '/load/a%4',
    '/click/%ff',
    '/%',
    '/x/%E0%A4',
  ]) {
    const reply = await tracker.send('GET', path)
    assert.equal(reply.status, 400, path)
    assert.match(messagesOf(reply).join(), /percent/)
  }
})

test('the query is ignored, broken escapes included', async (t) => {
  const tracker = await startTracker(t)

  const link = await tracker.send('POST', `/impression/${tracker.mint()}?a=%zz&b=/..//`)
  const conversion = await tracker.send('POST', '/conversion?dry=true', { body: valid })

  assert.deepEqual([link.status, conversion.status], [200, 200])
  assert.equal(tracker.records().length, 2)
})

test('an absolute-form target, as a proxy sends it, is the same path', async (t) => {
  const tracker = await startTracker(t)
  const token = tracker.mint()

  const answer = await tracker.raw(
    `POST http://tracking.example:8080/impression/${token}?x=1 HTTP/1.1\r\nHost: tracking.example\r\n` +
      'Connection: close\r\n\r\n'
  )

  assert.match(answer, /^HTTP\/1\.1 200 /)
  assert.equal(tracker.adEvents().length, 1)
})

test('other methods are 405 and name those that work', async (t) => {
  const tracker = await startTracker(t)
  const token = tracker.mint()
  const link = 'GET, HEAD, POST, OPTIONS'
  const cases = [
    ['GET', '/conversion', 'POST'],
    ['HEAD', '/conversion', 'POST'],
    ['PUT', '/conversion', 'POST'],
    ['OPTIONS', '/conversion', 'POST'],
    ['PUT', `/impression/${token}`, link],
    ['DELETE', `/click/${token}`, link],
    ['TRACE', `/load/${token}`, link],
    ['PROPFIND', `/load/${token}`, link],
    ['POST', '/healthz', 'GET, HEAD'],
    ['DELETE', '/readyz', 'GET, HEAD'],
  ] as const

  for (const [method, path, allow] of cases) {
    const reply = await tracker.send(method, path)
    assert.equal(reply.status, 405, `${method} ${path}`)
    assert.equal(reply.headers.allow, allow)
    if (method !== 'HEAD') assert.ok(messagesOf(reply).length > 0)
  }
  assert.equal(tracker.records().length, 0)
})

test('alive is alive, ready is 503 with Retry-After until the process takes traffic', async (t) => {
  let isReady = false
  const tracker = await startTracker(t, { isReady: () => isReady })

  const alive = await tracker.send('GET', '/healthz')
  const early = await tracker.send('GET', '/readyz')
  isReady = true
  const ready = await tracker.send('GET', '/readyz')
  const head = await tracker.send('HEAD', '/readyz')

  assert.deepEqual([alive.status, early.status, ready.status, head.status], [200, 503, 200, 200])
  assert.ok(Number(early.headers['retry-after']) > 0)
  assert.ok(messagesOf(early).length > 0)
})
