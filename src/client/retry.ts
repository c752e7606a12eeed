import { setTimeout as sleep } from 'node:timers/promises'
import { aborted, ClientError, withDetails } from './client-error.ts'
import type { RetryPolicy } from './options.ts'

export interface Called<T> {
  readonly value: T
  /** Requests that were sent, the good one included. */
  readonly attemptCount: number
}

interface Retries {
  readonly policy: RetryPolicy
  readonly signal: AbortSignal | undefined
}

/** Repeats what fails in a way that may pass, ever more slowly, within the bounds of the policy. */
export async function withRetries<T>(
  once: (attemptCount: number) => Promise<T>,
  { policy, signal }: Retries
): Promise<Called<T>> {
  for (let attemptCount = 1; ; attemptCount += 1) {
    if (signal?.aborted === true)
      throw withDetails(aborted(signal), { attemptCount: attemptCount - 1 })
    try {
      return { value: await once(attemptCount), attemptCount }
    } catch (error) {
      // Anything else is a fault of this program.
      if (!(error instanceof ClientError)) throw error
      const delayMs = delayBeforeNext(error, { policy, attemptCount, random: Math.random })
      if (delayMs === null) throw withDetails(error, { attemptCount })
      await pause(delayMs, { signal, attemptCount })
    }
  }
}

interface Attempted {
  readonly policy: RetryPolicy
  readonly attemptCount: number
  /** From 0 to 1. */
  readonly random: () => number
}

/**
 * Null: not again. What the service asks to wait for is waited for in full, and the jitter comes on top,
 * or all that were sent away together would come back together.
 */
export function delayBeforeNext(
  { isRetryable, retryAfterMs }: Pick<ClientError, 'isRetryable' | 'retryAfterMs'>,
  { policy, attemptCount, random }: Attempted
): number | null {
  if (!isRetryable || attemptCount >= policy.attemptsMax) return null
  if (retryAfterMs !== null && retryAfterMs > policy.retryAfterMsMax) return null

  const backoffMs = Math.min(policy.backoffMsMax, policy.backoffMs * 2 ** (attemptCount - 1))
  return Math.round((retryAfterMs ?? 0) + (backoffMs * (1 + random())) / 2)
}

/** Milliseconds from now of a Retry-After header: seconds or an HTTP date. Null when it is neither. */
export function parseRetryAfter(text: string | null, nowMs: number): number | null {
  if (text === null) return null
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000
  // Date.parse takes much else for a date.
  const atMs = text.endsWith(' GMT') ? Date.parse(text) : Number.NaN
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs)
}

async function pause(
  ms: number,
  { signal, attemptCount }: Pick<Retries, 'signal'> & Pick<Attempted, 'attemptCount'>
): Promise<void> {
  try {
    await sleep(ms, undefined, { signal })
  } catch (error) {
    if (signal?.aborted !== true) throw error
    throw withDetails(aborted(signal), { attemptCount })
  }
}
