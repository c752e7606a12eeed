import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { Clock } from '../lib/clock.ts'
import type { PipelineCounts } from '../pipeline/pipeline.ts'
import type { Spool } from '../spool/spool.ts'

export interface MetricsDeps {
  readonly spool: Pick<Spool, 'depth'>
  readonly pipeline: { readonly counts: PipelineCounts; failingSteps(): readonly string[] }
  readonly clock: Clock
  /** Null while it is not known. */
  readonly clockOffsetMs: () => number | null
  /** Of the newest complete backup; null where there is none, or the warehouse is a server. */
  readonly lastBackupAtMs: () => number | null
}

/** Prometheus text of the engine process; counters begin anew with the process. */
export function createMetrics({
  spool,
  pipeline,
  clock,
  clockOffsetMs,
  lastBackupAtMs,
}: MetricsDeps): () => Promise<string> {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const gauge = (name: string, help: string, read: () => number): void => {
    const metric: Gauge = new Gauge({
      name: `shelftrace_${name}`,
      help,
      registers: [registry],
      collect: () => metric.set(read()),
    })
  }
  gauge(
    'spool_bytes',
    'Bytes on disk that are not yet in the warehouse.',
    () => spool.depth().bytes
  )
  gauge('spool_lag_seconds', 'Age of the oldest event that is not yet in the warehouse.', () => {
    const { oldestAtMs } = spool.depth()
    return oldestAtMs === null ? 0 : Math.max(0, clock() - oldestAtMs) / 1_000
  })
  gauge(
    'clock_offset_seconds',
    "By how much this node's clock is ahead of the warehouse's; NaN while it is not known.",
    () => (clockOffsetMs() ?? Number.NaN) / 1_000
  )
  gauge('shipped_events', 'Events shipped since the start.', () => pipeline.counts.shipped)
  gauge(
    'attributed_purchases',
    'Purchases attributed since the start.',
    () => pipeline.counts.attributed
  )
  gauge('set_aside_events', 'Events set aside since the start.', () => pipeline.counts.setAside)
  gauge('pipeline_failures', 'Failed steps since the start.', () => pipeline.counts.failures)
  gauge(
    'failing_steps',
    'Steps of the pipeline whose last try failed.',
    () => pipeline.failingSteps().length
  )
  gauge(
    'last_backup_timestamp_seconds',
    'The instant of the newest complete backup; NaN without one.',
    () => (lastBackupAtMs() ?? Number.NaN) / 1_000
  )
  return () => registry.metrics()
}
