import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestCounts } from '../../../src/http/request-counts.ts'
import { TrackerMetrics } from '../../../src/ops/tracker-metrics.ts'
import { quantileOf } from '../../../src/ops/watch/quantile.ts'
import { VitalSignsReader, type VitalSignsDeps } from '../../../src/ops/watch/vital-signs.ts'
import { quietService } from '../../helpers/served-metrics.ts'

function readerWith(changes: Partial<VitalSignsDeps> = {}): VitalSignsReader {
  return new VitalSignsReader({
    ...quietService(),
    trackers: new TrackerMetrics(() => 0),
    installedAtMs: () => Promise.resolve(0),
    notBelieved: () => Promise.resolve([]),
    ...changes,
  })
}

test('answers count from the first look on, by route and reason, and start again with a tracker', async () => {
  const trackers = new TrackerMetrics(() => 0)
  const hear = (counts: RequestCounts) =>
    trackers.hear({
      tracker: 1,
      counts: { routes: counts.read(), cpuSeconds: 0, residentBytes: 0, droppedConnections: 0 },
    })
  const counts = new RequestCounts()
  const full = { status: 503, reason: 'full' }
  counts.note('/conversion', full, 0.001)
  hear(counts)
  const reader = readerWith({ trackers })
  const first = await reader.read()
  assert.deepEqual([...first.refused], [['full', 0]])

  counts.note('/conversion', full, 0.001)
  counts.note('/conversion', { status: 400, reason: 'body' }, 0.3)
  counts.note('/readyz', { status: 503, reason: 'stopping' }, 0.001)
  hear(counts)
  const second = await reader.read()
  assert.deepEqual([...second.refused], [['full', 1]])
  assert.deepEqual(second.answers.get('/conversion'), { all: 2, wrong: 1 })
  assert.equal(
    second.trackingSeconds.reduce((sum, count) => sum + count, 0),
    3
  )

  const restarted = new RequestCounts()
  restarted.note('/conversion', full, 0.001)
  hear(restarted)
  assert.deepEqual([...(await reader.read()).refused], [['full', 1]])
})

test('reports count once, in the look after their answer, and other operations do not', async () => {
  const reader = readerWith()
  reader.noteAnswer({ operation: 'readSpaProductSeries', seconds: 0.02 })
  reader.noteAnswer({ operation: 'downloadSpaProductReport', seconds: 400 })
  reader.noteAnswer({ operation: 'getHealth', seconds: 0.02 })
  const { reportSeconds } = await reader.read()
  assert.equal(reportSeconds[4], 1)
  assert.equal(reportSeconds.at(-1), 1)
  assert.ok((await reader.read()).reportSeconds.every((count) => count === 0))
})

test('a warehouse that does not answer is asked again after a minute, and meanwhile nothing is known', async () => {
  let nowMs = 0
  let asked = 0
  const reader = readerWith({
    clock: () => nowMs,
    unsealedDays: () => {
      asked += 1
      return asked === 1 ? Promise.reject(new Error('away')) : Promise.resolve(4)
    },
  })
  assert.equal((await reader.read()).unsealedDays, null)
  nowMs = 59_999
  assert.equal((await reader.read()).unsealedDays, null)
  nowMs = 60_000
  assert.equal((await reader.read()).unsealedDays, 4)
  assert.equal(asked, 2)
})

test('a quantile lies inside its bucket, at its bound when all do, and is unknown without observations', () => {
  const bounds = [1, 2, 4]
  assert.equal(quantileOf(0.5, { buckets: [0, 0, 0, 0], bounds }), null)
  assert.equal(quantileOf(0.5, { buckets: [0, 10, 0, 0], bounds }), 1.5)
  assert.equal(quantileOf(1, { buckets: [5, 5, 0, 0], bounds }), 2)
  assert.equal(quantileOf(0.9, { buckets: [0, 0, 0, 7], bounds }), 4)
  assert.equal(quantileOf(0.5, { buckets: [10, 0, 0, 0], bounds }), 0.5)
})
