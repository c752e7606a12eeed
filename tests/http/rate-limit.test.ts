import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRateLimiter } from '../../src/http/rate-limit.ts'

test('a burst of a minute passes, the next request waits, and time lets one through again', () => {
  let nowMs = 1_000
  const limiter = createRateLimiter({ clock: () => nowMs, requestsPerMinuteMax: 60 })

  const first = limiter.take('k')
  for (let count = 1; count < 60; count += 1) assert.equal(limiter.take('k').isAllowed, true)
  const refused = limiter.take('k')
  nowMs += 1_000
  const later = limiter.take('k')

  assert.deepEqual(first, {
    isAllowed: true,
    limit: 60,
    remaining: 59,
    retryAfterSeconds: 0,
    resetSeconds: 1,
  })
  assert.deepEqual(refused, {
    isAllowed: false,
    limit: 60,
    remaining: 0,
    retryAfterSeconds: 1,
    resetSeconds: 60,
  })
  assert.equal(later.isAllowed, true)
})

test('keys do not share a bucket, and a clock set back drains none', () => {
  let nowMs = 60_000
  const limiter = createRateLimiter({ clock: () => nowMs, requestsPerMinuteMax: 2 })
  limiter.take('a')
  nowMs = 0

  assert.equal(limiter.take('b').remaining, 1)
  assert.equal(limiter.take('a').isAllowed, true)
  assert.equal(limiter.take('a').isAllowed, false)
})

test('nobody gets a fresh count by coming under ten thousand other names', () => {
  let nowMs = 0
  const limiter = createRateLimiter({ clock: () => nowMs, requestsPerMinuteMax: 600 })
  while (limiter.take('first').isAllowed);

  for (let count = 0; count < 30_000; count += 1) limiter.take(`k${count}`)

  assert.equal(limiter.take('first').isAllowed, false)
  nowMs += 60_000
  assert.equal(limiter.take('first').remaining, 599)
})

test('who comes while ten thousand are limited shares a count, until one of them is at rest', () => {
  let nowMs = 0
  const limiter = createRateLimiter({ clock: () => nowMs, requestsPerMinuteMax: 1 })
  for (let count = 0; count < 10_000; count += 1) limiter.take(`k${count}`)

  assert.equal(limiter.take('new').isAllowed, true)
  assert.equal(limiter.take('newer').isAllowed, false)
  nowMs += 60_000
  assert.equal(limiter.take('newest').isAllowed, true)
  assert.equal(limiter.take('newer').isAllowed, true)
})
