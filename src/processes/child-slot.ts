// The place of one child process. It is filled again when its process ends, and a process that does not
// end when it should is killed.

import type { ChildProcess } from 'node:child_process'
import { endMsMax, readMessage } from './child.ts'
import type { ChildMessage } from './child.ts'

const limits = {
  restartPauseMsMin: 100,
  restartPauseMsMax: 5_000,
  /** A child that lived for this long is started again without a pause. */
  steadyMs: 10_000,
  /** A child that said that it failed has nothing left to do. */
  failedMsMax: 2_000,
  /** A child that was told to end does so before. */
  endingMsMax: endMsMax + 500,
} as const

export interface SlotPlan {
  /** From 1; 0 for the engine. */
  readonly tracker: number
  readonly fork: () => ChildProcess
  readonly onMessage: (slot: ChildSlot, message: ChildMessage) => void
  /** `how` is what is known about the end, for the log. */
  readonly onEnd: (slot: ChildSlot, how: object) => void
}

export class ChildSlot {
  readonly name: string
  readonly isEngine: boolean
  readonly tracker: number
  isReady = false
  /** Whether any process in this place was ready. */
  wasReady = false
  /** Why the last process could not start. Null if it could, or ended without a message. */
  lastFailure: string | null = null
  readonly #plan: SlotPlan
  #child: ChildProcess | null = null
  #deadline: NodeJS.Timeout | undefined
  #deadlineAtMs = Infinity
  #startedAtMs = 0
  #pauseMs: number = limits.restartPauseMsMin / 2

  constructor(plan: SlotPlan) {
    this.#plan = plan
    this.tracker = plan.tracker
    this.isEngine = plan.tracker === 0
    this.name = this.isEngine ? 'engine' : `tracker ${plan.tracker}`
  }

  get isEmpty(): boolean {
    return this.#child === null
  }

  get wasStarted(): boolean {
    return this.#startedAtMs > 0
  }

  start(): void {
    this.lastFailure = null
    this.#startedAtMs = Date.now()
    let child: ChildProcess
    try {
      child = this.#plan.fork()
    } catch (error) {
      // There is no memory, process or descriptor left, which may pass.
      setImmediate(() => this.#end({ reason: String(error) }))
      return
    }
    this.#child = child
    child.on('message', (value) => this.#hear(value))
    child.on('error', (error) => {
      // Also emitted for a message that could not be sent. Only without a process is there no exit to
      // wait for.
      if (child.pid === undefined) this.#end({ reason: error.message })
    })
    child.on('disconnect', () => this.#endWithin(limits.endingMsMax))
    child.on('exit', (code, signal) => this.#end({ code, signal }))
  }

  send(message: ChildMessage): void {
    if (this.#child?.connected === true) this.#child.send(message)
  }

  /** Tells the process to finish what came in and to end, which it must within `endingMsMax`. */
  end(): void {
    if (this.#child?.connected === true) this.#child.send({ type: 'end' })
    this.#endWithin(limits.endingMsMax)
  }

  /** The pause until the next start. It doubles while processes do not last. */
  takePauseMs(): number {
    const livedMs = Date.now() - this.#startedAtMs
    this.#pauseMs =
      livedMs >= limits.steadyMs
        ? limits.restartPauseMsMin
        : Math.min(this.#pauseMs * 2, limits.restartPauseMsMax)
    return this.#pauseMs
  }

  #hear(value: unknown): void {
    const message = readMessage(value)
    if (message === null || message.type === 'end') return
    if (message.type === 'ready') {
      this.isReady = true
      this.wasReady = true
    }
    if (message.type === 'failed') {
      this.lastFailure = message.message
      this.#endWithin(limits.failedMsMax)
    }
    this.#plan.onMessage(this, message)
  }

  /** The earliest of several deadlines counts. */
  #endWithin(ms: number): void {
    const atMs = performance.now() + ms
    if (this.#child === null || atMs >= this.#deadlineAtMs) return
    clearTimeout(this.#deadline)
    this.#deadlineAtMs = atMs
    this.#deadline = setTimeout(() => this.#child?.kill('SIGKILL'), ms)
  }

  #end(how: object): void {
    clearTimeout(this.#deadline)
    this.#deadlineAtMs = Infinity
    this.#child = null
    this.isReady = false
    this.#plan.onEnd(this, how)
  }
}
