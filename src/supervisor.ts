// Forks the trackers and the engine and restarts those that die. It touches neither events nor the
// warehouse, so that no fault of its own can lose an event.

import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import cluster from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { handOver } from './processes/early-signals.ts'
import { IdentityCheck } from './processes/identity-check.ts'
import { ChildSlot } from './processes/child-slot.ts'
import { refuseHalfRestored } from './backup/restore.ts'
import { parseConfig } from './config.ts'
import type { Config } from './config.ts'
import { Drain } from './processes/drain.ts'
import { claimDataFolder } from './processes/data-folder.ts'
import { refuseForbiddenParts } from './processes/folder-access.ts'
import { ServiceError } from './errors.ts'
import { programFolder } from './program-folder.ts'
import { explainSystemError } from './lib/system-error.ts'
import { createLog } from './ops/log.ts'
import { refuseLostWarehouse } from './processes/lost-warehouse.ts'
import { openFilesMax, refuseFewOpenFiles } from './processes/open-files.ts'
import { campaignPortOf, trackingPortOf, tryPort } from './processes/ports.ts'
import { countWaiting } from './spool/count-waiting.ts'
import {
  engineEnvironment,
  engineOptions,
  signalOptions,
  trackerEnvironment,
  trackerOptions,
} from './processes/child.ts'
import type { ChildMessage, ClockMessage } from './processes/child.ts'
import { startLines } from './processes/start-lines.ts'
import { ensureSecrets, listMissing, removeDrafts } from './secrets.ts'
import { embeddedSessions } from './warehouse/embedded.ts'

const limits = {
  /** The processes of a killed predecessor release ports and warehouse within this time. */
  predecessorMs: 30_000,
  /** Without a predecessor there is nothing to wait for. */
  firstStartMs: 5_000,
  portPauseMs: 250,
  /** What `shelftrace drain` waits for by default. */
  drainMs: 600_000,
  /** How often a failure that goes on is logged. */
  sameFailureLogMs: 60_000,
} as const

// Every busy session of the in-process warehouse holds a thread of this pool; files, DNS and
// compression need some of their own.
const engineThreads = embeddedSessions + 8

/**
 * Resolves with the exit code when everything has ended. Throws CONFIG_INVALID and PORT_TAKEN for a
 * start that cannot succeed.
 */
export async function runSupervisor(environment: NodeJS.ProcessEnv): Promise<number> {
  const config = parseConfig(environment)
  const log = createLog({ level: config.logLevel, process: 'supervisor' })
  refuseFewOpenFiles(openFilesMax())
  const folder = await claimDataFolder(config.dataDir)
  const patienceMs = folder.isAfterCrash ? limits.predecessorMs : limits.firstStartMs
  const stopped = new AbortController()
  let supervisor: Supervisor | null = null
  process.on('SIGINT', () => stopped.abort())
  process.on('SIGTERM', () => {
    if (config.drainMs === 0 || supervisor?.drain(config.drainMs) !== true) stopped.abort()
  })
  process.on('SIGUSR2', () => supervisor?.drain(config.drainMs || limits.drainMs))
  handOver()
  // A terminal that closes, or a reader of the output that goes away, does not end the service.
  process.on('SIGHUP', () => undefined)
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined)
  try {
    refuseForbiddenParts(config)
    refuseHalfRestored(config.dataDir)
    refuseLostWarehouse(config)
    removeDrafts(config)
    const newSecrets = listMissing(config)
    const { identityFingerprint } = ensureSecrets(config)
    process.stdout.write(startLines({ newSecrets, ...config }))
    const patience = { waitMs: folder.isAfterCrash ? patienceMs : 0, signal: stopped.signal, log }
    for (const port of portsOf(config)) {
      await waitForPort(port, patience)
    }
    if (stopped.signal.aborted) return 0
    supervisor = new Supervisor({ config, log, identityFingerprint, patienceMs })
    const running = supervisor
    stopped.signal.addEventListener('abort', () => running.stop())
    return await running.run()
  } finally {
    folder.release()
  }
}

function portsOf(config: Config) {
  const isTracker = config.roles.includes('tracker')
  return [...(isTracker ? [trackingPortOf(config)] : []), campaignPortOf(config)]
}

/** Waits until the port is free. Throws like `tryPort` when the time is over; the signal ends the wait. */
async function waitForPort(
  port: Parameters<typeof tryPort>[0],
  { waitMs, signal, log }: { waitMs: number; signal: AbortSignal; log: Logger }
): Promise<void> {
  const untilMs = performance.now() + waitMs
  for (let hasTold = false; !signal.aborted; hasTold = true) {
    try {
      return await tryPort(port)
    } catch (error) {
      const passes = error instanceof ServiceError && error.code === 'PORT_TAKEN'
      if (!passes || performance.now() >= untilMs) throw error
      const seconds = Math.round(waitMs / 1_000)
      const what = `waits up to ${seconds} s for port ${port.port}, which processes of the last start may still hold`
      if (!hasTold) log.warn(what)
    }
    await sleep(limits.portPauseMs)
  }
}

interface SupervisorOptions {
  readonly config: Config
  readonly log: Logger
  readonly identityFingerprint: string
  /** How long a process of a new node may keep failing to start. */
  readonly patienceMs: number
}

class Supervisor {
  readonly #config: Config
  readonly #log: Logger
  readonly #slots: readonly ChildSlot[]
  readonly #identityCheck: IdentityCheck
  /** A known node takes events without its engine, so a passing failure does not end it. */
  readonly #isKnown: boolean
  readonly #patienceMs: number
  readonly #startedAtMs = Date.now()
  readonly #toldFailures = new Map<string, number>()
  #hasAnnounced = false
  /** Whether anything went wrong before the node took traffic. */
  #isInTrouble = false
  /** The last message of the engine, also for trackers that start while the engine is down. */
  #clock: ClockMessage | null = null
  #stopping: { readonly exitCode: number } | null = null
  #drain: Drain | null = null
  #finish: (exitCode: number) => void = () => undefined

  constructor({ config, log, identityFingerprint, patienceMs }: SupervisorOptions) {
    this.#config = config
    this.#log = log
    this.#patienceMs = patienceMs
    this.#identityCheck = new IdentityCheck(config.dataDir, identityFingerprint)
    this.#isKnown = this.#identityCheck.isKnown()
    const trackers = config.roles.includes('tracker') ? config.trackerCount : 0
    const plan = {
      onMessage: (slot: ChildSlot, message: ChildMessage) => this.#hear(slot, message),
      onEnd: (slot: ChildSlot, how: object) => this.#onEnd(slot, how),
    }
    // The engine process also ships the spool, so even a node without the engine's role has one.
    this.#slots = [
      new ChildSlot({ ...plan, tracker: 0, fork: forkEngine }),
      ...Array.from(
        { length: trackers },
        (_, index) => new ChildSlot({ ...plan, tracker: index + 1, fork: forkTracker })
      ),
    ]
  }

  async run(): Promise<number> {
    return await new Promise((resolve) => {
      this.#finish = resolve
      for (const slot of this.#slots) if (slot.isEngine || this.#isKnown) slot.start()
    })
  }

  /** The exit code says whether a node that never took traffic would have. */
  stop(): void {
    const tookTraffic = this.#hasAnnounced || this.#trackers().some(({ wasReady }) => wasReady)
    this.#end(tookTraffic || !this.#isInTrouble ? 0 : 1)
  }

  /** False: the node ends or drains already. */
  drain(limitMs: number): boolean {
    if (this.#stopping !== null || this.#drain !== null) return false
    this.#drain = new Drain({
      noticeMs: this.#config.drainNoticeMs,
      limitMs,
      slots: this.#slots,
      log: this.#log,
      end: () => this.#end(0),
    })
    return true
  }

  #end(exitCode: number): void {
    if (this.#stopping !== null) return
    this.#stopping = { exitCode }
    this.#drain?.stop()
    for (const slot of this.#slots) slot.end()
    this.#finishWhenEmpty()
  }

  #trackers(): readonly ChildSlot[] {
    return this.#slots.filter(({ isEngine }) => !isEngine)
  }

  #hear(slot: ChildSlot, message: ChildMessage): void {
    this.#obey(slot, message)
    this.#drain?.hear(slot, message)
  }

  #obey(slot: ChildSlot, message: ChildMessage): void {
    switch (message.type) {
      case 'clock':
        this.#clock = message
        for (const tracker of this.#trackers()) if (tracker.isReady) tracker.send(message)
        return
      case 'places':
        // A tracker that is not ready has nothing to forget.
        for (const tracker of this.#trackers()) if (tracker.isReady) tracker.send(message)
        return
      case 'counts':
        // The engine serves the metrics of the node.
        this.#slots.find(({ isEngine }) => isEngine)?.send({ ...message, tracker: slot.tracker })
        return
      case 'ready':
        if (slot.isEngine) this.#admitTrackers()
        else if (this.#clock !== null) slot.send(this.#clock)
        this.#announceReady()
        return
      case 'leaving':
      case 'empty':
      case 'emptied':
        return
      case 'waiting':
        this.#isInTrouble = true
        return
      case 'failed':
        this.#isInTrouble = true
        if (message.isFinal && !slot.wasReady) return this.#giveUp(slot)
        this.#logFailure(slot, message)
    }
  }

  /** The engine has compared the identity secret with the warehouse's: events may be taken. */
  #admitTrackers(): void {
    try {
      this.#identityCheck.remember()
    } catch (error) {
      // The disk may be full, for example. Then the next start waits for the warehouse again.
      this.#log.error(
        { reason: explainSystemError(error) },
        'that the secret fits is not remembered'
      )
    }
    if (this.#stopping !== null || this.#drain !== null) return
    for (const slot of this.#slots) if (!slot.wasStarted) slot.start()
  }

  #announceReady(): void {
    if (this.#hasAnnounced || !this.#slots.every((slot) => slot.isReady)) return
    this.#hasAnnounced = true
    const { trackingUrl, campaignUrl, dataDir, roles } = this.#config
    const ports = [
      ...(roles.includes('tracker') ? [`tracking ${trackingUrl}`] : []),
      `${roles.includes('engine') ? 'campaign' : 'health and metrics'} ${campaignUrl}`,
    ]
    process.stdout.write(`Shelftrace takes traffic: ${ports.join(', ')}, data ${dataDir}\n`)
  }

  #onEnd(slot: ChildSlot, how: object): void {
    if (this.#stopping !== null) return this.#finishWhenEmpty()
    this.#isInTrouble = true
    if (this.#drain?.hearEnd(slot) === true) return
    if (this.#isHopeless(slot)) return this.#giveUp(slot)
    const pauseMs = slot.takePauseMs()
    // A failure with a message has been logged already.
    if (slot.lastFailure === null) {
      this.#log.warn({ child: slot.name, ...how, pauseMs }, 'a process is started again')
    }
    setTimeout(() => {
      if (this.#stopping === null) slot.start()
    }, pauseMs)
  }

  #isHopeless({ wasReady, lastFailure }: ChildSlot): boolean {
    if (wasReady || this.#isKnown) return false
    // A process that ended without a message was killed, perhaps for lack of memory.
    const patienceMs = lastFailure === null ? limits.predecessorMs : this.#patienceMs
    return Date.now() - this.#startedAtMs > patienceMs
  }

  /** Only before the node first took traffic; no later failure ends it. */
  #giveUp(slot: ChildSlot): void {
    if (this.#stopping !== null) return
    const reason = slot.lastFailure ?? 'its process ended without a message'
    process.stderr.write(`shelftrace: ${slot.name} could not start: ${reason}\n`)
    this.#end(1)
  }

  /** A failed start is repeated every few seconds, if necessary for hours, and logged less often. */
  #logFailure({ name }: ChildSlot, { message, cause }: { message: string; cause: string }): void {
    const toldAtMs = this.#toldFailures.get(name + message) ?? -Infinity
    const nowMs = performance.now()
    if (nowMs - toldAtMs < limits.sameFailureLogMs) return
    if (this.#toldFailures.size > this.#slots.length * 4) this.#toldFailures.clear()
    this.#toldFailures.set(name + message, nowMs)
    const fields = { child: name, reason: message, ...(cause === '' ? {} : { cause }) }
    this.#log.warn(fields, 'a process could not start and is started again until it can')
  }

  #finishWhenEmpty(): void {
    if (this.#stopping === null || this.#slots.some((slot) => !slot.isEmpty)) return
    this.#finish(this.#drain === null ? this.#stopping.exitCode : this.#drainedCode())
  }

  /** The spool says whether a drain is done, whatever its processes said. */
  #drainedCode(): number {
    const { events, bytes } = countWaiting(this.#config.dataDir)
    if (events === 0) return 0
    const text = `${events} events (${bytes} bytes) were not shipped and wait in the spool of ${this.#config.dataDir}`
    process.stderr.write(`shelftrace: ${text}\n`)
    return 1
  }
}

/** The trackers share their port: the cluster module distributes the connections. */
function forkTracker(): ChildProcess {
  cluster.setupPrimary({
    exec: programPath('tracker'),
    execArgv: [...process.execArgv, ...signalOptions, ...trackerOptions],
  })
  const worker = cluster.fork(trackerEnvironment(process.env))
  // Sending to a process that has just died fails, and a worker without a listener throws then. The
  // slot sees the end of the process.
  worker.on('error', () => undefined)
  return worker.process
}

function forkEngine(): ChildProcess {
  return fork(programPath('engine'), {
    execArgv: [...process.execArgv, ...signalOptions, ...engineOptions],
    env: { ...process.env, ...engineEnvironment, UV_THREADPOOL_SIZE: String(engineThreads) },
  })
}

/** The program runs both from its sources (in development and tests) and as it was built. */
function programPath(name: string): string {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return fileURLToPath(new URL(`${name}.${extension}`, programFolder))
}
