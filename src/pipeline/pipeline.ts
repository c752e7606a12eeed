// The steps of the pipeline, each repeated for as long as the engine lives. They share only the warehouse:
// a step that fails is tried again and does not hold up the others.

import { ServiceError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { SharedLock } from '../lib/shared-lock.ts'
import { Loop } from '../lib/loop.ts'
import { instantMs } from '../warehouse/instant.ts'
import { forgetAsideAddresses } from '../warehouse/aside-record.ts'
import { Attributor } from '../attribution/attribute.ts'
import { Judging } from '../attribution/judging/judge-again.ts'
import type { JudgeAgainDeps } from '../attribution/judging/judge-again.ts'
import { eraseDue } from '../erasure/erase.ts'
import { ContradictionCounts } from './contradiction-counts.ts'
import { RefusalStreaks } from '../warehouse/insert-rows.ts'
import { advanceRetention } from '../days/retention.ts'
import { SealBudget } from '../days/roll-up.ts'
import { SealShares } from '../days/seal-shares.ts'
import { sealBatch } from '../days/seal.ts'
import { sealLimits } from '../days/seal-work.ts'
import type { SealDeps } from '../days/seal-work.ts'
import { Shipper } from './ship.ts'
import { StepTurns } from './step-turns.ts'
import type { ShipDeps } from './ship.ts'
import { sumNextSpan } from '../days/sum-spans.ts'
import { undivided } from '../domain/division.ts'
import type { Division } from '../domain/division.ts'
import { nodeLimits } from '../nodes/nodes.ts'
import type { Nodes } from '../nodes/nodes.ts'
import { Sweeper } from '../days/sweep.ts'

const intervals = {
  // Every batch makes a part in each of six tables, and parts must be merged. Two or three batches a second bring an
  // event into the report well within the promised 3 seconds.
  shipPauseMs: 250,
  attributePauseMs: 250,
  tidyPauseMs: 300_000,
  // Late events of a sealed day are shown within 15 seconds if sealing the day again is quick.
  sealPauseMs: 4_000,
  spanPauseMs: 600_000,
  erasePauseMs: 15_000,
  judgePauseMs: 2_000,
  failurePauseMsMax: 5_000,
  /** Late events are shown within 15 seconds with any number of engines. */
  othersPauseMsMax: 8_000,
  /** What was shipped so long ago, and the time that it waits to be attributed, was looked at. */
  quietAfterMs: 10_000,
} as const

export interface PipelineDeps extends Omit<ShipDeps, 'streaks'> {
  readonly markets: SealDeps['markets']
  readonly retentionDays: number
  readonly clock: Clock
  readonly onJudged: JudgeAgainDeps['onDone']
  /** Absent: this node is the only one. */
  readonly nodes?: Nodes
  /** False on a node that only ships its own spool. */
  readonly attributes: boolean
  /** Set by tests only. */
  readonly tidyPauseMs?: number
}

export interface PipelineCounts {
  shipped: number
  setAside: number
  readonly contradictions: ContradictionCounts
  attributed: number
  /** Markets times days. */
  sealed: number
  failures: number
}

interface StepOptions {
  /** The step runs its parts as steps, so that whoever needs stillness waits for a part only. */
  readonly inParts?: boolean
}

export class Pipeline {
  readonly counts: PipelineCounts = {
    shipped: 0,
    setAside: 0,
    contradictions: new ContradictionCounts(),
    attributed: 0,
    sealed: 0,
    failures: 0,
  }
  readonly #deps: PipelineDeps
  readonly #failingSteps = new Map<string, string>()
  readonly #stepLock = new SharedLock()
  readonly #loops: readonly Loop[]
  readonly #attributor: Attributor
  readonly #turns = new StepTurns(() => this.#division())
  #shippedAtMs = performance.now()

  constructor(deps: PipelineDeps) {
    this.#deps = deps
    const attributor = new Attributor({
      ...deps,
      division: () => this.#division(),
      isQuiet: () => this.#isQuiet(),
    })
    this.#attributor = attributor
    const shipper = new Shipper({ ...deps, streaks: new RefusalStreaks() })
    this.#loops = [
      this.#repeat('ship', intervals.shipPauseMs, async () => {
        const result = await shipper.shipBatch()
        const { shippedCount, setAsideCount } = result
        if (shippedCount > 0) this.#shippedAtMs = performance.now()
        this.counts.shipped += shippedCount
        this.counts.setAside += setAsideCount
        for (const one of result.contradictions) this.counts.contradictions.add(one)
        return shipper.hasMore
      }),
      ...this.#beating(deps.nodes),
      ...(deps.attributes ? this.#attribution(attributor) : []),
    ]
  }

  /** The steps whose last try failed, with the code of the failure; empty when all is well. */
  failingSteps(): readonly string[] {
    return [...this.#failingSteps].map(([step, code]) => `${step} fails: ${code}`)
  }

  /** How long ago the oldest purchase that is due for attribution was shipped; 0 when none is. */
  attributionLagMs(): number {
    const dueAt = this.#attributor.oldestDueAt()
    return dueAt === null ? 0 : Math.max(0, this.#deps.clock() - instantMs(dueAt))
  }

  /**
   * How far attribution is: what this node took before `settledThrough` is shipped, and what was shipped before it is
   * attributed; null before the first look.
   */
  attribution(): { lagMs: number; settledThrough: string | null } {
    const attributedMs = this.#attributedThroughMs()
    const settledMs = Math.min(this.#shippedThroughMs(), attributedMs)
    const settledThrough = attributedMs === 0 ? null : new Date(settledMs).toISOString()
    return { lagMs: this.attributionLagMs(), settledThrough }
  }

  /** Runs work from outside that moves events as the steps do. */
  async runAsStep<Result>(work: () => Promise<Result>): Promise<Result> {
    return await this.#stepLock.run(work)
  }

  /** Runs work while no step does: those under way end first, and the next ones wait. */
  async whileStill<Result>(work: () => Promise<Result>): Promise<Result> {
    return await this.#stepLock.runAlone(work)
  }

  /** Resolves when the steps under way have ended. What they left undone is done at the next start. */
  async close(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.stop()))
  }

  #beating(nodes: Nodes | undefined): readonly Loop[] {
    if (nodes === undefined) return []
    return [
      this.#repeat('nodes', nodeLimits.beatPauseMs, async () => {
        await nodes.beat()
        return false
      }),
    ]
  }

  #attribution(attributor: Attributor): readonly Loop[] {
    const budget = new SealBudget()
    const shares = new SealShares(() => this.#division())
    const judging = new Judging({ ...this.#deps, onDone: this.#deps.onJudged })
    let renewPauseMs: number = sealLimits.renewPauseMsMin
    let lookAtMs = 0
    return [
      this.#repeat('attribute', intervals.attributePauseMs, async () => {
        const { attributedCount, setAsideCount, hasMore } = await attributor.attributeBatch()
        this.counts.attributed += attributedCount
        this.counts.setAside += setAsideCount
        if (setAsideCount > 0) {
          this.#deps.log.error({ count: setAsideCount }, 'a purchase was set aside; see status')
        }
        return hasMore
      }),
      this.#repeat('seal', intervals.sealPauseMs, async () => {
        // A day is sealed once everything shipped before its end is attributed: sealed earlier, it would
        // have to be renewed. It does not wait for purchases of later days.
        if (attributor.settledThrough() === null) return false
        const startedAtMs = performance.now()
        if (startedAtMs < lookAtMs) return false
        const { sealedCount, hasMore, becameFinal } = await sealBatch({
          ...this.#deps,
          settledThroughMs: () =>
            Math.min(
              this.#shippedThroughMs(),
              this.#deps.nodes?.othersShippedThroughMs() ?? Infinity,
              this.#attributedThroughMs()
            ),
          renewPauseMs,
          budget,
          shares,
        })
        const endedAtMs = performance.now()
        if (becameFinal) {
          this.#deps.log.warn(
            {},
            'days became final while they were sealed, and keep their figures'
          )
        }
        const pauseMs = choosePause(endedAtMs - startedAtMs)
        if (sealedCount > 0) renewPauseMs = pauseMs
        // The look itself takes longer with more markets and days.
        lookAtMs = hasMore
          ? 0
          : endedAtMs + pauseMs - sealLimits.renewPauseMsMin + this.#othersPauseMs()
        this.counts.sealed += sealedCount
        return hasMore
      }),
      this.#share('span', intervals.spanPauseMs, () => sumNextSpan(this.#deps)),
      this.#share(
        'erase',
        intervals.erasePauseMs,
        async () => {
          // Erasures that wait for an attribution are looked at again after the pause.
          await eraseDue({ ...this.#deps, asStep: (work) => this.runAsStep(work) })
          return false
        },
        { inParts: true }
      ),
      this.#share('judge', intervals.judgePauseMs, () => judging.step()),
      ...this.#tidying(attributor),
    ]
  }

  #tidying(attributor: Attributor): readonly Loop[] {
    const sweeper = new Sweeper(this.#deps)
    const tasks: Readonly<Record<string, () => Promise<unknown>>> = {
      forget: () => attributor.forgetAnswered(),
      'forget-addresses': () => forgetAsideAddresses(this.#deps.warehouse),
      sweep: () => sweeper.sweep(),
      retention: async () => {
        if (this.#attributionLagsBy() <= retentionLagMsMax) await advanceRetention(this.#deps)
      },
    }
    const pauseMs = this.#deps.tidyPauseMs ?? intervals.tidyPauseMs
    return Object.entries(tasks).map(([name, tidy]) =>
      this.#share(name, pauseMs, async () => {
        await tidy()
        return false
      })
    )
  }

  /** Everything that this node received before this instant is in the warehouse. */
  #shippedThroughMs(): number {
    const { spool, clock } = this.#deps
    return spool.depth().oldestAtMs ?? clock()
  }

  /** Everything that was shipped before this instant is attributed. */
  #attributedThroughMs(): number {
    const through = this.#attributor.settledThrough()
    return through === null ? 0 : instantMs(through)
  }

  #attributionLagsBy(): number {
    return this.#deps.clock() - this.#attributedThroughMs()
  }

  /** Other nodes ship whenever they like, and say nothing of it. */
  #isQuiet(): boolean {
    const { nodes } = this.#deps
    const others = nodes?.list()?.filter(({ isThis, state }) => !isThis && state !== 'missing')
    const isAlone = nodes === undefined || others?.length === 0
    const quietMs = performance.now() - this.#shippedAtMs
    return isAlone && quietMs > this.#deps.settleMs + intervals.quietAfterMs
  }

  /** How the engines of the warehouse divide the work. */
  #division(): Division {
    return this.#deps.nodes?.division() ?? undivided
  }

  /** Engines that take turns in looking what to seal ask no more, all together, than one alone. */
  #othersPauseMs(): number {
    const otherCount = Math.max(0, this.#division().nodeCount - 1)
    return Math.min(otherCount * intervals.sealPauseMs, intervals.othersPauseMsMax)
  }

  #share(
    name: string,
    pauseMs: number,
    step: () => Promise<boolean>,
    options: StepOptions = {}
  ): Loop {
    return this.#repeat(name, pauseMs, this.#turns.share(name, pauseMs, step), options)
  }

  #repeat(
    name: string,
    pauseMs: number,
    step: () => Promise<boolean>,
    { inParts = false }: StepOptions = {}
  ): Loop {
    const run = inParts
      ? (work: () => Promise<boolean>) => work()
      : (work: () => Promise<boolean>) => this.runAsStep(work)
    return new Loop({
      step: async () => {
        const { tracing } = this.#deps
        const isTraced = tracing !== undefined && tracing !== null && tracing.toss()
        const hasMore = await run(isTraced ? () => tracing.run(`step ${name}`, {}, step) : step)
        this.#failingSteps.delete(name)
        return hasMore
      },
      pauseMs,
      failurePauseMsMax: intervals.failurePauseMsMax,
      onFailure: (error, failureCount) => {
        this.counts.failures += 1
        const code = error instanceof ServiceError ? error.code : 'UNEXPECTED'
        this.#failingSteps.set(name, code)
        const details = error instanceof ServiceError ? error.details : {}
        const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
        const reason = cause instanceof Error ? cause.message.slice(0, 500) : String(cause)
        this.#deps.log.error({ step: name, code, details, reason, failureCount }, 'a step failed')
      },
    })
  }
}

/**
 * A boundary becomes final 10 minutes after it was announced. By then, everything that was shipped in the
 * first five of them is in the seals.
 */
const retentionLagMsMax = 240_000

/** Lets renewing days take no more than a twentieth of the time, whatever their size. */
function choosePause(sealingMs: number): number {
  const { renewPauseMsMin, renewPauseMsMax } = sealLimits
  return Math.min(Math.max(20 * sealingMs, renewPauseMsMin), renewPauseMsMax)
}
