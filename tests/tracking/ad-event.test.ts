import assert from 'node:assert/strict'
import { test } from 'node:test'
import { landingUrl, messagesOf, nowMs, startTracker } from './fixture.ts'

const kinds = ['impression', 'click', 'load'] as const
const dayMs = 86_400_000

for (const kind of kinds) {
  test(`POST /${kind} is answered 200 {} and stands in the spool by then`, async (t) => {
    const tracker = await startTracker(t)
    const token = tracker.mint()

    const reply = await tracker.send('POST', `/${kind}/${token}`, {
      headers: { accept: 'application/json', 'user-agent': 'Mozilla/5.0' },
    })

    assert.equal(reply.status, 200)
    assert.equal(reply.text, '{}')
    assert.equal(reply.headers['content-type'], 'application/json')
    assert.deepEqual(tracker.records(), [
      {
        type: 'ad-event',
        kind,
        receivedAtMs: nowMs,
        trackingData: token,
        userAgent: 'Mozilla/5.0',
        isPrefetch: false,
        caller: 'bot',
      },
    ])
  })

  test(`HEAD /${kind} answers like GET without a body and stores nothing`, async (t) => {
    const tracker = await startTracker(t)
    const token = tracker.mint()

    const head = await tracker.send('HEAD', `/${kind}/${token}`)
    const countAfterHead = tracker.records().length
    const get = await tracker.send('GET', `/${kind}/${token}`)

    assert.equal(countAfterHead, 0)
    assert.equal(head.status, get.status)
    assert.deepEqual({ ...head.headers, date: '' }, { ...get.headers, date: '' })
    assert.equal(head.body.length, 0)
    assert.equal(tracker.adEvents().length, 1)
  })
}

for (const kind of ['impression', 'load'] as const) {
  test(`GET /${kind} answers an uncacheable GIF of one pixel and stores the event`, async (t) => {
    const tracker = await startTracker(t)

    const reply = await tracker.send('GET', `/${kind}/${tracker.mint()}`)

    assert.equal(reply.status, 200)
    assert.equal(reply.headers['content-type'], 'image/gif')
    assert.equal(reply.headers['cache-control'], 'no-store')
    assert.equal(reply.headers['x-content-type-options'], 'nosniff')
    assert.equal(reply.body.toString('latin1', 0, 6), 'GIF89a')
    assert.deepEqual([reply.body.readUInt16LE(6), reply.body.readUInt16LE(8)], [1, 1])
    assert.equal(reply.body.at(-1), 0x3b)
    assert.equal(tracker.adEvents()[0]?.kind, kind)
  })
}

test('GET /click redirects, uncacheably, to the landing page of the token and nowhere else', async (t) => {
  const tracker = await startTracker(t)
  const query = '?url=https://evil.example&dest=//evil.example&fbclid=x%26y&broken=%zz'

  const reply = await tracker.send('GET', `/click/${tracker.mint()}${query}`, {
    headers: {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      referer: 'https://evil.example/',
    },
  })

  assert.equal(reply.status, 302)
  assert.equal(reply.headers.location, landingUrl)
  assert.equal(reply.headers['cache-control'], 'no-store')
  assert.equal(tracker.adEvents()[0]?.kind, 'click')
})

test('GET /click of a token without a landing page is 204 and stores the event', async (t) => {
  const tracker = await startTracker(t)

  const reply = await tracker.send('GET', `/click/${tracker.mint({ landingUrl: '' })}`)

  assert.equal(reply.status, 204)
  assert.equal(reply.headers['cache-control'], 'no-store')
  assert.equal(reply.headers.location, undefined)
  assert.equal(tracker.adEvents().length, 1)
})

test('every altered, cut or foreign token is 400 with messages and stores nothing', async (t) => {
  const tracker = await startTracker(t)
  const token = tracker.mint()
  const foreign = (await startTracker(t)).mint()
  const other = tracker.mint()
  const altered = Array.from({ length: Math.floor(token.length / 5) }, (_, index) => {
    const at = index * 5
    return `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`
  })
  const bad = [
    ...altered,
    ...[1, 4, 8, 12, 20].map((count) => token.slice(0, -count)),
    token.slice(0, token.length / 2) + other.slice(token.length / 2),
    `${token}A`,
    `${token}&__hstc=1`,
    foreign,
    'abc',
    'A'.repeat(8_000),
    '%2525',
    `${token}%2500`,
    `${token}%00`,
    'https%3A%2F%2Fevil.example',
    'favicon.ico',
  ]

  for (const [index, segment] of bad.entries()) {
    const method = index % 2 === 0 ? 'POST' : 'GET'
    const reply = await tracker.send(method, `/click/${segment}`)
    assert.equal(reply.status, 400, segment.slice(0, 40))
    assert.equal(messagesOf(reply).length, 1)
    assert.equal(reply.headers.location, undefined)
  }
  assert.equal(tracker.records().length, 0)
})

test('every accepted spelling of a token is one event', async (t) => {
  const tracker = await startTracker(t)
  const token = mintWith(tracker.mint, /[-_].*[-_]/)
  const bytes = Buffer.from(token, 'base64url')
  const standard = bytes.toString('base64')
  const spellings = [
    token,
    encodeURIComponent(standard),
    standard.replaceAll('/', '%2F'),
    standard.replaceAll('/', '%2f').replaceAll('+', '%2b'),
    `%${token.charCodeAt(0).toString(16)}${token.slice(1)}`,
  ]

  for (const spelling of spellings) {
    const reply = await tracker.send('POST', `/impression/${spelling}`)
    assert.equal(reply.status, 200, spelling)
  }
  const twice = await tracker.send(
    'POST',
    `/impression/${encodeURIComponent(encodeURIComponent(standard))}`
  )

  assert.equal(twice.status, 400)
  assert.deepEqual(
    tracker.adEvents().map((event) => event.trackingData),
    [token]
  )
})

test('prefetch and prerender headers mark the event', async (t) => {
  const tracker = await startTracker(t)
  const cases: readonly (readonly [name: string, value: string, isPrefetch: boolean])[] = [
    ['sec-purpose', 'prefetch', true],
    ['sec-purpose', 'prefetch;prerender', true],
    ['sec-purpose', 'Prerender', true],
    ['purpose', 'prefetch', true],
    ['x-moz', 'prefetch', true],
    ['x-purpose', 'preview', true],
    ['purpose', 'Preview', true],
    ['x-purpose', 'other', false],
    ['sec-purpose', 'other', false],
  ]

  for (const [name, value] of cases) {
    await tracker.send('GET', `/impression/${tracker.mint()}`, { headers: { [name]: value } })
  }

  assert.deepEqual(
    tracker.adEvents().map((event) => event.isPrefetch),
    cases.map(([, , isPrefetch]) => isPrefetch)
  )
})

test('a user agent is kept to 512 characters, and a missing one is empty', async (t) => {
  const tracker = await startTracker(t)
  const headers = { 'user-agent': 'ä'.repeat(600) }

  await tracker.send('POST', `/impression/${tracker.mint()}`, { headers })
  await tracker.raw(
    `POST /impression/${tracker.mint()} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
  )

  const agents = tracker.adEvents().map((event) => event.userAgent)
  assert.deepEqual(agents.toSorted(), ['', 'ä'.repeat(512)])
})

test('sendBeacon of every type gets through: any content type, with or without a body', async (t) => {
  const tracker = await startTracker(t)
  const bodies: readonly (readonly [type: string, body: string | Buffer])[] = [
    ['text/plain;charset=UTF-8', 'hello'],
    ['application/x-www-form-urlencoded', 'a=b'],
    ['multipart/form-data; boundary=x', '--x--'],
    ['application/json', '{broken'],
    ['', Buffer.from([0, 255])],
    ['application/octet-stream', ''],
  ]

  for (const [type, body] of bodies) {
    const headers = { ...(type === '' ? {} : { 'content-type': type }), 'content-encoding': 'gzip' }
    const reply = await tracker.send('POST', `/load/${tracker.mint()}`, { headers, body })
    assert.equal(reply.status, 200)
  }
  assert.equal(tracker.adEvents().length, bodies.length)
})

test('an exact repeat of a stored event is answered alike and not stored again', async (t) => {
  const tracker = await startTracker(t)
  const token = tracker.mint()

  const first = await tracker.send('POST', `/impression/${token}`)
  for (let index = 0; index < 3; index++) {
    const repeat = await tracker.send('POST', `/impression/${token}`)
    assert.equal(repeat.text, first.text)
  }
  const image = await tracker.send('GET', `/impression/${token}`)

  assert.equal(image.headers['content-type'], 'image/gif')
  assert.equal(tracker.adEvents().length, 1)
})

test('another kind, bot instead of person, another purpose or token is no repeat', async (t) => {
  const tracker = await startTracker(t)
  const token = tracker.mint()
  const paths = [`/impression/${token}`, `/click/${token}`, `/impression/${tracker.mint()}`]
  const variants = [{}, { 'user-agent': 'Googlebot' }, { 'sec-purpose': 'prefetch' }]

  for (const path of paths) {
    for (const headers of variants) await tracker.send('POST', path, { headers })
    for (const headers of variants) await tracker.send('POST', path, { headers })
  }

  assert.equal(tracker.adEvents().length, paths.length * variants.length)
})

test('a repeat is forgotten after a minute and then stored again', async (t) => {
  const tracker = await startTracker(t)
  const token = tracker.mint()

  await tracker.send('POST', `/impression/${token}`)
  tracker.at.ms += 60_000
  await tracker.send('POST', `/impression/${token}`)

  assert.equal(tracker.adEvents().length, 2)
})

test('repeats that come while the first is not yet on disk are never answered before one is', async (t) => {
  const tracker = await startTracker(t)
  const token = tracker.mint()

  const replies = await Promise.all(
    Array.from({ length: 20 }, () => tracker.send('POST', `/impression/${token}`))
  )

  assert.ok(replies.every((reply) => reply.status === 200))
  assert.ok(tracker.adEvents().length >= 1)
})

test('what does not count never stands in for what does, and is itself stored once', async (t) => {
  const tracker = await startTracker(t)
  const token = tracker.mint({ servedAtMs: nowMs + 5 * 60_000 + 1 })
  const click = async (headers = {}) => await tracker.send('POST', `/click/${token}`, { headers })
  const bot = { 'user-agent': 'Googlebot' }
  const verdicts = () =>
    tracker
      .adEvents()
      .map(({ caller, receivedAtMs }) => (caller === 'bot' ? caller : receivedAtMs - nowMs))

  for (const headers of [{}, bot, {}, bot]) await click(headers)
  assert.deepEqual(verdicts(), [0, 'bot'], 'early, and a bot')
  tracker.at.ms += 1
  await click()
  await click()

  assert.deepEqual(verdicts(), [0, 'bot', 1], 'the first that is in time')
})

test('repeats of an expired link are stored once, and once more on a new day', async (t) => {
  const tracker = await startTracker(t)
  const midnightMs = Date.UTC(2026, 2, 3)
  const token = tracker.mint({ servedAtMs: nowMs - 900 * dayMs })
  for (const atMs of [midnightMs - 10_000, midnightMs - 1, midnightMs, midnightMs + 10_000]) {
    tracker.at.ms = atMs
    for (let count = 0; count < 20; count += 1) {
      const headers = {
        'user-agent': `Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/${count}.0`,
      }
      assert.equal((await tracker.send('POST', `/click/${token}`, { headers })).status, 200)
    }
  }

  assert.deepEqual(
    tracker.adEvents().map(({ caller, receivedAtMs }) => [caller, receivedAtMs - midnightMs]),
    [
      ['ordinary', -10_000],
      ['ordinary', 0],
    ]
  )
})

test('a click leads to its page until four weeks after it could count, and is kept and answered 204 afterwards', async (t) => {
  const tracker = await startTracker(t)
  for (const [servedAtMs, status] of [
    [nowMs - 35 * dayMs, 302],
    [nowMs - 35 * dayMs - 1, 204],
    [nowMs + 35 * dayMs, 302],
    [nowMs + 35 * dayMs + 1, 204],
  ] as const) {
    const token = tracker.mint({ servedAtMs })

    assert.equal((await tracker.send('HEAD', `/click/${token}`)).status, status)
    assert.equal((await tracker.send('GET', `/click/${token}`)).status, status)
    assert.equal((await tracker.send('POST', `/click/${token}`)).status, 200)
  }

  assert.equal(tracker.adEvents().length, 4)
})

function mintWith(mint: () => string, pattern: RegExp): string {
  for (let attempt = 0; attempt < 1_000; attempt++) {
    const token = mint()
    const standard = Buffer.from(token, 'base64url').toString('base64')
    if (pattern.test(token) && standard.includes('+') && standard.includes('/')) return token
  }
  throw new Error('no such token in 1,000')
}

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const app = { 'user-agent': 'okhttp/4.12.0' }

test('callers are told apart, so that none hides another, and each is stored once', async (t) => {
  const tracker = await startTracker(t)
  const token = tracker.mint()
  const agents = ['', 'okhttp/4.12.0', 'okhttp/4.9', 'curl/8', 'x GoogleImageProxy', firefox, '']
  for (const agent of [...agents, ...agents]) {
    await tracker.send('POST', `/click/${token}`, { headers: { 'user-agent': agent } })
  }

  assert.deepEqual(
    tracker.adEvents().map(({ caller }) => caller),
    ['unnamed', 'app-library', 'bot', 'mail-proxy', 'ordinary']
  )
})

test('when the catalog judges otherwise, events that may count now are stored again', async (t) => {
  const tracker = await startTracker(t)
  const token = tracker.mint()
  const click = async () => await tracker.send('POST', `/click/${token}`, { headers: app })
  await click()
  await click()
  assert.equal(tracker.records().length, 1)

  tracker.forgetRepeats()
  await click()

  assert.equal(tracker.records().length, 2)
})

test('the network of the caller is looked up behind a proxy as well, only its list is kept, and another network is another event', async (t) => {
  const asked: string[] = []
  const dataCentreListOf = (address: string | null) => {
    asked.push(String(address))
    return address !== null && address.startsWith('203.0.113.') ? '0123456789ab' : null
  }
  const tracker = await startTracker(t, { trustProxy: true, dataCentreListOf })
  const token = tracker.mint()
  for (const address of ['203.0.113.7', '203.0.113.8', '198.51.100.1', '198.51.100.2']) {
    const headers = { 'user-agent': firefox, 'x-forwarded-for': `10.0.0.1, ${address}` }
    await tracker.send('POST', `/click/${token}`, { headers, body: '{}' })
  }

  assert.deepEqual(asked, ['203.0.113.7', '203.0.113.8', '198.51.100.1', '198.51.100.2'])
  assert.deepEqual(
    tracker.adEvents().map(({ dataCentreList }) => dataCentreList),
    ['0123456789ab', undefined]
  )
  assert.ok(!JSON.stringify(tracker.records()).includes('203.0.113'))
})
