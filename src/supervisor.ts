// Forks the trackers and the engine and starts again what dies. It touches neither events nor the
// warehouse, so that nothing it could do wrong loses any.

import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import cluster from 'node:cluster'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { parseConfig } from './config.ts'
import type { Config } from './config.ts'
import { createLog } from './ops/log.ts'
import type { ClockMessage, CountsMessage } from './processes.ts'
import {
  drainMsMax,
  engineEnvironment,
  engineOptions,
  parseChildMessage,
  trackerEnvironment,
  trackerOptions,
} from './processes.ts'
import { ensureSecrets } from './secrets.ts'
import { Admission } from './admission.ts'
import { embeddedSessions } from './warehouse/embedded.ts'

const limits = {
  /** A predecessor that was killed lets go of its ports and its warehouse within this time. */
  firstStartMs: 30_000,
  restartPauseMsMin: 100,
  restartPauseMsMax: 5_000,
  /** A child that lived so long is started again without a pause. */
  steadyMs: 10_000,
} as const

// Every busy session of the in-process warehouse holds a thread of this pool; files, DNS and
// compression need some of their own.
const engineThreads = embeddedSessions + 8

/** Resolves with the exit code when everything has ended. */
export async function runSupervisor(environment: NodeJS.ProcessEnv): Promise<number> {
  const config = parseConfig(environment)
  const { identityFingerprint } = ensureSecrets(config)
  const log = createLog({ level: config.logLevel, process: 'supervisor' })
  const supervisor = new Supervisor({ config, log, identityFingerprint })
  process.on('SIGTERM', () => supervisor.stop(0))
  process.on('SIGINT', () => supervisor.stop(0))
  return await supervisor.run()
}

interface SupervisorOptions {
  readonly config: Config
  readonly log: Logger
  readonly identityFingerprint: string
}

interface Slot {
  readonly name: string
  readonly isEngine: boolean
  /** From 1; 0 for the engine. */
  readonly tracker: number
  readonly start: () => ChildProcess
  child: ChildProcess | null
  isReady: boolean
  startedAtMs: number
  pauseMs: number
  lastFailure: string | null
}

class Supervisor {
  readonly #config: Config
  readonly #log: Logger
  readonly #slots: readonly Slot[]
  readonly #admission: Admission
  readonly #startedAtMs = Date.now()
  #wasReady = false
  /** Told by the engine; a tracker that starts while the engine is down is told what was known. */
  #clock: ClockMessage | null = null
  #stopping: { readonly exitCode: number } | null = null
  #finish: (exitCode: number) => void = () => undefined

  constructor({ config, log, identityFingerprint }: SupervisorOptions) {
    this.#config = config
    this.#log = log
    this.#admission = new Admission(config.dataDir, identityFingerprint)
    const trackers = config.roles.includes('tracker') ? config.trackerCount : 0
    // The engine process also ships the spool, so a node without the engine's role has one too.
    this.#slots = [
      newSlot(0, forkEngine),
      ...Array.from({ length: trackers }, (_, index) => newSlot(index + 1, forkTracker)),
    ]
  }

  async run(): Promise<number> {
    return await new Promise((resolve) => {
      this.#finish = resolve
      for (const slot of this.#slots) {
        if (slot.isEngine || this.#admission.isKnown()) this.#start(slot)
      }
    })
  }

  stop(exitCode: number): void {
    if (this.#stopping !== null) return
    this.#stopping = { exitCode }
    const children = this.#slots.flatMap((slot) => (slot.child === null ? [] : [slot.child]))
    for (const child of children) if (child.connected) child.send({ type: 'drain' })
    setTimeout(() => {
      for (const { child } of this.#slots) child?.kill('SIGKILL')
    }, drainMsMax + 500).unref()
    this.#finishWhenEmpty()
  }

  #start(slot: Slot): void {
    const child = slot.start()
    slot.child = child
    slot.isReady = false
    slot.startedAtMs = Date.now()
    child.on('message', (value) => this.#hear(slot, value))
    child.on('error', (error) => this.#log.error({ error: error.message }, `${slot.name} failed`))
    child.on('exit', (code, signal) => this.#onExit(slot, { code, signal }))
  }

  #hear(slot: Slot, value: unknown): void {
    const message = parseChildMessage(value)
    if (message === null) return
    if (message.type === 'clock') return this.#spreadClock(message)
    if (message.type === 'counts') return this.#passCounts(slot, message)
    if (message.type === 'ready') {
      slot.isReady = true
      slot.lastFailure = null
      if (slot.isEngine) this.#admitTrackers()
      else this.#tellClock(slot)
      this.#announceReady()
      return
    }
    slot.lastFailure = message.message
    this.#log.error({ child: slot.name, reason: message.message }, 'a process could not start')
    if (message.isFinal && !this.#wasReady) {
      process.stderr.write(`${message.message}\n`)
      this.stop(1)
    }
  }

  #spreadClock(clock: ClockMessage): void {
    this.#clock = clock
    for (const slot of this.#slots) if (!slot.isEngine && slot.isReady) this.#tellClock(slot)
  }

  /** The engine serves the metrics of the node. */
  #passCounts({ tracker }: Slot, message: CountsMessage): void {
    const engine = this.#slots.find(({ isEngine }) => isEngine)?.child
    if (engine?.connected === true) engine.send({ ...message, tracker })
  }

  #tellClock({ child }: Slot): void {
    if (this.#clock !== null && child?.connected === true) child.send(this.#clock)
  }

  /** The engine has compared the identity secret with the warehouse's: events may be taken. */
  #admitTrackers(): void {
    this.#admission.remember()
    for (const slot of this.#slots) {
      if (slot.child === null && slot.startedAtMs === 0 && this.#stopping === null)
        this.#start(slot)
    }
  }

  #announceReady(): void {
    if (this.#wasReady || !this.#slots.every((slot) => slot.isReady)) return
    this.#wasReady = true
    const { trackingUrl, campaignUrl, dataDir, roles } = this.#config
    const ports = [
      ...(roles.includes('tracker') ? [`tracking ${trackingUrl}`] : []),
      `${roles.includes('engine') ? 'campaign' : 'health and metrics'} ${campaignUrl}`,
    ]
    process.stdout.write(`Shelftrace takes traffic: ${ports.join(', ')}, data ${dataDir}\n`)
  }

  #onExit(slot: Slot, exit: { code: number | null; signal: string | null }): void {
    slot.child = null
    slot.isReady = false
    if (this.#stopping !== null) return this.#finishWhenEmpty()
    const livedMs = Date.now() - slot.startedAtMs
    slot.pauseMs =
      livedMs >= limits.steadyMs
        ? limits.restartPauseMsMin
        : Math.min(slot.pauseMs * 2, limits.restartPauseMsMax)
    if (!this.#wasReady && Date.now() - this.#startedAtMs > limits.firstStartMs) {
      process.stderr.write(`${slot.name} could not start: ${slot.lastFailure ?? 'it ended'}\n`)
      return this.stop(1)
    }
    this.#log.warn(
      { child: slot.name, ...exit, pauseMs: slot.pauseMs },
      'a process is started again'
    )
    setTimeout(() => {
      if (this.#stopping === null) this.#start(slot)
    }, slot.pauseMs)
  }

  #finishWhenEmpty(): void {
    if (this.#stopping === null || this.#slots.some((slot) => slot.child !== null)) return
    this.#finish(this.#stopping.exitCode)
  }
}

function newSlot(tracker: number, start: () => ChildProcess): Slot {
  const isEngine = tracker === 0
  return {
    name: isEngine ? 'engine' : `tracker ${tracker}`,
    isEngine,
    tracker,
    start,
    child: null,
    isReady: false,
    startedAtMs: 0,
    pauseMs: limits.restartPauseMsMin / 2,
    lastFailure: null,
  }
}

/** The trackers share their port, so the cluster module hands the connections out in turn. */
function forkTracker(): ChildProcess {
  cluster.setupPrimary({
    exec: programPath('tracker'),
    execArgv: [...process.execArgv, ...trackerOptions],
  })
  return cluster.fork(trackerEnvironment).process
}

function forkEngine(): ChildProcess {
  return fork(programPath('engine'), {
    execArgv: [...process.execArgv, ...engineOptions],
    env: { ...process.env, ...engineEnvironment, UV_THREADPOOL_SIZE: String(engineThreads) },
  })
}

/** The same program runs from its sources (development, tests) and as it was built. */
function programPath(name: string): string {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return fileURLToPath(new URL(`./${name}.${extension}`, import.meta.url))
}
