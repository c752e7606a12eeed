import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../../src/errors.ts'
import { openMemorySpool } from '../helpers/memory-spool.ts'
import { latencyBounds, RequestCounts } from '../../src/http/request-counts.ts'
import type { RouteCounts } from '../../src/http/request-counts.ts'
import { aConversion, nowMs, startTracker } from './fixture.ts'
import type { Sending, Tracker } from './fixture.ts'

/** `route status reason` of all that was counted, with the count. */
function answersOf(counts: readonly RouteCounts[]): Readonly<Record<string, number>> {
  return Object.fromEntries(
    counts.flatMap(({ route, answers }) =>
      answers.map(({ status, reason, count }) => [`${route} ${status} ${reason}`.trimEnd(), count])
    )
  )
}

test('every answer is counted once, by what was asked and by the reason of a refusal', async (t) => {
  const tracker = await startTracker(t)
  const requests = await sendAllKinds(tracker)

  const counts = tracker.counts()

  assert.deepEqual(answersOf(counts), {
    '/conversion 200': 2,
    '/conversion 400 body': 2,
    '/conversion 400 encoding': 1,
    '/conversion 400 from-browser': 1,
    '/conversion 405 method': 1,
    '/conversion 413 too-large': 1,
    '/return 400 body': 1,
    '/impression/{trackingData} 200': 1,
    '/click/{trackingData} 302': 1,
    '/click/{trackingData} 400 token': 1,
    '/load/{trackingData} 404 missing-token': 1,
    'none 404 unknown-path': 1,
    'none 400 broken-escape': 1,
    '/healthz 200': 1,
  })
  const all = counts.flatMap(({ answers }) => answers.map(({ count }) => count))
  const timed = counts.flatMap(({ latencies }) => latencies)
  assert.equal(sum(all), requests)
  assert.equal(sum(timed), requests)
  assert.ok(counts.every(({ secondsTotal }) => secondsTotal > 0))
})

async function sendAllKinds({ send, raw, mint }: Tracker): Promise<number> {
  const body = JSON.stringify(aConversion())
  const kinds: readonly (readonly [string, string, Sending?])[] = [
    ['POST', '/conversion', { body }],
    ['POST', '/conversion?x=1', { body }],
    ['POST', '/conversion', { body: '{' }],
    ['POST', '/conversion', { body: '{}' }],
    ['POST', '/conversion', { body, headers: { 'content-encoding': 'br' } }],
    ['POST', '/conversion', { body, headers: { origin: 'https://shop.example' } }],
    ['GET', '/conversion'],
    ['POST', '/return', { body }],
    ['POST', `/impression/${mint()}`],
    ['GET', `/click/${mint()}`],
    ['GET', '/click/forged'],
    ['GET', '/load/'],
    ['GET', '/somewhere/a-secret'],
    ['GET', '/%zz'],
    ['GET', '/healthz'],
  ]
  for (const [method, path, sending] of kinds) await send(method, path, sending)
  await raw('POST /conversion HTTP/1.1\r\nhost: x\r\ncontent-length: 20000000\r\n\r\n')
  return kinds.length + 1
}

test('what is not even a request is counted, and what the spool refuses by its code', async (t) => {
  const memory = openMemorySpool({ clock: () => nowMs })
  const tracker = await startTracker(t, {
    spool: {
      append: () => Promise.reject(new ServiceError('SPOOL_FULL', 'no room')),
      read: (recordsMax) => memory.read(recordsMax),
      remove: (batch) => memory.remove(batch),
      depth: () => memory.depth(),
      close: () => memory.close(),
    },
  })

  await tracker.raw('nonsense\r\n\r\n')
  await tracker.send('POST', '/conversion', { body: JSON.stringify(aConversion()) })

  assert.deepEqual(answersOf(tracker.counts()), {
    'none 400 malformed': 1,
    '/conversion 503 SPOOL_FULL': 1,
  })
})

test('a latency is in the bucket whose upper end it does not exceed', () => {
  const counts = new RequestCounts()
  const edges = latencyBounds.flatMap((bound) => [bound * 1_000, bound * 1_000 + 0.001])

  for (const ms of [0, ...edges, 1e9]) counts.note('/conversion', { status: 200 }, ms)

  const [route] = counts.read()
  // 0 and the first bound; then what is just above a bound with the next bound; then all the rest.
  assert.deepEqual(route?.latencies, latencyBounds.map(() => 2).concat(2))
})

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
