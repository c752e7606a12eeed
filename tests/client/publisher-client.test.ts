import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { test } from 'node:test'
import {
  createPublisherClient,
  type Conversion,
  type PurchaseReturn,
} from '../../src/client/client.ts'
import { clientVersion } from '../../src/client/caller.ts'
import { refusalKinds } from '../../src/contract/refusal-codes.ts'
import { answer, breakOff, hangUp, playScript, stayMute } from '../helpers/scripted-server.ts'
import { freePort } from '../../scripts/free-port.ts'

const conversion: Conversion = {
  user_id: 'shopper-1',
  transaction_id: 'order-1',
  site_id: 101,
  publisher_id: 10,
  currency: 'eur',
  products: [{ gtin: '4006381333931', price: 19.99, quantity: 2 }],
}
const sentBack: PurchaseReturn = {
  publisher_id: 10,
  transaction_id: 'order-1',
  return_id: 'return-1',
  products: [{ gtin: '4006381333931', quantity: 1 }],
}
const quick = { backoffMs: 1, backoffMsMax: 2 }

test('a conversion goes out once, as checked, and comes back when the service has answered 200', async (t) => {
  const server = await playScript(t, answer(200))
  const client = createPublisherClient({ url: server.url })
  const withMore: Conversion & { readonly note: string } = { ...conversion, note: 'not ours' }

  const sent = await client.sendConversion(withMore)

  assert.deepEqual(sent, { attemptCount: 1 })
  const [{ method, url, headers, body } = assert.fail('nothing came')] = server.received
  assert.equal(`${method} ${url}`, 'POST /conversion')
  assert.deepEqual(JSON.parse(body), { ...conversion, currency: 'EUR' })
  assert.equal(headers['content-type'], 'application/json')
  assert.equal(headers['user-agent'], `shelftrace-client/${clientVersion}`)
  // The service takes a request with one of these for a browser's.
  assert.equal(headers.origin, undefined)
  assert.equal(headers['sec-fetch-site'], undefined)
})

test('every delivery goes out with the key, also when it is tried again, and with none if there is none', async (t) => {
  const key = `st_${'k'.repeat(43)}`
  const server = await playScript(t, answer(503), answer(200), answer(200), answer(200))
  const client = createPublisherClient({ url: server.url, key, ...quick })

  await client.sendConversion(conversion)
  await client.sendReturn(sentBack)
  await createPublisherClient({ url: server.url }).sendReturn(sentBack)

  assert.deepEqual(
    server.received.map(({ headers }) => headers.authorization),
    [...Array<string>(3).fill(`Bearer ${key}`), undefined]
  )
  assert.ok(!inspect(client, { depth: null }).includes(key))
})

test('a return goes out as checked, is tried again, and comes back when the service has answered 200', async (t) => {
  const server = await playScript(t, answer(503, {}, { 'retry-after': '0' }), answer(200))
  const client = createPublisherClient({ url: server.url, ...quick })
  const withMore: PurchaseReturn & { readonly note: string } = { ...sentBack, note: 'not ours' }

  const sent = await client.sendReturn(withMore)

  assert.deepEqual(sent, { attemptCount: 2 })
  for (const { method, url, body } of server.received) {
    assert.equal(`${method} ${url}`, 'POST /return')
    assert.deepEqual(JSON.parse(body), sentBack)
  }
})

test('a return with a mistake never leaves the process', async (t) => {
  const server = await playScript(t, answer(200))
  const client = createPublisherClient({ url: server.url })

  await assert.rejects(client.sendReturn({ ...sentBack, return_id: ' ', products: [] }), {
    code: 'REQUEST_INVALID',
    messages: [
      '/return_id must be text with a visible character',
      '/products must have at least 1 item',
    ],
    isRetryable: false,
    attemptCount: 0,
  })
  assert.equal(server.received.length, 0)
})

test('a path in the address stands before that of the operation', async (t) => {
  const server = await playScript(t, answer(200))

  await createPublisherClient({ url: `${server.url}/tracking/` }).sendConversion(conversion)

  assert.equal(server.received[0]?.url, '/tracking/conversion')
})

test('a mistake never leaves the process, and the error names field and rule', async (t) => {
  const server = await playScript(t, answer(200))
  const client = createPublisherClient({ url: server.url })
  // What a program without types would send.
  const faulty = { ...conversion, products: [{ gtin: '1', price: '19.99', quantity: 2 }] }

  await assert.rejects(client.sendConversion(faulty as unknown as Conversion), {
    code: 'REQUEST_INVALID',
    messages: ['/products/0/price must be number'],
    isRetryable: false,
    attemptCount: 0,
    status: null,
  })
  await assert.rejects(client.sendConversion({ ...conversion, currency: 'EURO' }), {
    code: 'REQUEST_INVALID',
    messages: ['/currency must have at most 3 characters'],
  })
  assert.equal(server.received.length, 0)
})

test('503, 500, 429, a hang-up, a broken answer and silence are tried again with the same body', async (t) => {
  const server = await playScript(
    t,
    answer(503, {}, { 'retry-after': '0' }),
    answer(500, 'not even JSON'),
    answer(429),
    hangUp,
    breakOff('', { 'content-type': 'application/json', 'content-length': '10' }, 'reset'),
    answer(200)
  )
  const client = createPublisherClient({ url: server.url, ...quick, attemptsMax: 9 })

  const sent = await client.sendConversion(conversion)

  assert.deepEqual(sent, { attemptCount: 6 })
  assert.equal(new Set(server.received.map(({ body }) => body)).size, 1)
})

test('silence ends a try in time, and the next one may go well', async (t) => {
  const server = await playScript(t, stayMute, answer(200))
  const client = createPublisherClient({
    url: server.url,
    ...quick,
    timeoutMs: 500,
    attemptsMax: 99,
  })

  const { attemptCount } = await client.sendConversion(conversion)

  assert.ok(attemptCount >= 2)
})

test('when all tries fail the last failure comes out, with the number of tries and its cause', async () => {
  const url = `http://127.0.0.1:${await freePort()}`
  const client = createPublisherClient({ url, ...quick, attemptsMax: 3 })

  await assert.rejects(client.sendConversion(conversion), (error: Error) => {
    assert.equal(error.name, 'ClientError')
    assert.match(error.message, /^http:\/\/127\.0\.0\.1:\d+: the request failed \(ECONNREFUSED\)$/)
    const { code, status, isRetryable, attemptCount } = error as never
    assert.deepEqual([code, status, isRetryable, attemptCount], ['NETWORK_FAILED', null, true, 3])
    assert.ok(error.cause instanceof TypeError)
    return true
  })
})

// Node's fetch makes it a failure of the network that says nothing else.
test('a proxy that wants authentication is told as the guide says', async (t) => {
  const server = await playScript(t, answer(407, '', { 'proxy-authenticate': 'Basic' }))
  const client = createPublisherClient({ url: server.url, ...quick, attemptsMax: 1 })

  await assert.rejects(client.sendConversion(conversion), {
    code: 'NETWORK_FAILED',
    message: `${server.url}: the request failed`,
    status: null,
    isRetryable: true,
  })
})

test('a refusal is never tried again and brings the words of the service', async (t) => {
  const messages = ['/site_id must be integer']
  for (const status of [400, 413]) {
    const server = await playScript(t, answer(status, { messages }))
    const client = createPublisherClient({ url: server.url, ...quick })

    await assert.rejects(client.sendConversion(conversion), {
      code: 'REQUEST_REFUSED',
      message: `the service answered ${status}: /site_id must be integer`,
      status,
      messages,
      isRetryable: false,
      attemptCount: 1,
    })
    assert.equal(server.received.length, 1, String(status))
  }
  const withoutWords = answer(413, '', { 'shelftrace-error-code': 'OF_A_LATER_VERSION' })
  const server = await playScript(t, withoutWords)
  await assert.rejects(createPublisherClient({ url: server.url }).sendReturn(sentBack), {
    code: 'REQUEST_REFUSED',
    isRetryable: false,
  })
})

const pageOfProxy = '<html>Not here</html>'
const pathUnknown = { messages: ['Nothing is at this path.'] }

test("what is not the service's own refusal of a delivery is told as such, is not tried at once again, and may be sent later", async (t) => {
  const statuses = [204, 301, 302, 307, 400, 401, 402, 403, 404, 405, 413, 451]
  const steps = [
    ...statuses.map((status) => ({
      status,
      body: status === 204 ? '' : pageOfProxy,
      code: null,
      refusal: '',
    })),
    // Of another port or another service, by an address that is wrong.
    { status: 401, body: pathUnknown, code: 'KEY_REFUSED', refusal: '' },
    { status: 403, body: pathUnknown, code: 'ACCESS_FORBIDDEN', refusal: '' },
    { status: 404, body: pathUnknown, code: 'NOT_FOUND', refusal: '' },
    // What a proxy adds to a request is not the fault of the purchase either.
    { status: 431, body: pathUnknown, code: 'REQUEST_REFUSED', refusal: 'HEADERS_TOO_LARGE' },
    { status: 405, body: pathUnknown, code: 'REQUEST_REFUSED', refusal: 'METHOD_NOT_ALLOWED' },
    { status: 400, body: pathUnknown, code: 'REQUEST_REFUSED', refusal: 'HTTP_MALFORMED' },
  ]
  for (const { status, body, code, refusal } of steps) {
    const told = refusal === '' ? {} : { 'shelftrace-error-code': refusal }
    const headers = { location: 'http://127.0.0.1:9/', ...told }
    const server = await playScript(t, answer(status, body, headers))
    const client = createPublisherClient({ url: server.url, ...quick })
    const failed = {
      code: code ?? 'ANSWER_UNEXPECTED',
      status,
      isRetryable: true,
      attemptCount: 1,
      ...(code === null && {
        message: `the answer with status ${status} is not the service's: check the address, and what is in between`,
      }),
    }

    await assert.rejects(client.sendConversion(conversion), failed)
    await assert.rejects(client.sendReturn(sentBack), failed)
    await assert.rejects(
      client.sendConversion(
        { ...conversion, transaction_id: '' },
        { allowEmptyTransactionId: true }
      ),
      { ...failed, isRetryable: false }
    )
    assert.equal(server.received.length, 3, String(status))
  }
})

test('what the service refuses only for now is tried again, whatever its status', async (t) => {
  const kinds = Object.entries(refusalKinds).filter(([code]) => !code.startsWith('BACKUP_'))
  const retryable = kinds.filter(([, { isRetryable }]) => isRetryable)
  // No refusal of the service, but one of proxies that know TLS 1.3.
  const statuses = new Set([...retryable.map(([, { status }]) => status), 425])
  for (const status of statuses) {
    const server = await playScript(t, answer(status), answer(200), answer(status))
    const client = createPublisherClient({ url: server.url, ...quick, attemptsMax: 2 })

    assert.deepEqual(await client.sendConversion(conversion), { attemptCount: 2 }, String(status))
    await assert.rejects(client.sendConversion(conversion), { status, isRetryable: true })
  }
})

const foreign = [
  answer(200, '<html>Sorry, maintenance</html>', { 'content-type': 'text/html' }),
  answer(200, '{}', { 'content-type': 'text/plain' }),
  answer(200, ''),
  answer(200, '[]'),
  answer(200, '"ok"'),
  answer(200, `{"text":"${'x'.repeat(100_000)}"}`),
]

test('a 200 that is not from the service is no promise, and the delivery is tried again', async (t) => {
  for (const step of foreign) {
    const server = await playScript(t, step, answer(200), step)
    const client = createPublisherClient({ url: server.url, ...quick, attemptsMax: 2 })
    const failed = { status: 200, isRetryable: true, attemptCount: 2 }

    assert.deepEqual(await client.sendConversion(conversion), { attemptCount: 2 })
    await assert.rejects(client.sendConversion(conversion), failed)
    await assert.rejects(client.sendReturn(sentBack), failed)
    const once = { status: 200, isRetryable: false, attemptCount: 1 }
    await assert.rejects(
      client.sendConversion(
        { ...conversion, transaction_id: '' },
        { allowEmptyTransactionId: true }
      ),
      once
    )
  }
  const page = await playScript(t, ...foreign)
  const client = createPublisherClient({ url: page.url, attemptsMax: 1 })
  await assert.rejects(client.sendConversion(conversion), { code: 'ANSWER_UNEXPECTED' })
})

test('a wish to wait longer than allowed fails at once and is passed on', async (t) => {
  const server = await playScript(t, answer(503, {}, { 'retry-after': '3600' }))
  const client = createPublisherClient({ url: server.url, ...quick })

  await assert.rejects(client.sendConversion(conversion), {
    code: 'SERVICE_FAILED',
    retryAfterMs: 3_600_000,
    isRetryable: true,
    attemptCount: 1,
  })
  assert.equal(server.received.length, 1)
})

test('an answer of any length or kind to a refusal is bounded', async (t) => {
  const server = await playScript(
    t,
    answer(400, JSON.stringify({ messages: ['x'.repeat(100_000)] })),
    answer(400, '{"messages": "none"}'),
    answer(400, '<html>')
  )
  const client = createPublisherClient({ url: server.url })

  for (let count = 0; count < 3; count += 1) {
    await assert.rejects(client.sendConversion(conversion), { status: 400, messages: [] })
  }
})

// Those of JavaScript's trim, by which the service decides.
const idsThatNameNothing = ['', ' ', '\t\r\n', '\u00a0', '\u2003 ', '\ufeff']

test('a transaction id that is empty or white space is refused, and sent once when that is wanted', async (t) => {
  for (const transactionId of idsThatNameNothing) {
    const server = await playScript(t, hangUp, answer(503), answer(200))
    const client = createPublisherClient({ url: server.url, ...quick })
    const empty = { ...conversion, transaction_id: transactionId }
    const allowed = { allowEmptyTransactionId: true }

    await assert.rejects(client.sendConversion(empty), {
      code: 'REQUEST_INVALID',
      messages: [
        '/transaction_id must not be empty or white space: each delivery would be a purchase of its own',
      ],
    })
    assert.equal(server.received.length, 0)
    // It may have arrived; who sends it again may count it twice.
    const once = { attemptCount: 1, isRetryable: false }
    await assert.rejects(client.sendConversion(empty, allowed), { code: 'NETWORK_FAILED', ...once })
    await assert.rejects(client.sendConversion(empty, allowed), { code: 'SERVICE_FAILED', ...once })
    assert.deepEqual(await client.sendConversion(empty, allowed), { attemptCount: 1 })
    assert.equal(server.received.length, 3)
  }
})

test('the signal of the caller ends a try under way, a pause, and what has not begun', async (t) => {
  const begun = new AbortController()
  const server = await playScript(
    t,
    () => begun.abort(new Error('shutting down')),
    answer(503, {}, { 'retry-after': '50' })
  )
  const client = createPublisherClient({ url: server.url })
  const paused = new AbortController()

  await assert.rejects(client.sendConversion(conversion, { signal: begun.signal }), {
    code: 'ABORTED',
    cause: new Error('shutting down'),
    attemptCount: 1,
    isRetryable: false,
  })
  const pausing = client.sendConversion(conversion, { signal: paused.signal })
  setTimeout(() => paused.abort(), 200)
  await assert.rejects(pausing, { code: 'ABORTED', attemptCount: 1 })
  await assert.rejects(client.sendConversion(conversion, { signal: paused.signal }), {
    code: 'ABORTED',
    attemptCount: 0,
  })
  assert.equal(server.received.length, 2)
})

test('connections are kept for the next call, also after a refusal', async (t) => {
  const server = await playScript(t, answer(200), answer(400, { messages: ['no'] }), answer(200))
  const client = createPublisherClient({ url: server.url })

  for (let count = 0; count < 9; count += 1) {
    await client.sendConversion(conversion).catch(() => null)
  }

  // fetch opens a second one when the next call comes in the moment in which the first falls idle.
  assert.equal(server.received.length, 9)
  assert.ok(new Set(server.received.map(({ connection }) => connection)).size <= 2)
})

test('no more calls are under way at once than allowed, and what would wait too long a queue is refused', async (t) => {
  let openCount = 0
  let openCountMax = 0
  const server = await playScript(t, async (response) => {
    openCount += 1
    openCountMax = Math.max(openCountMax, openCount)
    await new Promise((resolve) => setImmediate(resolve))
    openCount -= 1
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  const client = createPublisherClient({ url: server.url, inFlightMax: 3, waitingMax: 17 })

  const calls = Array.from({ length: 21 }, () => client.sendConversion(conversion))
  const settled = await Promise.allSettled(calls)

  assert.equal(settled.filter(({ status }) => status === 'fulfilled').length, 20)
  assert.equal(server.received.length, 20)
  assert.ok(openCountMax <= 3, String(openCountMax))
})

test('one signal may stand for many calls without a warning of a leak, and ends them all', async (t) => {
  const server = await playScript(t, stayMute)
  const client = createPublisherClient({ url: server.url, inFlightMax: 20 })
  const abort = new AbortController()
  const warnings: Error[] = []
  const note = (warning: Error) => warnings.push(warning)
  process.on('warning', note)
  t.after(() => process.off('warning', note))

  const calls = Array.from({ length: 40 }, () =>
    client.sendConversion(conversion, { signal: abort.signal })
  )
  await new Promise((resolve) => setImmediate(resolve))
  abort.abort()
  const settled = await Promise.allSettled(calls)

  assert.ok(settled.every(({ status }) => status === 'rejected'))
  assert.deepEqual(warnings, [])
})

test('what the caller changes while the call waits is not sent', async (t) => {
  const server = await playScript(t, answer(503), answer(200))
  const client = createPublisherClient({ url: server.url, ...quick })
  const mutable = structuredClone(conversion) as { transaction_id: string } & Conversion

  const sending = client.sendConversion(mutable)
  mutable.transaction_id = 'another'
  await sending

  for (const { body } of server.received) assert.match(body, /"order-1"/)
})
