// The node looks at itself: every 15 s it reads its vital signs and judges them by the rules of docs/alerts.yaml.
import type { Logger } from 'pino'
import type { Alert, PastAlert, StatusHistory, VitalPoint } from '../../contract/watch.ts'
import type { Clock } from '../../lib/clock.ts'
import { Loop } from '../../lib/loop.ts'
import { readDay, writeDay, type RememberedDay } from './day-file.ts'
import { quantileOf, sumBuckets } from './quantile.ts'
import type { Rule } from './rules.ts'
import { reportBounds, type VitalSigns } from './vital-signs.ts'

export const watchPauseMs = 15_000
const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const endedMax = 200

/** An alert began or is over. */
export type AlertChange =
  | { readonly type: 'alert.firing'; readonly atMs: number; readonly alert: Alert }
  | { readonly type: 'alert.resolved'; readonly atMs: number; readonly alert: PastAlert }

export interface WatchDeps {
  readonly clock: Clock
  readonly log: Logger
  /** Where the last day is remembered. */
  readonly path: string
  readonly rules: readonly Rule[]
  readonly readSigns: () => Promise<VitalSigns>
  readonly onChange: (change: AlertChange) => void
}

interface Standing {
  readonly sinceMs: number
  /** Null until it was bad for long enough. */
  alert: Alert | null
}

export class Watch {
  readonly #deps: WatchDeps
  #loop: Loop | null = null
  /** Those of the last hour, the latest one last. */
  #looks: VitalSigns[] = []
  readonly #standing = new Map<string, Standing>()
  #minute: VitalSigns[] = []
  #day: RememberedDay
  readonly #startedAtMs: number
  /** Resolves once the day is written as it was last. */
  #written: Promise<void> = Promise.resolve()
  /** Alerts of before this start. */
  #former: ReadonlyMap<string, string>

  constructor(deps: WatchDeps) {
    this.#deps = deps
    this.#day = readDay(deps.path)
    this.#former = new Map(this.#day.firing.map(({ name, since }) => [name, since]))
    this.#startedAtMs = deps.clock()
    this.#day = { ...this.#day, startsMs: [...this.#day.startsMs, this.#startedAtMs] }
  }

  /** Notes the start at once: a process that dies within a minute would leave no trace of it. */
  start(): void {
    void this.#write()
    this.#loop = new Loop({
      step: async () => {
        await this.look()
        return false
      },
      pauseMs: watchPauseMs,
      failurePauseMsMax: 5 * minuteMs,
      onFailure: (err) => this.#deps.log.warn({ err }, 'the node cannot look at itself'),
    })
  }

  /** A process that ends as it should has not died, so its start is no longer counted. */
  async close(): Promise<void> {
    await this.#loop?.stop()
    const { startsMs } = this.#day
    this.#day = { ...this.#day, startsMs: startsMs.filter((atMs) => atMs !== this.#startedAtMs) }
    await this.#write()
  }

  /** What is wrong, the pages first, then the oldest. */
  alerts(): readonly Alert[] {
    return [...this.#standing.values()]
      .flatMap(({ alert }) => (alert === null ? [] : [alert]))
      .toSorted((a, b) => a.severity.localeCompare(b.severity) || a.since.localeCompare(b.since))
  }

  history(): StatusHistory {
    return { points: this.#day.points, ended: this.#day.ended }
  }

  /** One look. Called by tests; a running watch calls it by itself. */
  async look(): Promise<void> {
    const signs = await this.#deps.readSigns()
    this.#looks = [...this.#looks.filter(({ atMs }) => atMs > signs.atMs - hourMs), signs]
    this.#judge(signs)
    this.#minute.push(signs)
    const [first = signs] = this.#minute
    if (signs.atMs - first.atMs < minuteMs - watchPauseMs) return
    const point = pointOf(this.#minute)
    this.#minute = []
    await this.#remember(point)
  }

  #judge(latest: VitalSigns): void {
    const startsMs = this.#day.startsMs.filter((atMs) => atMs > latest.atMs - hourMs)
    const within = (ms: number) => this.#looks.filter(({ atMs }) => atMs > latest.atMs - ms)
    for (const rule of this.#deps.rules) {
      const summary = rule.judge({ latest, within, startsMs })
      if (summary === null) this.#calm(rule, latest.atMs)
      else this.#alarm(rule, { atMs: latest.atMs, summary })
    }
  }

  #alarm(rule: Rule, { atMs, summary }: { readonly atMs: number; readonly summary: string }): void {
    const standing = this.#standing.get(rule.name) ?? { sinceMs: atMs, alert: null }
    this.#standing.set(rule.name, standing)
    if (standing.alert !== null) {
      standing.alert = { ...standing.alert, summary }
      return
    }
    const former = this.#former.get(rule.name)
    // What stood before this start stands on, without being told again.
    if (former === undefined && atMs - standing.sinceMs < rule.forMs) return
    const since = former ?? new Date(standing.sinceMs).toISOString()
    standing.alert = { name: rule.name, severity: rule.severity, since, summary }
    this.#forgetFormer(rule.name)
    if (former !== undefined) return
    this.#deps.log.error({ alert: rule.name, severity: rule.severity }, summary)
    this.#deps.onChange({ type: 'alert.firing', atMs, alert: standing.alert })
  }

  #calm(rule: Rule, atMs: number): void {
    const { name, severity } = rule
    const since = this.#standing.get(name)?.alert?.since ?? this.#former.get(name)
    this.#standing.delete(name)
    this.#forgetFormer(name)
    if (since === undefined) return
    const alert = { name, severity, since, until: new Date(atMs).toISOString() }
    this.#day = { ...this.#day, ended: [alert, ...this.#day.ended].slice(0, endedMax) }
    this.#deps.log.info({ alert: name, since }, 'an alert is over')
    this.#deps.onChange({ type: 'alert.resolved', atMs, alert })
  }

  #forgetFormer(name: string): void {
    this.#former = new Map([...this.#former].filter(([former]) => former !== name))
  }

  async #remember(point: VitalPoint): Promise<void> {
    const fromMs = Date.parse(point.at) - dayMs
    const { points, ended, startsMs } = this.#day
    this.#day = {
      points: [...points, point].filter(({ at }) => Date.parse(at) > fromMs),
      ended: ended.filter(({ until }) => Date.parse(until) > fromMs),
      firing: [
        ...this.alerts().map(({ name, since }) => ({ name, since })),
        ...[...this.#former].map(([name, since]) => ({ name, since })),
      ],
      startsMs: startsMs.filter((atMs) => atMs > Date.parse(point.at) - hourMs),
    }
    await this.#write()
  }

  async #write(): Promise<void> {
    const { path, log } = this.#deps
    this.#written = this.#written
      .then(() => writeDay(path, this.#day))
      .catch((err: unknown) => log.warn({ err }, 'the last day of the node cannot be written'))
    await this.#written
  }
}

function pointOf(looks: readonly VitalSigns[]): VitalPoint {
  const most = (read: (look: VitalSigns) => number) => Math.round(Math.max(...looks.map(read)))
  const buckets = sumBuckets(looks.map(({ reportSeconds }) => reportSeconds))
  const slow = quantileOf(0.95, { buckets, bounds: reportBounds })
  return {
    at: new Date(most(({ atMs }) => atMs)).toISOString(),
    shipped: looks.reduce((sum, { shipped }) => sum + shipped, 0),
    waitingBytes: most(({ spoolBytes }) => spoolBytes),
    lagMs: most(({ spoolLagMs }) => spoolLagMs),
    attributionLagMs: most(({ attributionLagMs }) => attributionLagMs),
    reportP95Ms: slow === null ? null : Math.round(slow * 1_000),
  }
}
