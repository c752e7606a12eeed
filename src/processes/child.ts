// What the processes of one node say to each other over IPC.

import { ServiceError } from '../errors.ts'
import { explainSystemError, locateSystemError } from '../lib/system-error.ts'
import type { TrackerCounts } from '../http/request-counts.ts'

export type ChildMessage =
  | { readonly type: 'ready' }
  /** From the engine, for the trackers: how far the node's clock is ahead of the warehouse's. */
  | ClockMessage
  /** From a tracker, for the engine's metrics. */
  | CountsMessage
  | FailedMessage

/** The child ends. */
export interface FailedMessage {
  readonly type: 'failed'
  /** One sentence for the operator. */
  readonly message: string
  /** What lies behind it, for the log; empty where the sentence says it all. */
  readonly cause: string
  /** Starting it again cannot help. */
  readonly isFinal: boolean
}

export interface ClockMessage {
  readonly type: 'clock'
  readonly offsetMs: number
}

export interface CountsMessage {
  readonly type: 'counts'
  /** The number of the tracker, from 1; the supervisor adds it. */
  readonly tracker: number
  readonly counts: TrackerCounts
}

/** Both shut down well within the 10 seconds after which a process manager kills. */
export const drainMsMax = 8_000
const supervisorCheckMs = 500

/**
 * For the V8 of a tracker. Requests live for the few milliseconds until their write is synced, longer
 * than the default young generation gives them: they were copied again and again, which took a
 * quarter of the CPU time of a request.
 */
export const trackerOptions: readonly string[] = ['--max-semi-space-size=16']

const withheld = ['SHELFTRACE_ADMIN_KEY', 'SHELFTRACE_KEY', 'SHELFTRACE_WAREHOUSE_URL'] as const

/**
 * What a tracker's environment has in place of the supervisor's. Trackers face the internet, so they get
 * no key and no password that they have no use for. And they get one arena of the C library for all
 * threads: what each of them keeps unused adds up to 5 MB.
 */
export function trackerEnvironment(
  environment: Readonly<Record<string, string | undefined>>
): Readonly<Record<string, string | undefined>> {
  return {
    ...Object.fromEntries(withheld.map((name) => [name, undefined])),
    // That there is an address decides about roles; which one does not matter to a tracker.
    ...(environment['SHELFTRACE_WAREHOUSE_URL'] === undefined
      ? {}
      : { SHELFTRACE_WAREHOUSE_URL: 'https://withheld.invalid/' }),
    MALLOC_ARENA_MAX: '1',
  }
}

/**
 * The old generation is collected once it grew by half. By default it grows to four times what is in
 * use first, which under load was 100 MB of garbage beside 35 MB in use.
 */
export const engineOptions: readonly string[] = ['--heap-growing-percent=50']

/** Two arenas for a main thread and what copies for it; the warehouse in process has its own. */
export const engineEnvironment = { MALLOC_ARENA_MAX: '2' } as const

export function parseChildMessage(value: unknown): ChildMessage | null {
  if (typeof value !== 'object' || value === null) return null
  const type: unknown = Reflect.get(value, 'type')
  if (type === 'ready') return { type }
  if (type === 'clock') return parseClockMessage(value)
  if (type === 'counts') return parseCountsMessage(value)
  if (type !== 'failed') return null
  return {
    type,
    message: String(Reflect.get(value, 'message')),
    cause: String(Reflect.get(value, 'cause')),
    isFinal: Reflect.get(value, 'isFinal') === true,
  }
}

export function parseClockMessage(value: unknown): ClockMessage | null {
  if (typeof value !== 'object' || value === null) return null
  const offsetMs: unknown = Reflect.get(value, 'offsetMs')
  const isOne = Reflect.get(value, 'type') === 'clock' && typeof offsetMs === 'number'
  return isOne ? { type: 'clock', offsetMs } : null
}

/** The processes are of one build, so the counts inside are what `TrackerCounts` says. */
export function parseCountsMessage(value: unknown): CountsMessage | null {
  if (typeof value !== 'object' || value === null) return null
  const isOne = Reflect.get(value, 'type') === 'counts'
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return isOne ? (value as CountsMessage) : null
}

export function isDrainMessage(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Reflect.get(value, 'type') === 'drain'
}

export interface Child {
  /** Stops taking work, finishes what came in, lets go of everything. */
  close(): Promise<void>
  /** How far the node's clock is ahead of the warehouse's; told when ready, and on every change. */
  hearClock?(offsetMs: number): void
  hearCounts?(message: CountsMessage): void
}

/**
 * Runs a child's life: starts it, reports to the supervisor, and ends it on the supervisor's word,
 * on SIGTERM, or when the supervisor is gone. SIGINT of a terminal reaches all processes at once
 * and is left to the supervisor; a terminal that closes (SIGHUP) ends nothing.
 */
export async function runChild(start: () => Promise<Child>): Promise<void> {
  process.on('SIGINT', () => undefined)
  process.on('SIGHUP', () => undefined)
  let child: Child | null = null
  let isEnding = false
  const end = async (): Promise<void> => {
    if (isEnding) return
    isEnding = true
    // Native code may hang; the supervisor's patience ends soon after.
    setTimeout(leave, drainMsMax).unref()
    await child?.close()
    leave()
  }
  const endSafely = (): void => {
    end().catch(leave)
  }
  process.on('message', (message) => {
    if (isDrainMessage(message)) endSafely()
    const clock = parseClockMessage(message)
    if (clock !== null) child?.hearClock?.(clock.offsetMs)
    const counts = parseCountsMessage(message)
    if (counts !== null) child?.hearCounts?.(counts)
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
 * Whatever had to be written is written by now. An ordinary exit would still run the destructors of
 * native code, which may crash, or wait for its threads for ever while they hold the ports and the lock
 * of the warehouse.
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

/** For the log: with the cause, which says what the engine or the system had to say. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}
