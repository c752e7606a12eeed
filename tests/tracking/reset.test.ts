// A reset takes the address of the sender away: the operating system no longer tells it.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { isFromSources } from '../../src/catalog/trusted-sources.ts'
import type { Origin } from '../../src/spool/record.ts'
import { makeCertificate } from '../helpers/certificate.ts'
import { sendAndReset } from '../helpers/reset-sender.ts'
import { aConversion, startTracker } from './fixture.ts'
import type { Tracker } from './fixture.ts'

const sendings = 200
const sources = ['203.0.113.0/24']
const aReturn = {
  publisher_id: 10,
  transaction_id: 't-1',
  return_id: 'r-1',
  products: [{ gtin: '4006381333931', quantity: 1 }],
}
const bodies = [
  { path: '/conversion', json: JSON.stringify(aConversion()) },
  { path: '/return', json: JSON.stringify(aReturn) },
] as const

function toJudge(tracker: Tracker) {
  return tracker.records().flatMap((record) => (record.type === 'ad-event' ? [] : [record]))
}

function isBelieved(origin: Origin): boolean {
  return origin.kind === 'backfill' || isFromSources(sources, origin.address)
}

function countTrusted(tracker: Tracker): number {
  return toJudge(tracker).filter((record) => isBelieved(record.origin)).length
}

/** Until nothing more is stored, since nobody waits for answers. */
async function settled(tracker: Tracker): Promise<void> {
  for (let before = -1; before !== tracker.records().length;) {
    before = tracker.records().length
    await sleep(100)
  }
}

for (const { path, json } of bodies) {
  test(`${path}: who resets the connection behind the body satisfies no list of sources`, async (t) => {
    const tracker = await startTracker(t)

    for (let sent = 0; sent < sendings; sent += 1) {
      await sendAndReset({ port: tracker.port, path }, { body: Buffer.from(json) })
    }
    await settled(tracker)

    assert.ok(toJudge(tracker).length > 0, 'some are stored')
    assert.equal(countTrusted(tracker), 0)
  })

  // Inflating ends in a later turn of the event loop, when the reset has long been noticed.
  test(`${path}: nor over TLS, nor with a body that takes long to inflate`, async (t) => {
    const { cert, key } = makeCertificate()
    const tracker = await startTracker(t, { tls: { cert, key } })
    const target = { port: tracker.port, path, ca: cert }
    const padded = gzipSync(json.padEnd(1_000_000))

    for (let sent = 0; sent < sendings; sent += 1) {
      await sendAndReset(target, { body: Buffer.from(json) })
      await sendAndReset(target, { body: padded, isGzip: true, waitMs: sent % 4 })
    }
    await settled(tracker)

    assert.ok(toJudge(tracker).length > 0, 'some are stored')
    assert.equal(countTrusted(tracker), 0)
  })
}

test('the address that was known with the head stays, whatever happens to the connection behind it', async (t) => {
  const tracker = await startTracker(t)
  const { json } = bodies[0]
  const padded = gzipSync(json.padEnd(1_000_000))

  await sendAndReset(
    { port: tracker.port, path: '/conversion' },
    { body: padded, isGzip: true, waitMs: 2 }
  )
  const [answered] = await Promise.all([
    tracker.send('POST', '/conversion', { body: json }),
    settled(tracker),
  ])

  assert.equal(answered.status, 200)
  for (const { origin } of toJudge(tracker)) {
    assert.equal(origin.kind, 'live')
  }
  assert.ok(toJudge(tracker).some(({ origin }) => 'address' in origin && origin.address !== null))
})

/** A tracker that is busy accepts connections that were reset long ago. Nothing tells their address any more. */
test('a click of a sender who was gone before it was accepted is of the list of data centres', async (t) => {
  const tracker = await startTracker(t, {
    dataCentreListOf: (address) => (address === null ? 'v1' : null),
  })
  const paths = Array.from({ length: 50 }, () => `/click/${tracker.mint()}`)
  const child = spawn(process.execPath, ['-e', resettingClient], {
    env: { PORT: String(tracker.port), PATHS: paths.join(' ') },
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000)
  await ended
  await settled(tracker)

  const lists = tracker.adEvents().map(({ dataCentreList }) => dataCentreList)
  assert.ok(lists.length > 0, 'some are stored')
  assert.deepEqual(
    lists,
    lists.map(() => 'v1')
  )
})

const resettingClient = `
const { connect } = require('node:net')
for (const path of process.env.PATHS.split(' ')) {
  const socket = connect(Number(process.env.PORT), '127.0.0.1', () => {
    socket.write('GET ' + path + ' HTTP/1.1\\r\\nhost: x\\r\\n\\r\\n', () => socket.resetAndDestroy())
  })
  socket.on('error', () => {})
}
`
