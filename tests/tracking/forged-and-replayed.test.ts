// What somebody can do who holds a link, a key of the ring, or another shop's address.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import {
  activateKey,
  addKey,
  createKeyRing,
  createMinter,
  createOpener,
  type KeyRing,
} from '../../src/tracking-data/tracking-data.ts'
import { anAd, messagesOf, nowMs, startTracker } from './fixture.ts'

const floodSize = 100_000
const clock = () => nowMs
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/'
const kinds = ['impression', 'click', 'load'] as const

test('a flood of 100,000 repeats of one link writes one record to the spool, and every repeat is answered', async (t) => {
  const tracker = await startTracker(t)
  const token = tracker.mint()
  const one = `POST /impression/${token} HTTP/1.1\r\nhost: x\r\n\r\n`
  assert.equal((await tracker.send('POST', `/impression/${token}`)).status, 200)
  const writtenBefore = tracker.records().length

  const socket = connect(tracker.port, '127.0.0.1')
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  let answers = 0
  const answered = new Promise<void>((resolve) => {
    let rest = ''
    socket.on('data', (chunk: Buffer) => {
      const parts = (rest + chunk.toString('latin1')).split('HTTP/1.1 200 OK\r\n')
      rest = parts.at(-1) ?? ''
      answers += parts.length - 1
      if (answers === floodSize) resolve()
    })
  })
  for (let sent = 0; sent < floodSize; sent += 1_000) {
    if (!socket.write(one.repeat(1_000))) await once(socket, 'drain')
  }
  await answered

  assert.equal(writtenBefore, 1)
  assert.equal(tracker.records().length, 1)
})

test('a flood of one link under ever other user agents writes one record, and one of a bot another', async (t) => {
  const tracker = await startTracker(t)
  const token = tracker.mint()
  for (let round = 0; round < 3; round += 1) {
    for (let index = 0; index < 50; index += 1) {
      const headers = {
        'user-agent': index % 2 === 0 ? `${firefox}${index}.0` : `Googlebot/${index}`,
      }
      await tracker.send('POST', `/click/${token}`, { headers })
    }
  }

  assert.deepEqual(
    tracker.adEvents().map(({ caller }) => caller),
    ['ordinary', 'bot']
  )
})

test('a flood of forged tokens is 400 each and writes nothing', async (t) => {
  const tracker = await startTracker(t)
  const bytes = Buffer.from(tracker.mint(), 'base64url')
  const forged = Array.from({ length: 500 }, (_, index) => {
    const copy = Buffer.from(bytes)
    const at = index % copy.length
    copy[at] = (copy[at] ?? 0) ^ (1 << (index % 8))
    return copy.toString('base64url')
  })

  for (const kind of kinds) {
    const replies = await Promise.all(
      forged.map((token) => tracker.send('POST', `/${kind}/${token}`))
    )
    for (const reply of replies) {
      assert.equal(reply.status, 400)
      assert.equal(messagesOf(reply).length, 1)
    }
  }
  assert.equal(tracker.records().length, 0)
})

/** A ring whose minting key is for the given publishers only. */
function boundRing(publishers: readonly number[]): KeyRing {
  const ring = addKey(createKeyRing(), { publishers })
  return activateKey(ring, ring.keys.at(-1)?.id ?? '')
}

/** The same secrets without the bounds, as somebody has who stole them. */
function unbound(ring: KeyRing): KeyRing {
  return { ...ring, keys: ring.keys.map((key) => ({ ...key, publishers: 'all' as const })) }
}

test('who holds a key bound to a publisher can forge no event of another publisher', async (t) => {
  const ring = boundRing([10])
  const tracker = await startTracker(t, { opener: createOpener(ring) })
  const thief = createMinter(unbound(ring), { clock })
  const own = thief.mint({ ...anAd, publisherId: 10 }).trackingData
  const foreign = thief.mint({ ...anAd, publisherId: 20 }).trackingData

  for (const kind of kinds) {
    assert.equal((await tracker.send('POST', `/${kind}/${own}`)).status, 200)
    for (const method of ['POST', 'GET', 'HEAD']) {
      assert.equal(
        (await tracker.send(method, `/${kind}/${foreign}`)).status,
        400,
        `${method} ${kind}`
      )
    }
  }
  assert.equal(tracker.adEvents().length, 3)
})

test('a token of a key that left the ring, and of another installation, leads nowhere and counts nothing', async (t) => {
  const tracker = await startTracker(t)
  const stranger = createMinter(createKeyRing(), { clock }).mint(anAd).trackingData

  const reply = await tracker.send('GET', `/click/${stranger}`)

  assert.equal(reply.status, 400)
  assert.equal(reply.headers.location, undefined)
  assert.equal(tracker.records().length, 0)
})

test('a click leads to the page of its token, whatever the request says in query, headers or body', async (t) => {
  const tracker = await startTracker(t)
  const token = tracker.mint()
  const evil = 'https://evil.example/'
  const names = ['url', 'redirect', 'next', 'dest', 'landingUrl', 'u', '']
  const query = names.map((name) => `${name}=${encodeURIComponent(evil)}`).join('&')
  const headers = {
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    forwarded: 'host=evil.example;proto=https',
    'x-original-url': evil,
    referer: evil,
    location: evil,
  }

  for (const path of [
    `/click/${token}?${query}`,
    `/click/${token}?`,
    `/click/${token}??${query}`,
  ]) {
    const reply = await tracker.send('GET', path, { headers, body: evil })
    assert.deepEqual([reply.status, reply.headers.location], [302, anAd.landingUrl])
    assert.equal(reply.headers['cache-control'], 'no-store')
  }
})
