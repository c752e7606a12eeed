import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { NotBelievedOfPublisher } from '../contract/not-believed.ts'
import type { Clock } from '../lib/clock.ts'
import type { Pipeline } from '../pipeline/pipeline.ts'
import type { SeenNode } from '../nodes/nodes.ts'
import type { Spool } from '../spool/spool.ts'
import { latencyBounds } from '../http/request-counts.ts'
import type { TrackerMetrics } from './tracker-metrics.ts'
import type { OpenWatch } from './watch/open-watch.ts'

export interface MetricsDeps {
  readonly spool: Pick<Spool, 'depth'>
  readonly pipeline: Pick<Pipeline, 'counts' | 'failingSteps' | 'attributionLagMs'>
  readonly trackers: Pick<TrackerMetrics, 'read'>
  readonly clock: Clock
  /** Null while it is not known. */
  readonly clockOffsetMs: () => number | null
  /** The instant of the newest complete backup. Null without one, or if the warehouse is a server. */
  readonly lastBackupAtMs: () => number | null
  /** How many past days are not sealed, in the market with the most of them. */
  readonly unsealedDays: () => Promise<number>
  /** Null while it is not known. */
  readonly nodes: () => readonly Pick<SeenNode, 'state'>[] | null
  /** What the node finds wrong with itself, and who else hears of answers. */
  readonly watch: Pick<OpenWatch, 'alerts' | 'noteAnswer'>
  /** Deliveries of the last 24 hours that are not believed. */
  readonly notBelieved: () => Promise<readonly NotBelievedOfPublisher[]>
}

/** An answer of the campaign port. */
export interface CampaignAnswer {
  /** The operation of the contract, or 'none'. */
  readonly operation: string
  readonly status: number
  readonly seconds: number
}

export interface Metrics {
  /** Prometheus text of this process and of the trackers. Counters restart with their process. */
  readonly read: () => Promise<string>
  readonly noteAnswer: (answer: CampaignAnswer) => void
  /** A connection to the campaign port was refused or closed for want of room. */
  readonly noteDroppedConnection: () => void
}

export function createMetrics({
  spool,
  pipeline,
  clock,
  clockOffsetMs,
  lastBackupAtMs,
  trackers,
  watch,
  unsealedDays,
  nodes,
  notBelieved,
}: MetricsDeps): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const gauge: AddGauge = (name, help, read) => {
    const metric: Gauge = new Gauge({
      name: `shelftrace_${name}`,
      help,
      registers: [registry],
      collect: async () => metric.set(await read()),
    })
  }
  addSpool(gauge, { spool, clock })
  gauge(
    'clock_offset_seconds',
    "By how much this node's clock is ahead of the warehouse's; NaN while it is not known.",
    () => (clockOffsetMs() ?? Number.NaN) / 1_000
  )
  addPipeline(gauge, pipeline)
  addPipelineCounts(registry, pipeline)
  countContradictions(registry, pipeline)
  gauge(
    'last_backup_timestamp_seconds',
    'The instant of the newest complete backup; NaN without one.',
    () => (lastBackupAtMs() ?? Number.NaN) / 1_000
  )
  gauge(
    'unsealed_days',
    'Days that are over and not sealed, of the market with the most; NaN while that is not known.',
    () => unsealedDays().catch(() => Number.NaN)
  )
  addNodes(gauge, nodes)
  addNotBelieved(registry, notBelieved)
  addAlerts(registry, watch)
  const port = createPortMetrics(registry)
  return {
    ...port,
    read: async () => `${await registry.metrics()}\n${await trackers.read()}`,
    noteAnswer(given) {
      port.noteAnswer(given)
      watch.noteAnswer(given)
    },
  }
}

type AddGauge = (name: string, help: string, read: () => number | Promise<number>) => void

function addSpool(gauge: AddGauge, { spool, clock }: Pick<MetricsDeps, 'spool' | 'clock'>): void {
  gauge(
    'spool_bytes',
    'Bytes on disk that are not yet in the warehouse.',
    () => spool.depth().bytes
  )
  gauge('spool_lag_seconds', 'Age of the oldest event that is not yet in the warehouse.', () => {
    const { oldestAtMs } = spool.depth()
    return oldestAtMs === null ? 0 : Math.max(0, clock() - oldestAtMs) / 1_000
  })
}

function addNodes(gauge: AddGauge, nodes: MetricsDeps['nodes']): void {
  const countOf = (state: SeenNode['state']): number =>
    nodes()?.filter((one) => one.state === state).length ?? Number.NaN
  gauge(
    'living_nodes',
    'Nodes of this warehouse that were seen in the last 30 s; NaN while that is not known.',
    () => countOf('living')
  )
  gauge(
    'silent_nodes',
    'Nodes that are not seen any more, whose spools may hold events, and for which sealing waits.',
    () => countOf('silent')
  )
}

/** The pipeline counts by itself, so the whole sums are handed over whenever they are read. */
function addPipelineCounts(registry: Registry, { counts }: MetricsDeps['pipeline']): void {
  const add = (name: string, help: string, read: () => number) => {
    const metric: Counter = new Counter({
      name: `shelftrace_${name}`,
      help,
      registers: [registry],
      collect: () => {
        metric.reset()
        metric.inc(read())
      },
    })
  }
  add('shipped_events', 'Events shipped since the start.', () => counts.shipped)
  add('attributed_purchases', 'Purchases attributed since the start.', () => counts.attributed)
  add('set_aside_events', 'Events set aside since the start.', () => counts.setAside)
  add('pipeline_failures', 'Failed steps since the start.', () => counts.failures)
}

function addPipeline(gauge: AddGauge, pipeline: MetricsDeps['pipeline']): void {
  gauge(
    'failing_steps',
    'Steps of the pipeline whose last try failed.',
    () => pipeline.failingSteps().length
  )
  gauge(
    'attribution_lag_seconds',
    'Time since the oldest purchase that is due for attribution was shipped; 0 when none is.',
    () => pipeline.attributionLagMs() / 1_000
  )
}

function countContradictions(registry: Registry, pipeline: MetricsDeps['pipeline']): void {
  const metric: Counter<'publisher' | 'rule'> = new Counter({
    name: 'shelftrace_contradicting_events_total',
    help: 'Ad events set aside because they contradict the catalog.',
    labelNames: ['publisher', 'rule'],
    registers: [registry],
    collect: () => {
      metric.reset()
      for (const { publisher, rule, count } of pipeline.counts.contradictions.read()) {
        metric.inc({ publisher, rule }, count)
      }
    },
  })
}

/** Series of publishers end with the 24 hours; all are left out while they cannot be read. */
function addNotBelieved(registry: Registry, read: MetricsDeps['notBelieved']): void {
  const metric: Gauge<'publisher' | 'kind' | 'reason'> = new Gauge({
    name: 'shelftrace_not_believed_deliveries',
    help: 'Deliveries of the last 24 hours that are not believed, by publisher, kind and reason.',
    labelNames: ['publisher', 'kind', 'reason'],
    registers: [registry],
    collect: async () => {
      const groups = await read().catch(() => [])
      metric.reset()
      for (const { publisherId, kind, reason, deliveries } of groups) {
        metric.set({ publisher: publisherId, kind, reason }, deliveries)
      }
    },
  })
}

function addAlerts(registry: Registry, watch: MetricsDeps['watch']): void {
  const metric: Gauge<'alert' | 'severity'> = new Gauge({
    name: 'shelftrace_alerts',
    help: 'Alerts that stand by the judgement of the node itself: 1 for each.',
    labelNames: ['alert', 'severity'],
    registers: [registry],
    collect: () => {
      metric.reset()
      for (const { name, severity } of watch.alerts()) metric.set({ alert: name, severity }, 1)
    },
  })
}

function createPortMetrics(registry: Registry): Omit<Metrics, 'read'> {
  const dropped = new Counter({
    name: 'shelftrace_campaign_dropped_connections_total',
    help: 'Connections to the campaign port that were refused or closed for want of room.',
    registers: [registry],
  })
  const answers = new Counter({
    name: 'shelftrace_campaign_answers_total',
    help: 'Answers of the campaign port by operation of the contract.',
    labelNames: ['operation', 'status'],
    registers: [registry],
  })
  const latency = new Histogram({
    name: 'shelftrace_campaign_seconds',
    help: 'From the head of a request to the end of its answer.',
    labelNames: ['operation'],
    buckets: [...latencyBounds, 30, 60],
    registers: [registry],
  })
  return {
    noteAnswer: ({ operation, status, seconds }) => {
      answers.inc({ operation, status })
      latency.observe({ operation }, seconds)
    },
    noteDroppedConnection: () => dropped.inc(),
  }
}
