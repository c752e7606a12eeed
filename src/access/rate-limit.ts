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

/** Far more keys than an installation hands out; beyond it, holders that came first start afresh. */
const bucketsMax = 10_000

/** A bucket of a minute's requests that fills steadily: bursts pass, a steady excess does not. */
export function createRateLimiter(options: {
  readonly clock: Clock
  readonly requestsPerMinuteMax: number
}): RateLimiter {
  const { clock, requestsPerMinuteMax: limit } = options
  const buckets = new Map<string, Bucket>()
  const msPerToken = minuteMs / limit

  function bucketOf(holder: string, nowMs: number): Bucket {
    const known = buckets.get(holder)
    if (known !== undefined) return known
    const [oldest] = buckets.keys()
    if (buckets.size >= bucketsMax && oldest !== undefined) buckets.delete(oldest)
    const made = { tokens: limit, filledAtMs: nowMs }
    buckets.set(holder, made)
    return made
  }

  return {
    take(holder) {
      const nowMs = clock()
      const bucket = bucketOf(holder, nowMs)
      // A clock that was set back must not drain the bucket.
      const elapsedMs = Math.max(0, nowMs - bucket.filledAtMs)
      bucket.tokens = Math.min(limit, bucket.tokens + elapsedMs / msPerToken)
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

export interface SlotLimiter {
  /** Gives the slot back when called, once; null when the key holds all its slots. */
  acquire(keyId: string): (() => void) | null
}

/** At most `slotsMax` pieces of work at once per key. */
export function createSlotLimiter(slotsMax: number): SlotLimiter {
  const heldCounts = new Map<string, number>()
  return {
    acquire(keyId) {
      const heldCount = heldCounts.get(keyId) ?? 0
      if (heldCount >= slotsMax) return null
      heldCounts.set(keyId, heldCount + 1)
      let isHeld = true
      return () => {
        if (!isHeld) return
        isHeld = false
        const rest = (heldCounts.get(keyId) ?? 0) - 1
        if (rest > 0) heldCounts.set(keyId, rest)
        else heldCounts.delete(keyId)
      }
    },
  }
}

function seconds(ms: number): number {
  return Math.ceil(ms / 1_000)
}
