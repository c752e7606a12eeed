import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrackerMetrics } from '../../src/ops/tracker-metrics.ts'
import type { TrackerCounts } from '../../src/http/request-counts.ts'
import { RequestCounts } from '../../src/http/request-counts.ts'
import { prepareService, eventually } from '../helpers/service.ts'

function countsOf(note: (counts: RequestCounts) => void): TrackerCounts {
  const counts = new RequestCounts()
  note(counts)
  return { routes: counts.read(), cpuSeconds: 1.5, residentBytes: 1e8, droppedConnections: 3 }
}

test('what trackers counted is served by tracker, with buckets that add up', async () => {
  const trackers = new TrackerMetrics(() => 0)
  const counts = countsOf((one) => {
    one.note('/conversion', { status: 200 }, 0.5)
    one.note('/conversion', { status: 200 }, 30)
    one.note('/conversion', { status: 400, reason: 'body' }, 60_000)
  })

  trackers.hear({ tracker: 2, counts })
  trackers.hear({ tracker: 1, counts: countsOf(() => undefined) })
  const lines = (await trackers.read()).split('\n')

  for (const line of [
    'shelftrace_trackers 2',
    'shelftrace_tracker_cpu_seconds_total{tracker="1"} 1.5',
    'shelftrace_tracker_resident_bytes{tracker="2"} 100000000',
    'shelftrace_tracking_dropped_connections_total{tracker="2"} 3',
    'shelftrace_tracking_answers_total{tracker="2",route="/conversion",status="200",reason=""} 2',
    'shelftrace_tracking_answers_total{tracker="2",route="/conversion",status="400",reason="body"} 1',
    'shelftrace_tracking_seconds_bucket{tracker="2",route="/conversion",le="0.001"} 1',
    'shelftrace_tracking_seconds_bucket{tracker="2",route="/conversion",le="0.025"} 1',
    'shelftrace_tracking_seconds_bucket{tracker="2",route="/conversion",le="0.05"} 2',
    'shelftrace_tracking_seconds_bucket{tracker="2",route="/conversion",le="10"} 2',
    'shelftrace_tracking_seconds_bucket{tracker="2",route="/conversion",le="+Inf"} 3',
    'shelftrace_tracking_seconds_count{tracker="2",route="/conversion"} 3',
    'shelftrace_tracking_seconds_sum{tracker="2",route="/conversion"} 60.0305',
  ]) {
    assert.ok(lines.includes(line), `${line}\nis not among\n${lines.join('\n')}`)
  }
})

test('a tracker that falls silent is no longer one of those that are alive', async () => {
  let nowMs = 0
  const trackers = new TrackerMetrics(() => nowMs)
  assert.match(await trackers.read(), /^shelftrace_trackers 0$/mu)
  trackers.hear({ tracker: 1, counts: countsOf(() => undefined) })

  nowMs = 14_999
  assert.match(await trackers.read(), /^shelftrace_trackers 1$/mu)
  nowMs = 15_000
  assert.match(await trackers.read(), /^shelftrace_trackers 0$/mu)
})

test('a node without trackers serves no count of them, so that no alert asks where they are', async () => {
  const trackers = new TrackerMetrics(() => 0, { hasTrackers: false })
  assert.doesNotMatch(await trackers.read(), /^shelftrace_trackers /mu)
})

test('a running service serves what its trackers and its campaign port answered', async (t) => {
  const service = await prepareService(t)
  await service.start()
  const read = async () => await (await service.admin('GET', '/metrics')).text()
  await fetch(`${service.trackingUrl}/load/forged`, { method: 'POST' })
  await fetch(`${service.campaignUrl}/v2/me`)
  await fetch(`${service.campaignUrl}/nowhere`)

  await eventually('the tracker has told', async () =>
    (await read()).includes('route="/load/{trackingData}",status="400",reason="token"} 1')
  )

  const text = await read()
  const lines = text.split('\n').filter((line) => line.startsWith('shelftrace_'))
  const counts = lines.filter((line) => line.startsWith('shelftrace_campaign_answers_total'))
  for (const end of ['"readMe",status="401"} 1', '"none",status="404"} 1']) {
    assert.ok(
      counts.some((line) => line.endsWith(end)),
      counts.join('\n')
    )
  }
  for (const name of ['unsealed_days', 'attribution_lag_seconds']) {
    assert.ok(lines.includes(`shelftrace_${name} 0`), name)
  }
  // Prometheus says "rate() should only be used with counters" of every other type.
  const types = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\w+)$/gmu)].map(([, name, type]) => [name, type])
  )
  const sinceStart = [...text.matchAll(/^# HELP (shelftrace_\S+) .* since the start\.$/gmu)]
  assert.equal(sinceStart.length, 4)
  for (const [, name] of sinceStart) assert.equal(types.get(name), 'counter', name)
  assert.ok(!text.includes('forged') && !text.includes('nowhere'))
})
