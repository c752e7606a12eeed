import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { delayBeforeNext, parseRetryAfter } from '../../src/client/retry.ts'

const policy = { attemptsMax: 5, backoffMs: 100, backoffMsMax: 1_000, retryAfterMsMax: 60_000 }
const failed = { isRetryable: true, retryAfterMs: null }
const ratio = () => fc.double({ min: 0, max: 1, noNaN: true })

test('the wait doubles up to its bound, and half of it is jitter', () => {
  const waits = (random: number) =>
    [1, 2, 3, 4].map((attemptCount) =>
      delayBeforeNext(failed, { policy, attemptCount, random: () => random })
    )

  assert.deepEqual(waits(0), [50, 100, 200, 400])
  assert.deepEqual(waits(1), [100, 200, 400, 800])
  const late = { policy: { ...policy, attemptsMax: 99 }, attemptCount: 98, random: () => 1 }
  assert.equal(delayBeforeNext(failed, late), 1_000)
})

test('nothing is tried again after the last try, or when it cannot go well', () => {
  const last = { policy, attemptCount: 5, random: Math.random }
  const first = { policy, attemptCount: 1, random: Math.random }

  assert.equal(delayBeforeNext(failed, last), null)
  assert.equal(delayBeforeNext({ ...failed, isRetryable: false }, first), null)
})

test('what the service asks to wait for is waited for in full, within the bound, else not at all', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 200_000 }),
      fc.integer({ min: 1, max: 4 }),
      ratio(),
      (retryAfterMs, attemptCount, random) => {
        const error = { isRetryable: true, retryAfterMs }
        const delayMs = delayBeforeNext(error, { policy, attemptCount, random: () => random })

        if (retryAfterMs > policy.retryAfterMsMax) return delayMs === null
        if (delayMs === null) return false
        return delayMs >= retryAfterMs && delayMs <= retryAfterMs + policy.backoffMsMax
      }
    )
  )
})

test('Retry-After is seconds or an HTTP date; anything else is no wish', () => {
  const nowMs = Date.UTC(2026, 2, 2, 10, 0, 0)

  assert.equal(parseRetryAfter('5', nowMs), 5_000)
  assert.equal(parseRetryAfter('0', nowMs), 0)
  assert.equal(parseRetryAfter('Mon, 02 Mar 2026 10:00:07 GMT', nowMs), 7_000)
  assert.equal(parseRetryAfter('Mon, 02 Mar 2026 09:00:00 GMT', nowMs), 0)
  for (const text of [null, '', '-5', '1.5', '5x', 'soon', '2026-03-02', 'x GMT', '9'.repeat(10)]) {
    assert.equal(parseRetryAfter(text, nowMs), null, String(text))
  }
})
