// The limits hold per holder (a key, or a network) and per node, in memory: they protect the node from
// a program that runs wild, and need not survive a restart.
import type { Clock } from '../lib/clock.ts'

interface RateAnswer {
  readonly isAllowed: boolean
  readonly limit: number
  /** Whole requests left right now. */
  readonly remaining: number
  /** Until a request is allowed again; 0 when it is. */
  readonly retryAfterSeconds: number
  /** Until the bucket is full again. */
  readonly resetSeconds: number
}

export interface RateLimiter {
  take(holder: string): RateAnswer
}

interface Bucket {
  tokens: number
  filledAtMs: number
}

const minuteMs = 60_000

/** Far more than an installation has keys, and than there are networks that send at once. */
const bucketsMax = 10_000

/** Looking through all buckets takes some 0.2 ms, so a flood of holders must not do it each time. */
const sweepPauseMs = 100

/** Callers that arrive while all buckets are in use share one, so that no count is dropped for a newcomer. */
const newcomers = ''

/** A bucket of a minute's requests that fills steadily: bursts pass, a steady excess does not. */
export function createRateLimiter(options: {
  readonly clock: Clock
  readonly requestsPerMinuteMax: number
}): RateLimiter {
  const { clock, requestsPerMinuteMax: limit } = options
  const buckets = new Map<string, Bucket>()
  const msPerToken = minuteMs / limit
  let sweptAtMs = -Infinity

  const tokensOf = ({ tokens, filledAtMs }: Bucket, nowMs: number): number =>
    // A clock that was set back must not drain the bucket.
    Math.min(limit, tokens + Math.max(0, nowMs - filledAtMs) / msPerToken)

  /** A full bucket is as good as none, so that forgetting it gives nothing away. */
  function sweep(nowMs: number): void {
    if (Math.abs(nowMs - sweptAtMs) < sweepPauseMs) return
    sweptAtMs = nowMs
    for (const [holder, bucket] of buckets) {
      if (tokensOf(bucket, nowMs) >= limit) buckets.delete(holder)
    }
  }

  function bucketOf(asked: string, nowMs: number): Bucket {
    const known = buckets.get(asked)
    if (known !== undefined) return known
    if (buckets.size >= bucketsMax) sweep(nowMs)
    const holder = buckets.size >= bucketsMax ? newcomers : asked
    const bucket = buckets.get(holder) ?? { tokens: limit, filledAtMs: nowMs }
    buckets.set(holder, bucket)
    return bucket
  }

  return {
    take(holder) {
      const nowMs = clock()
      const bucket = bucketOf(holder, nowMs)
      bucket.tokens = tokensOf(bucket, nowMs)
      bucket.filledAtMs = nowMs
      const isAllowed = bucket.tokens >= 1
      if (isAllowed) bucket.tokens -= 1
      return {
        isAllowed,
        limit,
        remaining: Math.floor(bucket.tokens),
        retryAfterSeconds: isAllowed ? 0 : seconds((1 - bucket.tokens) * msPerToken),
        resetSeconds: seconds((limit - bucket.tokens) * msPerToken),
      }
    },
  }
}

function seconds(ms: number): number {
  return Math.ceil(ms / 1_000)
}
