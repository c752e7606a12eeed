import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRateLimiter, createSlotLimiter } from '../../src/access/rate-limit.ts'

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

test('more keys than are remembered cost no memory: the oldest start afresh', () => {
  const limiter = createRateLimiter({ clock: () => 0, requestsPerMinuteMax: 1 })
  limiter.take('first')
  assert.equal(limiter.take('first').isAllowed, false)

  for (let count = 0; count < 10_000; count += 1) limiter.take(`k${count}`)

  assert.equal(limiter.take('first').isAllowed, true)
})

test('a slot is held until it is given back, and giving it back twice frees one only', () => {
  const slots = createSlotLimiter(2)
  const one = slots.acquire('k')
  const two = slots.acquire('k')

  assert.ok(one !== null && two !== null)
  assert.equal(slots.acquire('k'), null)
  assert.notEqual(slots.acquire('other'), null)
  one()
  one()
  assert.notEqual(slots.acquire('k'), null)
  assert.equal(slots.acquire('k'), null)
})
