// How far this node's clock is from the warehouse's. Trackers stamp events with the former, steps of the
// pipeline compare instants of the latter, and money depends on both meaning the same.

import type { Logger } from 'pino'
import type { Clock } from '../lib/clock.ts'
import { Loop } from '../lib/loop.ts'
import { instantMs, warehouseNow } from '../warehouse/instant.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'

export const clockLimits = {
  /** Beyond this a click and a purchase of two nodes may change places: an alarm. */
  alarmMs: 1_000,
  /** Beyond this a tracker is not ready, so that load balancers pass it over. */
  readyMs: 60_000,
  readPauseMs: 5_000,
  /** A set clock is noticed so soon, also while the warehouse is away. */
  lookMs: 500,
  /** A slower answer tells too little about the instant at which it was given. */
  answerMsMax: 2_000,
  /** Smaller changes of what was told are not told again. */
  tellMs: 250,
} as const

export interface ClockWatchDeps {
  readonly warehouse: Pick<Warehouse, 'rows'>
  readonly clock: Clock
  /** Goes on evenly when the clock is set. */
  readonly monotonicMs: () => number
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  /** Told the first time, and whenever it has changed. */
  readonly onOffset: (offsetMs: number) => void
}

interface Reading {
  readonly offsetMs: number
  readonly clockMs: number
  readonly monotonicMs: number
}

type Grade = 'good' | 'alarm' | 'unfit'

/** Whether a tracker whose clock is off by so much may be given traffic; null: not known yet. */
export function isClockFit(offsetMs: number | null): boolean {
  return offsetMs === null || Math.abs(offsetMs) <= clockLimits.readyMs
}

/**
 * Asks the warehouse every few seconds. In between, and while the warehouse is away, the clock is
 * compared with the even one of the machine, so that setting it is noticed at once.
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
      // The steps of the pipeline fail for the same reason and say so.
      onFailure: () => undefined,
    })
    this.#timer ??= setInterval(() => this.look(), clockLimits.lookMs).unref()
  }

  /** Milliseconds by which this node is ahead; null while the warehouse has not been asked. */
  offsetMs(): number | null {
    if (this.#reading === null) return null
    const { clock, monotonicMs } = this.#deps
    const { offsetMs, clockMs, monotonicMs: atMs } = this.#reading
    return Math.round(offsetMs + (clock() - clockMs) - (monotonicMs() - atMs))
  }

  /** What makes the node not ready; empty when all is well. */
  complaints(): readonly string[] {
    const offsetMs = this.offsetMs()
    if (isClockFit(offsetMs)) return []
    return [`the clock of this node is ${offsetMs} ms off that of the warehouse`]
  }

  /** One question to the warehouse. */
  async read(): Promise<void> {
    const { warehouse, clock, monotonicMs } = this.#deps
    const askedAtMs = monotonicMs()
    const askedClockMs = clock()
    const now = instantMs(await warehouseNow(warehouse))
    const tookMs = monotonicMs() - askedAtMs
    if (tookMs > clockLimits.answerMsMax) return
    // The warehouse looked at its clock at some moment in between; the middle is off by half at most.
    const clockMs = askedClockMs + tookMs / 2
    const offsetMs = withinDoubt(clockMs - now, tookMs / 2)
    this.#reading = { offsetMs, clockMs, monotonicMs: askedAtMs + tookMs / 2 }
    this.look()
  }

  /** Compares, raises or ends the alarm, and tells when something has changed. */
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

/** What is certain of an offset: a slow answer must not look like a wrong clock. */
function withinDoubt(offsetMs: number, doubtMs: number): number {
  return Math.sign(offsetMs) * Math.max(0, Math.abs(offsetMs) - doubtMs)
}

function gradeOf(offsetMs: number): Grade {
  if (!isClockFit(offsetMs)) return 'unfit'
  return Math.abs(offsetMs) > clockLimits.alarmMs ? 'alarm' : 'good'
}
