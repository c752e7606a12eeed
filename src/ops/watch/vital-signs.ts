// What the watch looks at: the state of the node at one instant, and what was counted since the look before.
import { latencyBounds } from '../../http/request-counts.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Spool } from '../../spool/spool.ts'
import type { CampaignAnswer, MetricsDeps } from '../metrics.ts'
import type { TrackerMetrics } from '../tracker-metrics.ts'

/** Upper ends of the buckets of reports, in seconds. */
export const reportBounds = [...latencyBounds, 30, 60] as const

export interface VitalSigns {
  readonly atMs: number
  readonly spoolLagMs: number
  readonly spoolBytes: number
  readonly attributionLagMs: number
  readonly failingSteps: readonly string[]
  /** Null while it is not known. */
  readonly clockOffsetMs: number | null
  /** Null where the node has no trackers. */
  readonly trackersAlive: number | null
  /** Nodes that left without emptying their spools; null while it is not known. */
  readonly silentNodes: number | null
  /** In the market with the most; null while the warehouse does not say. */
  readonly unsealedDays: number | null
  /** By publisher, kind and reason, of 24 hours; null while the warehouse does not say. */
  readonly notBelieved: readonly string[] | null
  /** Null while the warehouse does not say. */
  readonly installedAtMs: number | null
  /** Null without one; undefined where backups are not the node's. */
  readonly lastBackupAtMs: number | null | undefined
  /** Counts of the time since the look before. */
  readonly setAside: number
  readonly shipped: number
  /** By reason. */
  readonly refused: ReadonlyMap<string, number>
  /** By route: all answers, and those that say that the request was wrong. */
  readonly answers: ReadonlyMap<string, { readonly all: number; readonly wrong: number }>
  /** By bucket of `latencyBounds`. */
  readonly trackingSeconds: readonly number[]
  /** By bucket of `reportBounds`. */
  readonly reportSeconds: readonly number[]
}

export interface VitalSignsDeps {
  readonly clock: Clock
  readonly spool: Pick<Spool, 'depth'>
  readonly pipeline: MetricsDeps['pipeline']
  readonly trackers: Pick<TrackerMetrics, 'counts' | 'alive'>
  readonly nodes: MetricsDeps['nodes']
  readonly clockOffsetMs: () => number | null
  readonly lastBackupAtMs: () => number | null | undefined
  readonly installedAtMs: () => Promise<number>
  readonly unsealedDays: () => Promise<number>
  /** One line for each publisher, kind and reason. */
  readonly notBelieved: () => Promise<readonly string[]>
}

/** Those whose time people wait for; the rule ShelftraceReportsSlow names the same. */
const reportOperations = new Set([
  'downloadSpaProductReport',
  'readSpaProductReport',
  'readSpaProductSeries',
])

/** Questions to the warehouse are asked less often. */
const warehousePauseMs = 60_000

export class VitalSignsReader {
  readonly #deps: VitalSignsDeps
  readonly #increases = new Increases()
  #reportSeconds: number[] = emptyBuckets(reportBounds)
  #asked: { readonly atMs: number; readonly answer: WarehouseSigns } | null = null

  constructor(deps: VitalSignsDeps) {
    this.#deps = deps
  }

  /** Called for each answer of the campaign port. */
  noteAnswer({ operation, seconds }: Pick<CampaignAnswer, 'operation' | 'seconds'>): void {
    if (!reportOperations.has(operation)) return
    const index = reportBounds.findIndex((bound) => seconds <= bound)
    addAt(this.#reportSeconds, index === -1 ? reportBounds.length : index, 1)
  }

  async read(): Promise<VitalSigns> {
    const { clock, spool, pipeline, trackers, clockOffsetMs, lastBackupAtMs } = this.#deps
    const warehouse = await this.#askWarehouse()
    const depth = spool.depth()
    const atMs = clock()
    const reportSeconds = this.#reportSeconds
    this.#reportSeconds = emptyBuckets(reportBounds)
    const signs = {
      atMs,
      spoolLagMs: depth.oldestAtMs === null ? 0 : Math.max(0, atMs - depth.oldestAtMs),
      spoolBytes: depth.bytes,
      attributionLagMs: pipeline.attributionLagMs(),
      failingSteps: pipeline.failingSteps(),
      clockOffsetMs: clockOffsetMs(),
      trackersAlive: trackers.alive(),
      silentNodes: this.#deps.nodes()?.filter(({ state }) => state === 'silent').length ?? null,
      lastBackupAtMs: lastBackupAtMs(),
      setAside: this.#increases.of('set aside', pipeline.counts.setAside),
      shipped: this.#increases.of('shipped', pipeline.counts.shipped),
      reportSeconds,
      ...warehouse,
      ...this.#readTrackers(),
    }
    this.#increases.endLook()
    return signs
  }

  async #askWarehouse(): Promise<WarehouseSigns> {
    const { clock, installedAtMs, unsealedDays, notBelieved } = this.#deps
    if (this.#asked !== null && clock() - this.#asked.atMs < warehousePauseMs) {
      return this.#asked.answer
    }
    const answer = {
      installedAtMs: await installedAtMs().catch(() => null),
      unsealedDays: await unsealedDays().catch(() => null),
      notBelieved: await notBelieved().catch(() => null),
    }
    this.#asked = { atMs: clock(), answer }
    return answer
  }

  #readTrackers(): Pick<VitalSigns, 'refused' | 'answers' | 'trackingSeconds'> {
    const refused = new Map<string, number>()
    const answers = new Map<string, { all: number; wrong: number }>()
    const trackingSeconds = emptyBuckets(latencyBounds)
    for (const { tracker, counts } of this.#deps.trackers.counts()) {
      for (const { route, answers: byStatus, latencies } of counts.routes) {
        for (const { status, reason, count } of byStatus) {
          const name = `${tracker} ${route} ${status} ${reason}`
          const increase = this.#increases.of(name, count)
          if (status === 503 && route !== '/readyz') {
            refused.set(reason, (refused.get(reason) ?? 0) + increase)
          }
          if (route === 'none') continue
          const known = answers.get(route) ?? { all: 0, wrong: 0 }
          known.all += increase
          if (status >= 400 && status < 500) known.wrong += increase
          answers.set(route, known)
        }
        for (const [index, count] of latencies.entries()) {
          const increase = this.#increases.of(`${tracker} ${route} bucket ${index}`, count)
          addAt(trackingSeconds, index, increase)
        }
      }
    }
    return { refused, answers, trackingSeconds }
  }
}

type WarehouseSigns = Pick<VitalSigns, 'installedAtMs' | 'unsealedDays' | 'notBelieved'>

/** By how much counters grew between two looks. One that fell has restarted with its process. */
class Increases {
  readonly #last = new Map<string, number>()
  #isFirstLook = true

  endLook(): void {
    this.#isFirstLook = false
  }

  of(name: string, count: number): number {
    const last = this.#last.get(name)
    this.#last.set(name, count)
    // Nobody knows when a counter that outlived this process has counted.
    if (this.#isFirstLook) return 0
    return last === undefined || count < last ? count : count - last
  }
}

function emptyBuckets(bounds: readonly number[]): number[] {
  return Array.from({ length: bounds.length + 1 }, () => 0)
}

function addAt(buckets: number[], index: number, count: number): void {
  buckets[index] = (buckets[index] ?? 0) + count
}
