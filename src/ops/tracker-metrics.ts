// The metrics of the trackers of this node. Each tracker sends its counts every few seconds, and the
// engine keeps the last ones, since only the engine has a port that serves metrics. The trackers count
// by hand: `prom-client` would take 10 MB in each of them.

import { AggregatorRegistry } from 'prom-client'
import type { Clock } from '../lib/clock.ts'
import { latencyBounds } from '../http/request-counts.ts'
import type { RouteCounts, TrackerCounts } from '../http/request-counts.ts'

/** A tracker that is silent for this long is gone or hangs. */
const silentMsMax = 15_000

type Labels = Readonly<Record<string, string | number>>

interface Value {
  readonly labels: Labels
  readonly value: number
  /** Set if it differs from the name of the metric. */
  readonly metricName?: string
}

interface Metric {
  /** Nothing is added up, since each value has its tracker. */
  readonly aggregator: 'first'
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly values: readonly Value[]
}

export class TrackerMetrics {
  readonly #clock: Clock
  readonly #hasTrackers: boolean
  readonly #heard = new Map<number, { readonly counts: TrackerCounts; readonly atMs: number }>()

  constructor(clock: Clock, { hasTrackers = true } = {}) {
    this.#clock = clock
    this.#hasTrackers = hasTrackers
  }

  /** Trackers are numbered from 1. */
  hear({ tracker, counts }: Tracker): void {
    this.#heard.set(tracker, { counts, atMs: this.#clock() })
  }

  /** The counts of each tracker since its start, in order. */
  counts(): readonly Tracker[] {
    return [...this.#heard]
      .toSorted(([a], [b]) => a - b)
      .map(([tracker, { counts }]) => ({ tracker, counts }))
  }

  /** How many were heard of within 15 s; null where the role of the node has none. */
  alive(): number | null {
    if (!this.#hasTrackers) return null
    const aliveAfterMs = this.#clock() - silentMsMax
    return [...this.#heard.values()].filter(({ atMs }) => atMs > aliveAfterMs).length
  }

  /** Prometheus text. Counts of a tracker restart with its process. */
  async read(): Promise<string> {
    const trackers = this.counts()
    const alive = this.alive()
    const metrics: readonly Metric[] = [
      {
        name: 'shelftrace_trackers',
        help: 'Trackers of this node that were heard of within 15 s.',
        type: 'gauge',
        aggregator: 'first',
        // A node whose role has no trackers does not lack them.
        values: alive === null ? [] : [{ labels: {}, value: alive }],
      },
      processMetric(trackers, {
        name: 'shelftrace_tracker_cpu_seconds_total',
        help: 'Processor time of a tracker.',
        type: 'counter',
        read: (counts) => counts.cpuSeconds,
      }),
      processMetric(trackers, {
        name: 'shelftrace_tracker_resident_bytes',
        help: 'Memory of a tracker.',
        type: 'gauge',
        read: (counts) => counts.residentBytes,
      }),
      processMetric(trackers, {
        name: 'shelftrace_tracking_dropped_connections_total',
        help: 'Connections to the tracking port that were refused or closed for want of room.',
        type: 'counter',
        read: (counts) => counts.droppedConnections,
      }),
      answersMetric(trackers),
      latencyMetric(trackers),
    ]
    // The form in which processes of a cluster exchange metrics.
    const registry = AggregatorRegistry.aggregate([metrics])
    return await registry.metrics()
  }
}

interface Tracker {
  readonly tracker: number
  readonly counts: TrackerCounts
}

function processMetric(
  trackers: readonly Tracker[],
  {
    read,
    ...metric
  }: Omit<Metric, 'values' | 'aggregator'> & { readonly read: (counts: TrackerCounts) => number }
): Metric {
  const values = trackers.map(({ tracker, counts }) => ({
    labels: { tracker },
    value: read(counts),
  }))
  return { ...metric, aggregator: 'first', values }
}

function answersMetric(trackers: readonly Tracker[]): Metric {
  return {
    name: 'shelftrace_tracking_answers_total',
    aggregator: 'first',
    help: 'Answers of the tracking port; reason is empty where nothing was refused.',
    type: 'counter',
    values: trackers.flatMap(({ tracker, counts }) =>
      counts.routes.flatMap(({ route, answers }) =>
        answers.map(({ status, reason, count }) => ({
          labels: { tracker, route, status, reason },
          value: count,
        }))
      )
    ),
  }
}

const latencyName = 'shelftrace_tracking_seconds'

function latencyMetric(trackers: readonly Tracker[]): Metric {
  return {
    name: latencyName,
    aggregator: 'first',
    help: 'From the head of a request to the decision on its answer, which for an event is after its sync.',
    type: 'histogram',
    values: trackers.flatMap(({ tracker, counts }) =>
      counts.routes.flatMap((route) => latencyValues({ tracker, route: route.route }, route))
    ),
  }
}

function latencyValues(labels: Labels, { latencies, secondsTotal }: RouteCounts): Value[] {
  let count = 0
  const buckets = [...latencyBounds, '+Inf'].map((le, index) => {
    count += latencies[index] ?? 0
    return { labels: { ...labels, le }, value: count, metricName: `${latencyName}_bucket` }
  })
  return [
    ...buckets,
    { labels, value: secondsTotal, metricName: `${latencyName}_sum` },
    { labels, value: count, metricName: `${latencyName}_count` },
  ]
}
