// Compares this node's clock with the warehouse's. Trackers stamp events with the former, steps of the
// pipeline compare instants of the latter, and money depends on both showing the same time.

import type { Logger } from 'pino'
import type { Clock } from '../lib/clock.ts'
import { Loop } from '../lib/loop.ts'
import { instantMs, warehouseNow } from '../warehouse/instant.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'

export const clockLimits = {
  /** Beyond this, a click and a purchase of two nodes may appear in the wrong order: an alarm. */
  alarmMs: 1_000,
  /** Beyond this, a tracker is not ready, so that load balancers skip it. */
  readyMs: 60_000,
  readPauseMs: 5_000,
  /** How soon a change of the clock is noticed, even while the warehouse is away. */
  lookMs: 500,
  /** A slower answer says too little about the instant at which it was given. */
  answerMsMax: 2_000,
  /** Smaller changes are not reported again. */
  tellMs: 250,
} as const

export interface ClockWatchDeps {
  readonly warehouse: Pick<Warehouse, 'rows'>
  readonly clock: Clock
  /** Is not affected when the clock is set. */
  readonly monotonicMs: () => number
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  /** Called the first time, and whenever the offset has changed. */
  readonly onOffset: (offsetMs: number) => void
}

interface Reading {
  readonly offsetMs: number
  readonly clockMs: number
  readonly monotonicMs: number
}

type Grade = 'good' | 'alarm' | 'unfit'

/** Whether a tracker with this clock offset may get traffic. Null means that it is not known yet. */
export function isClockFit(offsetMs: number | null): boolean {
  return offsetMs === null || Math.abs(offsetMs) <= clockLimits.readyMs
}

/**
 * Asks the warehouse every few seconds. In between, and while the warehouse is away, it compares the
 * clock with the monotonic one of the machine, so that a change of the clock is noticed at once.
 */
export class ClockWatch {
  readonly #deps: ClockWatchDeps
  #reading: Reading | null = null
  #toldMs: number | null = null
  #grade: Grade = 'good'
  #loop: Loop | null = null
  #timer: NodeJS.Timeout | null = null

  constructor(deps: ClockWatchDeps) {
    this.#deps = deps
  }

  start(): void {
    this.#loop ??= new Loop({
      step: async () => {
        await this.read()
        return false
      },
      pauseMs: clockLimits.readPauseMs,
      failurePauseMsMax: clockLimits.readPauseMs,
      // The steps of the pipeline fail for the same reason and log it.
      onFailure: () => undefined,
    })
    this.#timer ??= setInterval(() => this.look(), clockLimits.lookMs).unref()
  }

  /** Milliseconds by which this node is ahead. Null before the first answer of the warehouse. */
  offsetMs(): number | null {
    if (this.#reading === null) return null
    const { clock, monotonicMs } = this.#deps
    const { offsetMs, clockMs, monotonicMs: atMs } = this.#reading
    return Math.round(offsetMs + (clock() - clockMs) - (monotonicMs() - atMs))
  }

  /** The reasons why the node is not ready; empty if it is. */
  complaints(): readonly string[] {
    const offsetMs = this.offsetMs()
    if (isClockFit(offsetMs)) return []
    return [`the clock of this node is ${offsetMs} ms off that of the warehouse`]
  }

  /** Asks the warehouse once. */
  async read(): Promise<void> {
    const { warehouse, clock, monotonicMs } = this.#deps
    const askedAtMs = monotonicMs()
    const askedClockMs = clock()
    const now = instantMs(await warehouseNow(warehouse))
    const tookMs = monotonicMs() - askedAtMs
    if (tookMs > clockLimits.answerMsMax) return
    // The warehouse read its clock at some moment in between, so the middle is off by half of it at most.
    const clockMs = askedClockMs + tookMs / 2
    const offsetMs = withinDoubt(clockMs - now, tookMs / 2)
    this.#reading = { offsetMs, clockMs, monotonicMs: askedAtMs + tookMs / 2 }
    this.look()
  }

  /** Compares, raises or ends the alarm, and reports a change. */
  look(): void {
    const offsetMs = this.offsetMs()
    if (offsetMs === null) return
    this.#raise(offsetMs)
    if (this.#toldMs !== null && Math.abs(offsetMs - this.#toldMs) < clockLimits.tellMs) return
    this.#toldMs = offsetMs
    this.#deps.onOffset(offsetMs)
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer)
    await this.#loop?.stop()
  }

  #raise(offsetMs: number): void {
    const grade = gradeOf(offsetMs)
    if (grade === this.#grade) return
    this.#grade = grade
    const { log } = this.#deps
    const facts = { offsetMs }
    switch (grade) {
      case 'good':
        return log.info(facts, 'the clock agrees with the warehouse again')
      case 'alarm':
        return log.warn(facts, 'the clock of this node is off that of the warehouse')
      case 'unfit':
        return log.error(facts, 'the clock is so far off that trackers are not ready')
    }
  }
}

/** The part of an offset that is certain: a slow answer must not look like a wrong clock. */
function withinDoubt(offsetMs: number, doubtMs: number): number {
  return Math.sign(offsetMs) * Math.max(0, Math.abs(offsetMs) - doubtMs)
}

function gradeOf(offsetMs: number): Grade {
  if (!isClockFit(offsetMs)) return 'unfit'
  return Math.abs(offsetMs) > clockLimits.alarmMs ? 'alarm' : 'good'
}
