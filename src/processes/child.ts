// The messages between the processes of one node, over IPC.

import { ServiceError } from '../errors.ts'
import { explainSystemError, locateSystemError } from '../lib/system-error.ts'
import type { TrackerCounts } from '../http/request-counts.ts'
import { ignoreDebuggerSignal } from './early-signals.ts'

export type ChildMessage =
  | { readonly type: 'ready' }
  /** From the engine, for the trackers: how far the node's clock is ahead of the warehouse's. */
  | ClockMessage
  | PlacesMessage
  /** From the engine: the warehouse is away, and the start waits for it. */
  | { readonly type: 'waiting' }
  /** From a tracker, for the engine's metrics. */
  | CountsMessage
  | LeavingMessage
  | EmptyMessage
  /** From the engine: the spool is empty, and this was told to the other nodes. */
  | { readonly type: 'emptied' }
  | FailedMessage

/** From the supervisor: finish what came in, and end. */
export interface EndMessage {
  readonly type: 'end'
}

/** The child ends. */
export interface FailedMessage {
  readonly type: 'failed'
  /** One sentence for the operator. */
  readonly message: string
  /** The cause, for the log; empty if the sentence says it all. */
  readonly cause: string
  /** Starting it again cannot help. */
  readonly isFinal: boolean
}

export interface ClockMessage {
  readonly type: 'clock'
  readonly offsetMs: number
}

/** From the engine, for the trackers: events may get other verdicts than before, for the catalog has changed. */
export interface PlacesMessage {
  readonly type: 'places'
}

/** From the supervisor: the node drains, so it is not ready any more, but still takes what comes. */
export interface LeavingMessage {
  readonly type: 'leaving'
}

/** From the supervisor, for the engine: nothing more comes into the spool; say when it is empty. */
export interface EmptyMessage {
  readonly type: 'empty'
}

export interface CountsMessage {
  readonly type: 'counts'
  /** The number of the tracker, from 1; the supervisor adds it. */
  readonly tracker: number
  readonly counts: TrackerCounts
}

/** Well within the 10 seconds after which a process manager kills. */
export const endMsMax = 8_000
const supervisorCheckMs = 500

/**
 * Closes the debugger to SIGUSR1 while the program of a child is being loaded, too. Node 20, and 22 before 22.14, know
 * no such option, and refuse to start with it.
 */
export const signalOptions: readonly string[] = process.allowedNodeEnvironmentFlags.has(
  '--disable-sigusr1'
)
  ? ['--disable-sigusr1']
  : []

/**
 * For the V8 of a tracker. Requests live for the few milliseconds until their write is synced, which is longer
 * than the default young generation lasts: they were copied again and again, which took a quarter of the CPU
 * time of a request.
 */
export const trackerOptions: readonly string[] = ['--max-semi-space-size=16']

const withheld = [
  'SHELFTRACE_ADMIN_KEY',
  'SHELFTRACE_ADMIN_KEY_FILE',
  'SHELFTRACE_KEY',
  'SHELFTRACE_KEY_FILE',
  'SHELFTRACE_WAREHOUSE_URL',
  'SHELFTRACE_WAREHOUSE_URL_FILE',
] as const
const warehouseVariables = ['SHELFTRACE_WAREHOUSE_URL', 'SHELFTRACE_WAREHOUSE_URL_FILE'] as const

/**
 * The variables of a tracker that differ from the supervisor's. Trackers face the internet, so they get no key
 * or password that they do not need. All threads share one arena of the C library, since the memory that
 * separate arenas keep unused adds up to 5 MB.
 */
export function trackerEnvironment(
  environment: Readonly<Record<string, string | undefined>>
): Readonly<Record<string, string | undefined>> {
  return {
    ...Object.fromEntries(withheld.map((name) => [name, undefined])),
    // Whether there is an address decides about roles; a tracker does not need the address itself.
    ...(warehouseVariables.some((name) => (environment[name] ?? '') !== '')
      ? { SHELFTRACE_WAREHOUSE_URL: 'https://withheld.invalid/' }
      : {}),
    MALLOC_ARENA_MAX: '1',
  }
}

/**
 * Collects the old generation once it has doubled. By default it may grow to four times what is in use, which under
 * load was 100 MB of garbage beside 35 MB in use. Collecting it at half as much again took a tenth more CPU time in a
 * flood and saved no memory.
 *
 * New objects have three spaces of at most 4 MB each, instead of 16. That saves 40 MB under load and costs 6 percent of
 * the speed of shipping (docs/decisions/0067-memory-in-a-flood.md).
 */
export const engineOptions: readonly string[] = [
  '--heap-growing-percent=100',
  '--max-semi-space-size=4',
]

/** One arena for the main thread and one for its helpers; ClickHouse in process has its own allocator. */
export const engineEnvironment = { MALLOC_ARENA_MAX: '2' } as const

const messageTypes = new Set<unknown>([
  'ready',
  'clock',
  'places',
  'waiting',
  'counts',
  'leaving',
  'empty',
  'emptied',
  'failed',
  'end',
])

/** Null for a message that is not ours. The processes are of one build, so a known type has its fields. */
export function readMessage(value: unknown): ChildMessage | EndMessage | null {
  if (typeof value !== 'object' || value === null) return null
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return messageTypes.has(Reflect.get(value, 'type')) ? (value as ChildMessage) : null
}

export interface Child {
  /** Stops taking work, finishes what came in, lets go of everything. */
  close(): Promise<void>
  /** Called when ready and on every change: how far the node's clock is ahead of the warehouse's. */
  hearClock?(offsetMs: number): void
  hearPlaces?(): void
  hearCounts?(message: CountsMessage): void
  hearLeaving?(): void
  /** Ships the whole spool and then resolves. */
  empty?(): Promise<void>
}

/**
 * Runs a child: starts it, reports to the supervisor, and ends it when the supervisor says so or is gone, or on
 * SIGTERM. The SIGINT of a terminal reaches all processes at once and is left to the supervisor. A terminal
 * that closes (SIGHUP) ends nothing, and SIGUSR1 opens no debugger.
 */
export async function runChild(start: () => Promise<Child>): Promise<void> {
  process.on('SIGINT', () => undefined)
  process.on('SIGHUP', () => undefined)
  ignoreDebuggerSignal()
  let child: Child | null = null
  let isEnding = false
  const end = async (): Promise<void> => {
    if (isEnding) return
    isEnding = true
    // Native code may hang; the supervisor's patience ends soon after.
    setTimeout(leave, endMsMax).unref()
    await child?.close()
    leave()
  }
  const endSafely = (): void => {
    end().catch(leave)
  }
  process.on('message', (value) => {
    const message = readMessage(value)
    if (message?.type === 'end') endSafely()
    if (message?.type === 'clock') child?.hearClock?.(message.offsetMs)
    if (message?.type === 'places') child?.hearPlaces?.()
    if (message?.type === 'counts') child?.hearCounts?.(message)
    if (message?.type === 'leaving') child?.hearLeaving?.()
    if (message?.type === 'empty') void child?.empty?.().then(() => tell({ type: 'emptied' }))
  })
  process.on('disconnect', endSafely)
  process.on('SIGTERM', endSafely)
  // The event is missed when the supervisor dies while this program is still being loaded.
  setInterval(() => {
    if (!process.connected) endSafely()
  }, supervisorCheckMs).unref()
  try {
    child = await start()
    tell({ type: 'ready' })
  } catch (error) {
    tell({ type: 'failed', ...explainFailure(error) }, leave)
  }
}

/**
 * Everything is written by now. An ordinary exit would still run the destructors of native code, which may
 * crash, or wait forever for threads that hold the ports and the lock of the warehouse.
 */
function leave(): void {
  process.kill(process.pid, 'SIGKILL')
}

export function tell(message: ChildMessage, sent: () => void = () => undefined): void {
  if (process.send === undefined || !process.connected) return sent()
  process.send(message, undefined, undefined, sent)
}

function explainFailure(error: unknown): Omit<FailedMessage, 'type'> {
  const isOurs = error instanceof ServiceError
  return {
    message: isOurs ? error.message : locateSystemError(error),
    cause: isOurs && error.cause !== undefined ? explainSystemError(error.cause) : '',
    isFinal: isOurs && error.code === 'CONFIG_INVALID',
  }
}

/** For the log: the message and that of its cause, which is ClickHouse's or the system's. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}
