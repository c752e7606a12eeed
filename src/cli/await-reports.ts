// Waits until what was loaded is in the reports, by what the status tells. Three things have to happen in turn: the
// events are shipped, what was shipped is attributed, and days that were sealed before are sealed again.
import { setTimeout as sleep } from 'node:timers/promises'
import { statusResponseSchema, type StatusResponse } from '../contract/admin.ts'
import { CliError, type CommandContext } from './command.ts'
import { tell } from './progress.ts'
import { counted, formatDuration, formatSize } from './words.ts'

const limits = { pauseMsMin: 250, pauseMsMax: 2_000, waitMsMax: 1_800_000 } as const

/** How far it is. Instants are by the clock of the node, as the status has them. */
interface Place {
  /** All that was loaded before is shipped once nothing older than this waits. */
  readonly loadedAtMs: number
  /** When it was seen that all is shipped; null before. */
  readonly shippedAtMs: number | null
}

/** Throws a CliError if the server does not tell, or it takes longer than the limit. */
export async function awaitReports(
  context: Pick<CommandContext, 'call' | 'terminal'>,
  { waitMsMax = limits.waitMsMax }: { readonly waitMsMax?: number } = {}
): Promise<void> {
  const untilMs = performance.now() + waitMsMax
  let place: Place | null = null
  for (
    let pauseMs: number = limits.pauseMsMin;
    ;
    pauseMs = Math.min(pauseMs * 2, limits.pauseMsMax)
  ) {
    const status = await readStatus(context)
    place = advance(place, status)
    const waiting = describeWaiting(place, status)
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
