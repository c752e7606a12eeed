import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { liveFrom } from '../../src/spool/record.ts'
import { aConversion, hashIdentity, messagesOf, nowMs, startTracker } from './fixture.ts'

const json = { 'content-type': 'application/json', accept: 'application/json' }
const valid = JSON.stringify(aConversion())

test('a valid conversion is answered 200 {} and stands in the spool by then', async (t) => {
  const tracker = await startTracker(t)

  const reply = await tracker.send('POST', '/conversion', { headers: json, body: valid })

  assert.equal(reply.status, 200)
  assert.equal(reply.text, '{}')
  assert.equal(reply.headers['content-type'], 'application/json')
  assert.deepEqual(tracker.records(), [
    {
      type: 'conversion',
      receivedAtMs: nowMs,
      publisherId: 10,
      siteId: 101,
      transactionId: 't-1',
      userIdentity: hashIdentity('user', 10, 'u1'),
      loginIdentity: '',
      currency: 'EUR',
      lines: [{ gtin: '4006381333931', groupId: 'GRP1', brand: 'Acme', price: 10.5, quantity: 2 }],
      origin: { kind: 'live', address: '127.0.0.1' },
      presentedKey: 'none',
    },
  ])
})

test('no raw id of a shopper reaches the spool', async (t) => {
  const tracker = await startTracker(t)
  const body = JSON.stringify(
    aConversion({ user_id: 'shopper@example.com', user_logged_in_id: 'login-canary' })
  )

  await tracker.send('POST', '/conversion', { headers: json, body })

  const [record] = tracker.conversions()
  assert.equal(record?.loginIdentity, hashIdentity('login', 10, 'login-canary'))
  assert.doesNotMatch(JSON.stringify(tracker.records()), /shopper@example|login-canary/)
})

test('absent group_id and brand are empty, unknown fields are left out', async (t) => {
  const tracker = await startTracker(t)
  const body = JSON.stringify({
    ...aConversion({ products: [{ gtin: 'x', price: 0, quantity: -1, color: 'red' }] }),
    currency: 'eur',
    extra: { deep: true },
  })

  const reply = await tracker.send('POST', '/conversion', { headers: json, body })

  assert.equal(reply.status, 200)
  const [record] = tracker.conversions()
  assert.deepEqual(record?.lines, [{ gtin: 'x', groupId: '', brand: '', price: 0, quantity: -1 }])
  assert.equal(record?.currency, 'EUR')
})

test('every delivery of a transaction is stored, also an exact repeat', async (t) => {
  const tracker = await startTracker(t)

  const replies = await Promise.all(
    Array.from({ length: 5 }, () => tracker.send('POST', '/conversion', { body: valid }))
  )

  assert.deepEqual(
    replies.map((reply) => reply.status),
    [200, 200, 200, 200, 200]
  )
  assert.equal(tracker.conversions().length, 5)
})

for (const [fault, body] of [
  ['no body', ''],
  ['broken JSON', '{"user_id":'],
  ['a list', '[]'],
  ['null', 'null'],
  ['invalid UTF-8', Buffer.from(valid.replace('u1', '\u00ff'), 'latin1')],
  ['a wrong type', JSON.stringify(aConversion({ site_id: '101' }))],
  ['no products', JSON.stringify(aConversion({ products: [] }))],
  ['an unknown currency', JSON.stringify(aConversion({ currency: 'XYZ' }))],
  ['an infinite price', valid.replace('10.5', '1e999')],
  ['a lone surrogate', valid.replace('"t-1"', '"\\ud800"')],
  ['8,000 nested lists', `{"user_id":${'['.repeat(8_000)}1${']'.repeat(8_000)}}`],
  ['200,000 open brackets', '['.repeat(200_000)],
] as const) {
  test(`a body with ${fault} is answered 400 with messages and not stored`, async (t) => {
    const tracker = await startTracker(t)

    const reply = await tracker.send('POST', '/conversion', { headers: json, body })

    assert.equal(reply.status, 400)
    assert.equal(reply.headers['content-type'], 'application/json')
    assert.ok(messagesOf(reply).length > 0)
    assert.equal(tracker.records().length, 0)
  })
}

test('a refusal names the field and the rule that was broken', async (t) => {
  const tracker = await startTracker(t)
  const body = JSON.stringify(aConversion({ products: [{ gtin: 'x', price: '1', quantity: 1 }] }))

  const reply = await tracker.send('POST', '/conversion', { headers: json, body })

  assert.deepEqual(messagesOf(reply), ['/products/0/price must be number'])
})

for (const type of [
  'application/json; charset=utf-8',
  'Application/JSON;charset=UTF-8',
  'application/json; charset="utf-8"; v=1',
  'application/vnd.api+json',
  'text/plain',
  '',
]) {
  test(`a JSON body of content type "${type}" is taken`, async (t) => {
    const tracker = await startTracker(t)
    const headers: Record<string, string> = type === '' ? {} : { 'content-type': type }

    const reply = await tracker.send('POST', '/conversion', { headers, body: valid })

    assert.equal(reply.status, 200)
  })
}

for (const headers of [
  { origin: 'https://shop.example' },
  { origin: 'null' },
  { 'sec-fetch-site': 'same-origin' },
]) {
  test(`a request with ${JSON.stringify(headers)} comes from a browser and is refused`, async (t) => {
    const tracker = await startTracker(t)

    const reply = await tracker.send('POST', '/conversion', { headers, body: valid })

    assert.equal(reply.status, 400)
    assert.match(messagesOf(reply).join(), /browser/)
    assert.equal(reply.headers['access-control-allow-origin'], undefined)
    assert.equal(tracker.records().length, 0)
  })
}

test('sec-fetch-mode alone is no browser, because fetch of Node sends it', async (t) => {
  const tracker = await startTracker(t)
  const headers = { 'sec-fetch-mode': 'cors' }

  const reply = await tracker.send('POST', '/conversion', { headers, body: valid })

  assert.equal(reply.status, 200)
})

test('a byte order mark before the body is ignored', async (t) => {
  const tracker = await startTracker(t)

  const reply = await tracker.send('POST', '/conversion', { body: `\ufeff${valid}` })

  assert.equal(reply.status, 200)
})

test('a gzip body is inflated, whatever the case of the encoding', async (t) => {
  const tracker = await startTracker(t)

  for (const encoding of ['gzip', 'GZIP', 'x-gzip']) {
    const headers = { 'content-encoding': encoding }
    const reply = await tracker.send('POST', '/conversion', { headers, body: gzipSync(valid) })
    assert.equal(reply.status, 200)
  }

  assert.equal(tracker.conversions().length, 3)
})

test('a gzip body that is none, or is cut, is 400; another encoding too', async (t) => {
  const tracker = await startTracker(t)

  for (const [encoding, body] of [
    ['gzip', valid],
    ['gzip', gzipSync(valid).subarray(0, -9)],
    ['gzip', ''],
    ['br', valid],
    ['gzip, gzip', gzipSync(gzipSync(valid))],
  ] as const) {
    const headers = { 'content-encoding': encoding }
    const reply = await tracker.send('POST', '/conversion', { headers, body })
    assert.equal(reply.status, 400)
    assert.ok(messagesOf(reply).length > 0)
  }
  assert.equal(tracker.records().length, 0)
})

test('a small gzip body that inflates beyond 1 MiB is 413 and not stored', async (t) => {
  const tracker = await startTracker(t)
  const bomb = gzipSync(JSON.stringify(aConversion({ extra: 'x'.repeat(50_000_000) })))

  const headers = { 'content-encoding': 'gzip' }
  const reply = await tracker.send('POST', '/conversion', { headers, body: bomb })

  assert.equal(reply.status, 413)
  assert.ok(messagesOf(reply).length > 0)
  assert.equal(tracker.records().length, 0)
})

test('an order of 10,000 lines is taken whole; one of more is refused, naming the limit', async (t) => {
  const tracker = await startTracker(t)
  const product = { gtin: '4006381333931', group_id: 'GRP1', brand: 'Acme', price: 1, quantity: 1 }
  const ofLines = (length: number) =>
    JSON.stringify(aConversion({ products: Array.from({ length }, () => product) }))

  const taken = await tracker.send('POST', '/conversion', { headers: json, body: ofLines(10_000) })
  const refused = await tracker.send('POST', '/conversion', {
    headers: json,
    body: ofLines(10_001),
  })

  assert.equal(taken.status, 200)
  assert.equal(refused.status, 400)
  assert.deepEqual(messagesOf(refused), ['/products must have at most 10000 items'])
  assert.deepEqual(
    tracker.conversions().map(({ lines }) => lines.length),
    [10_000]
  )
})

test('the source is the socket, and what a sender claims is not believed', async (t) => {
  const tracker = await startTracker(t)
  const headers = { 'x-forwarded-for': '203.0.113.7', forwarded: 'for=203.0.113.7' }

  await tracker.send('POST', '/conversion', { headers, body: valid })

  assert.deepEqual(tracker.conversions()[0]?.origin, liveFrom('127.0.0.1'))
})

test('behind a trusted proxy the source is the last entry, the one the proxy wrote', async (t) => {
  const tracker = await startTracker(t, { trustProxy: true })
  const cases = [
    ['203.0.113.7', '203.0.113.7'],
    ['10.0.0.1, 198.51.100.9', '198.51.100.9'],
    ['spoofed, 198.51.100.9:4711', '198.51.100.9'],
    ['2001:db8::1', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['203.0.113.7, unknown', '127.0.0.1'],
    ['', '127.0.0.1'],
  ] as const

  for (const [header] of cases) {
    const headers = { 'x-forwarded-for': header }
    await tracker.send('POST', '/conversion', { headers, body: valid })
  }
  await tracker.send('POST', '/conversion', {
    headers: { 'x-forwarded-for': ['192.0.2.1', '192.0.2.2'] },
    body: valid,
  })

  const sources = tracker.conversions().map(({ origin }) => origin)
  assert.deepEqual(sources, [...cases.map(([, source]) => source), '192.0.2.2'].map(liveFrom))
})
