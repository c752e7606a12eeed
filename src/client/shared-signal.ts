import { setMaxListeners } from 'node:events'

/** One signal may end thousands of calls, for which Node would warn of a leak from the eleventh on. */
export function expectSharing(signal: AbortSignal | undefined): void {
  if (signal !== undefined) setMaxListeners(0, signal)
}
