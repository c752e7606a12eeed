import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aConversion, startTracker } from './fixture.ts'

const origin = 'https://shop.example'

test('the links answer any origin, echoed and with credentials, refusals included', async (t) => {
  const tracker = await startTracker(t)
  const token = tracker.mint()
  const cases = [
    ['POST', `/impression/${token}`, 200],
    ['GET', `/click/${token}`, 302],
    ['HEAD', `/load/${token}`, 200],
    ['POST', '/impression/forged', 400],
    ['PUT', `/impression/${token}`, 405],
    ['POST', '/impression/', 404],
  ] as const

  for (const [method, path, status] of cases) {
    for (const value of [origin, 'null', 'http://localhost:3000']) {
      const { headers, ...reply } = await tracker.send(method, path, { headers: { origin: value } })
      assert.equal(reply.status, status)
      assert.equal(headers['access-control-allow-origin'], value)
      assert.equal(headers['access-control-allow-credentials'], 'true')
      assert.equal(headers.vary, 'origin')
      assert.equal(headers['set-cookie'], undefined)
    }
  }
})

test('without an origin there are no CORS headers, but caches learn that it matters', async (t) => {
  const tracker = await startTracker(t)

  const { headers } = await tracker.send('POST', `/impression/${tracker.mint()}`)

  assert.equal(headers['access-control-allow-origin'], undefined)
  assert.equal(headers.vary, 'origin')
})

test('an origin that cannot be one is not echoed', async (t) => {
  const tracker = await startTracker(t)

  for (const value of ['https://a.example, https://b.example', 'x'.repeat(600), 'https://ä']) {
    const headers = { origin: Buffer.from(value).toString('latin1') }
    const reply = await tracker.send('POST', `/impression/${tracker.mint()}`, { headers })
    assert.equal(reply.status, 200)
    assert.equal(reply.headers['access-control-allow-origin'], undefined)
  }
})

test('a preflight is granted with what it asks for, whatever the token, and counts nothing', async (t) => {
  const tracker = await startTracker(t)

  for (const path of [`/impression/${tracker.mint()}`, '/click/forged', '/load/forged']) {
    const reply = await tracker.send('OPTIONS', path, {
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type, x-requested-with',
      },
    })
    assert.equal(reply.status, 204)
    assert.equal(reply.headers['access-control-allow-origin'], origin)
    assert.equal(reply.headers['access-control-allow-credentials'], 'true')
    assert.match(String(reply.headers['access-control-allow-methods']), /\bPOST\b/)
    assert.equal(reply.headers['access-control-allow-headers'], 'content-type, x-requested-with')
    assert.equal(reply.body.length, 0)
  }
  assert.equal(tracker.records().length, 0)
})

test('the conversion operation has no CORS at all', async (t) => {
  const tracker = await startTracker(t)
  const body = JSON.stringify(aConversion())

  const preflight = await tracker.send('OPTIONS', '/conversion', {
    headers: { origin, 'access-control-request-method': 'POST' },
  })
  const post = await tracker.send('POST', '/conversion', { headers: { origin }, body })

  for (const { headers, status } of [preflight, post]) {
    assert.ok(status >= 400)
    assert.equal(headers['access-control-allow-origin'], undefined)
  }
})
