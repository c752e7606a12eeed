import { formatInstant } from '../warehouse/instant.ts'
import { findSealingWork, type SealDeps } from './seal-work.ts'
import { isOutdated } from './touched-days.ts'

export interface WaitingDays {
  /** Days of markets that are over and were never sealed. Reports compute them from the events. */
  readonly unsealed: number
  /** Sealed days of markets whose figures later input, or other rates, may have changed. */
  readonly renewing: number
}

/** Counts what waits to be sealed, also what the pipeline does not seal yet because it was sealed a moment ago. */
export async function countWaitingDays(
  deps: Pick<SealDeps, 'warehouse' | 'markets'>,
  nowMs: number
): Promise<WaitingDays> {
  const everything = { settledThroughMs: () => Number.MAX_SAFE_INTEGER, renewPauseMs: 0 }
  const work = await findSealingWork({ ...deps, ...everything }, formatInstant(nowMs))
  // A day that is read once more for certainty has its input in its figures already.
  const renewals = work.renewals.filter(({ touched }) => touched === null || isOutdated(touched))
  return { unsealed: work.unsealed.length, renewing: renewals.length }
}
