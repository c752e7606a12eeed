import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { messagesOf, nowMs, startTracker } from './fixture.ts'

const json = { 'content-type': 'application/json', accept: 'application/json' }

function aReturn(fields: object = {}): object {
  return {
    publisher_id: 10,
    transaction_id: 't-1',
    return_id: 'r-1',
    products: [{ gtin: '4006381333931', quantity: 2 }],
    ...fields,
  }
}

const valid = JSON.stringify(aReturn())
const record = {
  type: 'return',
  receivedAtMs: nowMs,
  publisherId: 10,
  transactionId: 't-1',
  returnId: 'r-1',
  lines: [{ gtin: '4006381333931', quantity: 2 }],
  origin: { kind: 'live', address: '127.0.0.1' },
  presentedKey: 'none',
}

test('a valid return is answered 200 {} and stands in the spool by then, its known fields only', async (t) => {
  const tracker = await startTracker(t)
  const body = JSON.stringify(aReturn({ reason: 'too small' }))

  const reply = await tracker.send('POST', '/return', { headers: json, body })

  assert.equal(reply.status, 200)
  assert.equal(reply.text, '{}')
  assert.equal(reply.headers['content-type'], 'application/json')
  assert.deepEqual(tracker.records(), [record])
})

test('a repeat of a return is answered like the first and stored too, whatever it says', async (t) => {
  const tracker = await startTracker(t)
  const other = JSON.stringify(aReturn({ products: [{ gtin: 'x', quantity: 1 }] }))

  const replies = await Promise.all(
    [valid, valid, other].map((body) => tracker.send('POST', '/return', { body }))
  )

  assert.deepEqual(
    replies.map(({ status, text }) => `${status} ${text}`),
    ['200 {}', '200 {}', '200 {}']
  )
  assert.equal(tracker.records().length, 3)
})

for (const [fault, body, messages] of [
  ['no body', '', null],
  ['broken JSON', '{"publisher_id":', null],
  ['invalid UTF-8', Buffer.from(valid.replace('r-1', '\u00ff'), 'latin1'), null],
  ['a list', '[]', ['body must be object']],
  ['a conversion', '{"user_id":"u1","transaction_id":"t","publisher_id":1,"products":[]}', null],
  [
    'a transaction that names nothing',
    JSON.stringify(aReturn({ transaction_id: ' \t' })),
    ['/transaction_id must be text with a visible character'],
  ],
  [
    'a quantity of 0',
    JSON.stringify(aReturn({ products: [{ gtin: 'x', quantity: 0 }] })),
    ['/products/0/quantity must be at least 1'],
  ],
  [
    'a lone surrogate',
    valid.replace('"r-1"', '"\\ud800"'),
    ['/return_id must be text without lone surrogates or U+0000'],
  ],
] as const) {
  test(`a return with ${fault} is answered 400 with messages and not stored`, async (t) => {
    const tracker = await startTracker(t)

    const reply = await tracker.send('POST', '/return', { headers: json, body })

    assert.equal(reply.status, 400)
    assert.ok(messagesOf(reply).length > 0)
    if (messages !== null) assert.deepEqual(messagesOf(reply), messages)
    assert.equal(tracker.records().length, 0)
  })
}

for (const headers of [{ origin: 'https://shop.example' }, { 'sec-fetch-site': 'same-origin' }]) {
  test(`a return with ${JSON.stringify(headers)} comes from a browser and is refused`, async (t) => {
    const tracker = await startTracker(t)

    const reply = await tracker.send('POST', '/return', { headers, body: valid })

    assert.equal(reply.status, 400)
    assert.deepEqual(messagesOf(reply), [
      'Returns must be sent by the backend of the publisher, not by a browser.',
    ])
    assert.equal(reply.headers['access-control-allow-origin'], undefined)
    assert.equal(tracker.records().length, 0)
  })
}

test('a gzip body and one with a byte order mark are read like a plain one', async (t) => {
  const tracker = await startTracker(t)

  const zipped = await tracker.send('POST', '/return', {
    headers: { 'content-encoding': 'gzip' },
    body: gzipSync(valid),
  })
  const marked = await tracker.send('POST', '/return', { body: `\ufeff${valid}` })

  assert.deepEqual([zipped.status, marked.status], [200, 200])
  assert.deepEqual(tracker.records(), [record, record])
})

test('a gzip body that is none is 400, and one that inflates beyond 1 MiB is 413', async (t) => {
  const tracker = await startTracker(t)
  const headers = { 'content-encoding': 'gzip' }
  const bomb = gzipSync(JSON.stringify(aReturn({ extra: 'x'.repeat(50_000_000) })))

  const broken = await tracker.send('POST', '/return', { headers, body: valid })
  const large = await tracker.send('POST', '/return', { headers, body: bomb })
  const plain = await tracker.send('POST', '/return', { body: 'x'.repeat(1_048_577) })

  assert.deepEqual([broken.status, large.status, plain.status], [400, 413, 413])
  assert.equal(tracker.records().length, 0)
})

test('the path takes POST alone and is exact', async (t) => {
  const tracker = await startTracker(t)

  for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS']) {
    const reply = await tracker.send(method, '/return')
    assert.equal(reply.status, 405)
    assert.equal(reply.headers['allow'], 'POST')
  }
  for (const path of ['/return/', '/returns', '/Return']) {
    assert.equal((await tracker.send('POST', path, { body: valid })).status, 404)
  }
})

test('the log names the route of a return and nothing of what it says', async (t) => {
  const tracker = await startTracker(t)

  await tracker.send('POST', '/return?secret=canary', {
    body: JSON.stringify(aReturn({ transaction_id: 'canary' })),
  })
  await tracker.close()

  const lines = JSON.stringify(tracker.logged)
  assert.match(lines, /"route":"\/return"/)
  assert.doesNotMatch(lines, /canary/)
})
