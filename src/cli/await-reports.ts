// Waits until what was loaded is in the reports, by what the status tells. Three things have to happen in turn: the
// events are shipped, what was shipped is attributed, and days that were sealed before are sealed again.
import { setTimeout as sleep } from 'node:timers/promises'
import { statusResponseSchema, type StatusResponse } from '../contract/admin.ts'
import { CliError, type CommandContext } from './command.ts'
import { tell } from './progress.ts'
import { counted, formatDuration, formatSize } from './words.ts'

const limits = {
  pauseMsMin: 250,
  pauseMsMax: 2_000,
  waitMsMax: 1_800_000,
  /** A service that is started again answers within this time. */
  silenceMsMax: 120_000,
} as const

/** How far it is. Instants are by the clock of the node, as the status has them. */
interface Place {
  /** All that was loaded before is shipped once nothing older than this waits. */
  readonly loadedAtMs: number
  /** When it was seen that all is shipped; null before. */
  readonly shippedAtMs: number | null
}

interface Patience {
  readonly waitMsMax?: number
  readonly silenceMsMax?: number
}

/** Throws a CliError if the server does not tell, or it takes longer than the limit. */
export async function awaitReports(
  context: Pick<CommandContext, 'call' | 'terminal'>,
  { waitMsMax = limits.waitMsMax, silenceMsMax = limits.silenceMsMax }: Patience = {}
): Promise<void> {
  const untilMs = performance.now() + waitMsMax
  let answeredAtMs = performance.now()
  let place: Place | null = null
  for (
    let pauseMs: number = limits.pauseMsMin;
    ;
    pauseMs = Math.min(pauseMs * 2, limits.pauseMsMax)
  ) {
    let waiting: string | null
    try {
      const status = await readStatus(context)
      answeredAtMs = performance.now()
      place = advance(place, status)
      waiting = describeWaiting(place, status)
    } catch (error) {
      if (!(error instanceof CliError)) throw error
      if (performance.now() - answeredAtMs > silenceMsMax) throw notTold(context, error)
      waiting = 'the service does not answer'
    }
    tell(context.terminal, waiting)
    if (waiting === null) return
    if (performance.now() > untilMs) {
      tell(context.terminal, null)
      const spent = formatDuration(waitMsMax)
      throw new CliError(
        `The events are loaded, but after ${spent} not yet in the reports: ${waiting}.`
      )
    }
    await sleep(pauseMs)
  }
}

/** Whoever reads only that nothing answers would load the events again. */
function notTold({ terminal }: Pick<CommandContext, 'terminal'>, cause: CliError): CliError {
  tell(terminal, null)
  return new CliError(
    `The events are loaded; nothing tells whether the reports have them. ${cause.message}`,
    { cause }
  )
}

type Told = StatusResponse & Required<Pick<StatusResponse, 'at' | 'attribution'>>

/** To be called before anything is loaded as well: who may not ask learns it then. */
export async function readStatus({ call }: Pick<CommandContext, 'call'>): Promise<Told> {
  const status = await call(statusResponseSchema, {
    method: 'GET',
    path: '/status',
    waitsForLimit: true,
  })
  const { at, attribution } = status
  if (at !== undefined && attribution !== undefined) return { ...status, at, attribution }
  throw new CliError('This server is too old for --wait: it does not tell how far attribution is.')
}

function advance(place: Place | null, { at, lagMs }: Told): Place {
  const atMs = Date.parse(at)
  const { loadedAtMs, shippedAtMs } = place ?? { loadedAtMs: atMs, shippedAtMs: null }
  const isShipped = lagMs === 0 || atMs - lagMs > loadedAtMs
  return { loadedAtMs, shippedAtMs: shippedAtMs ?? (isShipped ? atMs : null) }
}

/** Null: nothing waits any more. */
function describeWaiting({ shippedAtMs }: Place, status: Told): string | null {
  if (shippedAtMs === null) return `${formatSize(status.spool.bytes)} wait to be shipped`
  if (!status.warehouse.available || status.days === undefined) return 'the warehouse is away'
  const { settledThrough } = status.attribution
  const isAttributed = settledThrough !== null && Date.parse(settledThrough) >= shippedAtMs
  if (!isAttributed) return 'purchases wait to be attributed'
  const { renewing } = status.days
  return renewing === 0 ? null : `${counted(renewing, 'day')} to be sealed again`
}
