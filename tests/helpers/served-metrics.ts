import { ContradictionCounts } from '../../src/pipeline/contradiction-counts.ts'
import { createMetrics } from '../../src/ops/metrics.ts'
import type { MetricsDeps } from '../../src/ops/metrics.ts'
import { TrackerMetrics } from '../../src/ops/tracker-metrics.ts'
import { openMemorySpool } from './memory-spool.ts'

/** A service in which nothing happens. */
export function quietService(contradictions = new ContradictionCounts()): MetricsDeps {
  const counts = { shipped: 0, setAside: 0, contradictions, attributed: 0, sealed: 0, failures: 0 }
  return {
    spool: openMemorySpool({ clock: () => 0 }),
    pipeline: { counts, failingSteps: () => [], attributionLagMs: () => 0 },
    clock: () => 0,
    clockOffsetMs: () => null,
    lastBackupAtMs: () => null,
    trackers: new TrackerMetrics(() => 0),
    watch: { alerts: () => [], noteAnswer: () => undefined },
    unsealedDays: () => Promise.resolve(0),
    nodes: () => [],
    notBelieved: () => Promise.resolve([]),
  }
}

/** The names of all metrics that the service serves. */
export async function servedMetrics(): Promise<ReadonlySet<string>> {
  const text = await createMetrics(quietService()).read()
  return new Set([...text.matchAll(/^# TYPE (\w+) /gmu)].map(([, name = '']) => name))
}
