import assert from 'node:assert/strict'
import { test } from 'node:test'
import { invitationScope } from '../../src/contract/invitations.ts'
import { operations } from '../../src/contract/operations.ts'
import { ServiceError } from '../../src/errors.ts'
import { passingCodes } from '../../src/warehouse/refusal.ts'
import { aKey, bearer, echoAdmin, startHarness } from './harness.ts'

const reportPath = '/v2/advertisers/1/reports/spa/product.csv'
const reportBody = { startDate: '2026-03-01', endDate: '2026-03-31' }

function messagesOf(response: { json: () => unknown }): readonly string[] {
  const body = response.json()
  assert.ok(typeof body === 'object' && body !== null && 'messages' in body)
  assert.ok(Array.isArray(body.messages) && body.messages.every((m) => typeof m === 'string'))
  return body.messages
}

const portOperations = operations.filter(({ ports }) => ports.includes('campaign'))
const capitals = {
  get: 'GET',
  head: 'HEAD',
  post: 'POST',
  put: 'PUT',
  delete: 'DELETE',
} as const
const inCapitals = (method: keyof typeof capitals) => capitals[method]
const urlOf = (path: string) => path.replaceAll(/\{\w+\}/g, '1')

test('every operation of the table is served, and asks for a key unless it is public', async (t) => {
  const { app } = startHarness()
  t.after(() => app.close())
  for (const { path, method, access } of portOperations) {
    const bare = await app.inject({ url: urlOf(path), method: inCapitals(method) })
    const name = `${method} ${path}`
    if (access === null) assert.equal(bare.statusCode, 200, name)
    else {
      assert.equal(bare.statusCode, 401, name)
      assert.equal(bare.headers['www-authenticate'], 'Bearer', name)
      assert.equal(messagesOf(bare).length, 1, name)
    }
  }
})

test('a key without any scope is refused by every operation that asks for a key', async (t) => {
  const { app } = startHarness({
    keys: {
      isValid: () => true,
      findRefused: () => null,
      findPerson: () => null,
      find: () => aKey({ advertisers: 'all', scopes: [] }),
    },
  })
  t.after(() => app.close())
  for (const { path, method, access } of portOperations) {
    if (access === null) continue
    const response = await app.inject({
      url: urlOf(path),
      method: inCapitals(method),
      headers: bearer('x'),
    })
    assert.equal(response.statusCode, 403, `${method} ${path}`)
    const isInvited = access.scope === invitationScope
    const words = isInvited ? 'is not an invitation' : 'does not have any scope'
    assert.deepEqual(messagesOf(response), [`The key ${words}.`])
  }
})

test('an operation without a handler, or with two, ends the start', () => {
  const { putCatalog: _, ...partial } = echoAdmin
  assert.throws(() => startHarness({ adminHandlers: partial }), /putCatalog has a handler/)
  const doubled = { ...echoAdmin, getHealth: () => Promise.reject(new Error('x')) }
  assert.throws(() => startHarness({ adminHandlers: doubled }), /getHealth has one handler/)
})

test('a route beside the table cannot be added', () => {
  const { app } = startHarness()
  assert.throws(() => app.get('/backdoor', () => 'in'), /stands in the table of operations/)
})

const brokenKeys: readonly (readonly [string, Record<string, string>])[] = [
  ['no header', {}],
  ['an empty header', { authorization: '' }],
  ['a bare scheme', { authorization: 'Bearer' }],
  ['an empty key', { authorization: 'Bearer ' }],
  ['the word undefined', { authorization: 'Bearer undefined' }],
  ['another scheme', { authorization: 'Basic K1' }],
  ['an unknown key', { authorization: 'Bearer SECRET-CANARY-123 ' }],
  ['JSON instead of a key', { authorization: 'Bearer {"token":"SECRET-CANARY-456"}' }],
]
for (const [name, headers] of brokenKeys) {
  test(`${name} is answered 401, and no part of it comes back or is logged`, async (t) => {
    const { app, log } = startHarness()
    t.after(() => app.close())

    const response = await app.inject({ method: 'POST', url: reportPath, headers, payload: {} })

    assert.equal(response.statusCode, 401)
    assert.ok(!response.body.includes('CANARY') && !log.text.includes('CANARY'))
  })
}

test('the order of refusals is 401, 403, 404, 422: none tells more than its caller may know', async (t) => {
  const { app, calls } = startHarness()
  t.after(() => app.close())
  const post = async (advertiserId: string, key: string | null) => {
    const url = `/v2/advertisers/${advertiserId}/reports/spa/product.csv?locale=%00`
    const headers = key === null ? {} : bearer(key)
    return (await app.inject({ method: 'POST', url, headers, payload: '{broken' })).statusCode
  }

  assert.equal(await post('999', null), 401)
  assert.equal(await post('2', 'K1'), 403)
  assert.equal(await post('999', 'K1'), 403)
  assert.equal(await post('01', 'K1'), 403)
  assert.equal(await post('999', 'all'), 404)
  for (const id of ['0', '-1', '01', '1.0', '2147483648', 'x', '%20', '1%2F2']) {
    assert.equal(await post(id, 'all'), 404, id)
  }
  assert.equal(await post('1', 'K1'), 422)
  assert.equal(calls.length, 0)
})

test('a wrong method is told apart from a wrong path', async (t) => {
  const { app } = startHarness()
  t.after(() => app.close())
  const wrongMethods = [
    ['GET', reportPath, 'POST'],
    ['POST', '/healthz', 'GET, HEAD'],
    ['HEAD', reportPath, 'POST'],
    ['POST', '/admin/v1/status', 'GET, HEAD'],
    ['OPTIONS', reportPath, 'POST'],
    ['POST', '/admin/v1/catalog', 'PUT, GET, HEAD'],
    ['PATCH', '/admin/v1/keys/x', 'DELETE'],
  ] as const
  for (const [method, url, allow] of wrongMethods) {
    const response = await app.inject({ method, url })
    assert.equal(response.statusCode, 405, `${method} ${url}`)
    assert.equal(response.headers.allow, allow)
  }
  for (const url of [
    '/',
    '/nope',
    '/healthz/',
    '//healthz',
    '/HEALTHZ',
    '/healthz;x',
    '/conversion',
  ]) {
    const response = await app.inject({ method: 'GET', url })
    assert.equal(response.statusCode, 404, url)
    assert.deepEqual(messagesOf(response), ['There is nothing here.'])
  }
  const head = await app.inject({ method: 'HEAD', url: '/healthz' })
  assert.deepEqual([head.statusCode, head.body], [200, ''])
  const broken = await app.inject({ method: 'GET', url: '/admin/v1/%ff' })
  assert.equal(broken.statusCode, 400)
})

test('every answer forbids caching, sniffing and framing', async (t) => {
  const { app } = startHarness()
  t.after(() => app.close())
  for (const url of ['/healthz', '/nope', '/metrics', '/admin/v1/keys', '/openapi.json']) {
    const { headers } = await app.inject({ method: 'GET', url })
    // Without secrets, and known by its hash.
    const isPublic = url === '/openapi.json'
    assert.equal(headers['cache-control'], isPublic ? 'no-cache' : 'no-store', url)
    assert.equal(headers['x-content-type-options'], 'nosniff', url)
    assert.match(String(headers['content-security-policy']), /frame-ancestors 'none'/, url)
  }
})

test('health, readiness, document and metrics answer what operators ask', async (t) => {
  const { app } = startHarness()
  t.after(() => app.close())

  const document = await app.inject({ method: 'GET', url: '/openapi.json' })
  const metrics = await app.inject({ method: 'GET', url: '/metrics', headers: bearer('metrics') })

  assert.deepEqual((await app.inject({ url: '/healthz' })).json(), { status: 'alive' })
  assert.deepEqual((await app.inject({ url: '/readyz' })).json(), { status: 'ready' })
  assert.equal(document.json<{ openapi: string }>().openapi, '3.1.0')
  assert.equal(metrics.body, 'up 1\n')
  assert.equal(metrics.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
})

test('a port that does not take traffic says so, and nothing of why, to callers without a key', async (t) => {
  const { app } = startHarness({ isReady: () => false })
  t.after(() => app.close())

  const response = await app.inject({ url: '/readyz' })

  assert.equal(response.statusCode, 503)
  assert.equal(response.headers['retry-after'], '5')
  assert.deepEqual(messagesOf(response), ['The service does not take traffic right now.'])
})

test('beyond its requests a key waits, the configured key never does, and others go on', async (t) => {
  const { app } = startHarness({ requestsPerMinuteMax: 2 })
  t.after(() => app.close())
  const get = (key: string) =>
    app.inject({
      url: '/v2/advertisers/1/eligible/site-locations?publisherId=10&marketId=1',
      headers: bearer(key),
    })

  const first = await get('K1')
  await get('K1')
  const refused = await get('K1')

  assert.equal(first.headers['ratelimit-limit'], '2')
  assert.equal(first.headers['ratelimit-remaining'], '1')
  assert.equal(refused.statusCode, 429)
  assert.equal(refused.headers['retry-after'], '30')
  assert.equal(messagesOf(refused).length, 1)
  assert.equal((await get('all')).statusCode, 200)
  for (let count = 0; count < 5; count += 1) {
    const response = await get('admin')
    assert.equal(response.statusCode, 200)
    assert.equal(response.headers['ratelimit-limit'], undefined)
  }
})

test('failures of the catalogue are answered in their public words, anything else by its id alone', async (t) => {
  const secretWords = 'SELECT secret FROM /var/lib/x'
  const cases = [
    [new ServiceError('WAREHOUSE_UNAVAILABLE', secretWords), 503, /cannot be reached/],
    [new ServiceError('WAREHOUSE_REFUSED', secretWords), 500, /failed to answer/],
    [new ServiceError('SPOOL_FULL', secretWords), 503, /cannot store events/],
    [new Error(secretWords), 500, /logged as [0-9a-f-]{36}/],
    [Object.assign(new Error(secretWords), { statusCode: 404 }), 400, /malformed/],
  ] as const
  for (const [error, status, words] of cases) {
    const { app, log } = startHarness({ runReport: () => Promise.reject(error) })
    t.after(() => app.close())
    const request = {
      method: 'POST',
      url: reportPath,
      headers: bearer('K1'),
      payload: reportBody,
    } as const

    const response = await app.inject(request)

    assert.equal(response.statusCode, status)
    assert.match(messagesOf(response)[0] ?? '', words)
    assert.ok(!response.body.includes('SELECT') && !/\\n +at /.test(response.body))
    if (status === 503) assert.ok(Number(response.headers['retry-after']) > 0)
    const logged = log.lines().filter(({ level }) => Number(level) >= 40)
    assert.equal(logged.length, status === 400 ? 0 : 1)
  }
})

test('a full disk is told as such to operators, and not to other keys', async (t) => {
  const aboutSpace = new ServiceError('WAREHOUSE_UNAVAILABLE', 'no', {
    details: { clickhouseCode: passingCodes.NOT_ENOUGH_SPACE },
  })
  const away = new ServiceError('WAREHOUSE_UNAVAILABLE', 'no')
  for (const [error, isDiskFull, words] of [
    [aboutSpace, false, /^The disk is full/],
    [away, true, /^The disk is full/],
    [away, false, /cannot be reached/],
    [new ServiceError('WAREHOUSE_REFUSED', 'no'), true, /failed to answer/],
  ] as const) {
    const { app } = startHarness({
      runReport: () => Promise.reject(error),
      adminHandlers: { ...echoAdmin, putCatalog: () => Promise.reject(error) },
      isDiskFull: () => isDiskFull,
    })
    t.after(() => app.close())
    const call = (method: 'PUT' | 'POST', url: string, key: string) =>
      app.inject({ method, url, headers: bearer(key), payload: reportBody })

    const told = messagesOf(await call('PUT', '/admin/v1/catalog', 'admin'))[0] ?? ''
    const report = messagesOf(await call('POST', reportPath, 'K1'))[0] ?? ''

    assert.match(told, words)
    assert.doesNotMatch(report, /disk/)
  }
})

test('an outage is logged once a second, however many requests it fails', async (t) => {
  let nowMs = 0
  const down = new ServiceError('WAREHOUSE_UNAVAILABLE', 'away')
  const { app, log } = startHarness({ runReport: () => Promise.reject(down), clock: () => nowMs })
  t.after(() => app.close())
  const request = {
    method: 'POST',
    url: reportPath,
    headers: bearer('K1'),
    payload: reportBody,
  } as const

  for (let count = 0; count < 20; count += 1) {
    assert.equal((await app.inject(request)).statusCode, 503)
    nowMs += 100
  }

  const logged = log.lines().filter(({ level }) => Number(level) >= 40)
  assert.equal(logged.length, 2)
})

test('keys that cannot be checked are answered 503, not 401', async (t) => {
  const stale = new ServiceError('ACCESS_STALE', 'old')
  const { app } = startHarness({
    keys: {
      isValid: () => true,
      findRefused: () => null,
      findPerson: () => null,
      find: () => {
        throw stale
      },
    },
  })
  t.after(() => app.close())

  const response = await app.inject({ url: '/metrics', headers: bearer('K1') })

  assert.equal(response.statusCode, 503)
  assert.equal(response.headers['retry-after'], '5')
})

test('the log names routes by their pattern and keys by their id, and holds no body, path or key', async (t) => {
  const { app, log } = startHarness({ runReport: () => Promise.reject(new Error('down')) })
  t.after(() => app.close())
  const headers = { ...bearer('K1'), cookie: 'session=CANARY', 'x-forwarded-for': 'CANARY' }
  const payload = { ...reportBody, filters: [{ field: 'BRAND', values: ['CANARY'] }] }
  await app.inject({ method: 'POST', url: reportPath, headers, payload })
  await app.inject({ method: 'POST', url: `${reportPath}?locale=CANARY!`, headers, payload })
  await app.inject({ method: 'GET', url: '/CANARY/%ff', headers })
  await app.inject({ method: 'DELETE', url: '/admin/v1/keys/CANARY', headers: bearer('admin') })

  const first = log.lines().find(({ msg }) => msg === 'request')

  assert.ok(!log.text.includes('CANARY') && !log.text.includes('Bearer'))
  assert.ok(!log.text.includes('advertisers/1/'))
  assert.equal(first?.['route'], '/v2/advertisers/{advertiserId}/reports/spa/product.csv')
  assert.equal(first?.['keyId'], 'key_1')
  assert.equal(first?.['status'], 500)
})

test('a body over its limit is answered 413, and the catalog has a limit of its own', async (t) => {
  const { app } = startHarness()
  t.after(() => app.close())
  const large = ' '.repeat(1_048_577)
  const post = (payload: string) =>
    app.inject({ method: 'POST', url: reportPath, headers: bearer('K1'), payload })

  assert.equal((await post(large)).statusCode, 413)
  assert.equal((await post(large.slice(1))).statusCode, 422)
  const put = await app.inject({
    method: 'PUT',
    url: '/admin/v1/catalog',
    headers: bearer('admin'),
    payload: large,
  })
  assert.equal(put.statusCode, 200)
})

test('a public page is served as it is, under its own policy', async (t) => {
  const answer = {
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'self'",
    },
    body: { text: '<!doctype html>' },
  }
  const { app } = startHarness({ pages: [{ path: '/dashboard', answer }] })
  t.after(() => app.close())

  const response = await app.inject({ url: '/dashboard' })

  assert.equal(response.body, '<!doctype html>')
  assert.equal(response.headers['content-security-policy'], "default-src 'self'")
  assert.equal(response.headers['x-content-type-options'], 'nosniff')
  assert.equal((await app.inject({ method: 'POST', url: '/dashboard' })).statusCode, 405)
})
