import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RepeatCache, limits } from '../../src/tracking/repeat-cache.ts'
import { anEvent } from '../contracts/spool-model.ts'

test('what was added is known for half a minute at least and a minute at most', () => {
  let nowMs = 1_000_000
  const cache = new RepeatCache(() => nowMs)
  cache.add('a')
  nowMs += 20_000
  cache.add('b')

  nowMs += limits.keepMs / 2 - 20_000
  assert.deepEqual([cache.has('a'), cache.has('b')], [true, true])

  nowMs += limits.keepMs / 2
  assert.deepEqual([cache.has('a'), cache.has('b')], [false, false])
})

test('nothing is known any more after a pause longer than the time kept', () => {
  let nowMs = 1_000_000
  const cache = new RepeatCache(() => nowMs)
  cache.add('a')

  nowMs += limits.keepMs

  assert.equal(cache.has('a'), false)
  assert.equal(cache.size, 0)
})

test('a clock that steps back forgets everything', () => {
  let nowMs = 1_000_000
  const cache = new RepeatCache(() => nowMs)
  cache.add('a')

  nowMs -= 1

  assert.equal(cache.has('a'), false)
})

test('the number of entries is bounded, and the latest are the ones known', () => {
  const cache = new RepeatCache(() => 0)

  for (let index = 0; index < 3 * limits.entriesMax; index++) cache.add(`key-${index}`)

  assert.ok(cache.size <= limits.entriesMax)
  assert.equal(cache.has(`key-${3 * limits.entriesMax - 1}`), true)
  assert.equal(cache.has('key-0'), false)
})

test('the key tells apart kinds, purposes, user agents and tokens by head or tag', () => {
  const cache = new RepeatCache(() => 0)
  const middle = 'm'.repeat(50)
  const events = [
    anEvent({ trackingData: `AAAAAAA${middle}${'t'.repeat(22)}` }),
    anEvent({ trackingData: `AAAAAAB${middle}${'t'.repeat(22)}` }),
    anEvent({ trackingData: `AAAAAAA${middle}${'t'.repeat(21)}u` }),
    anEvent({ kind: 'click', trackingData: `AAAAAAA${middle}${'t'.repeat(22)}` }),
    anEvent({ isPrefetch: true, trackingData: `AAAAAAA${middle}${'t'.repeat(22)}` }),
    anEvent({ userAgent: 'other', trackingData: `AAAAAAA${middle}${'t'.repeat(22)}` }),
  ]

  const keys = events.map((event) => cache.keyOf(event))

  assert.equal(new Set(keys).size, events.length)
  assert.deepEqual(
    events.map((event) => cache.keyOf(event)),
    keys
  )
})

test('user agents without end only cost repeats: no number is given out twice', () => {
  const cache = new RepeatCache(() => 0)
  const keyOf = (index: number): string => cache.keyOf(anEvent({ userAgent: `agent-${index}` }))

  const keys = Array.from({ length: 3 * limits.userAgentsMax }, (_, index) => keyOf(index))

  assert.equal(new Set(keys).size, keys.length)
  assert.ok(!keys.includes(keyOf(0)), 'forgotten, so numbered anew')
})
