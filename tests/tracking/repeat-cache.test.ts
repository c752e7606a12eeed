import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { AdEventRecord } from '../../src/spool/record.ts'
import { RepeatCache, limits } from '../../src/tracking/repeat-cache.ts'
import { anEvent } from '../contracts/spool-model.ts'

function aToken(): string {
  return Buffer.concat([Buffer.from([1, 0, 0, 0, 7]), randomBytes(100)]).toString('base64url')
}

function someEvents(count: number): readonly AdEventRecord[] {
  return Array.from({ length: count }, () => anEvent({ trackingData: aToken() }))
}

function eventOf(agent: number): AdEventRecord {
  return { ...a, userAgent: `agent-${agent}` }
}

const [a = anEvent({}), b = anEvent({})] = someEvents(2)

test('what was added is known for half a minute at least and a minute at most', () => {
  let nowMs = 1_000_000
  const cache = new RepeatCache(() => nowMs)
  cache.add(a)
  nowMs += 20_000
  cache.add(b)

  nowMs += limits.keepMs / 2 - 20_000
  assert.deepEqual([cache.has(a), cache.has(b)], [true, true])

  nowMs += limits.keepMs / 2
  assert.deepEqual([cache.has(a), cache.has(b)], [false, false])
})

test('nothing is known any more after a pause longer than the time kept', () => {
  let nowMs = 1_000_000
  const cache = new RepeatCache(() => nowMs)
  cache.add(a)

  nowMs += limits.keepMs

  assert.equal(cache.has(a), false)
  assert.equal(cache.size, 0)
})

test('a clock that steps back forgets everything', () => {
  let nowMs = 1_000_000
  const cache = new RepeatCache(() => nowMs)
  cache.add(a)

  nowMs -= 1

  assert.equal(cache.has(a), false)
})

test('the number of entries is bounded, and the latest are the ones known', () => {
  const cache = new RepeatCache(() => 0)
  const events = someEvents(2 * limits.entriesMax + 10)

  for (const event of events) cache.add(event)

  assert.ok(cache.size <= limits.entriesMax)
  const latest = events.slice(-limits.entriesMax / 2)
  assert.ok(latest.every((event) => cache.has(event)))
  assert.equal(cache.has(events[0] ?? a), false)
})

test('events that were not added are never known, however full the cache', () => {
  const cache = new RepeatCache(() => 0)
  for (const event of someEvents(limits.entriesMax - 1)) cache.add(event)

  assert.ok(someEvents(100_000).every((event) => !cache.has(event)))
})

test('kinds, purposes, user agents and every character of key id and tag tell events apart', () => {
  const token = aToken()
  const altered = [...Array(7).keys(), ...Array.from({ length: 22 }, (_, index) => -1 - index)]
    .filter((at) => at !== 0)
    .map((at) => {
      const index = at < 0 ? token.length + at : at
      const other = token[index] === 'A' ? 'B' : 'A'
      return anEvent({ trackingData: token.slice(0, index) + other + token.slice(index + 1) })
    })
  const events = [
    anEvent({ trackingData: token }),
    ...altered,
    anEvent({ kind: 'click', trackingData: token }),
    anEvent({ kind: 'load', trackingData: token }),
    anEvent({ isPrefetch: true, trackingData: token }),
    anEvent({ kind: 'load', isPrefetch: true, trackingData: token }),
    anEvent({ userAgent: 'other', trackingData: token }),
  ]

  for (const added of events) {
    const cache = new RepeatCache(() => 0)
    cache.add(added)
    assert.deepEqual(
      events.filter((event) => cache.has(event)),
      [added]
    )
  }
})

test('a user agent beyond the bound only costs repeats: nothing is taken for another', () => {
  const cache = new RepeatCache(() => 0)
  cache.add(eventOf(0))

  for (let index = 1; index <= 3 * limits.userAgentsMax; index++) {
    assert.equal(cache.has(eventOf(index)), false)
  }

  assert.equal(cache.has(eventOf(0)), false)
})

/** Processor time in microseconds. */
function fill(events: readonly AdEventRecord[]): number {
  const cache = new RepeatCache(() => 0)
  const before = process.cpuUsage()
  for (const event of events) cache.add(event)
  const { user, system } = process.cpuUsage(before)
  assert.equal(cache.size, events.length)
  return user + system
}

// One token under ever new user agents must not make one long run of places to search.
test('one token with 49,000 user agents is about as quick as as many tokens', () => {
  const count = 49_000
  const tokens = fill(someEvents(count))

  const agents = fill(Array.from({ length: count }, (_, index) => eventOf(index)))

  assert.ok(agents < 20 * tokens, `${agents} us against ${tokens} us`)
})
