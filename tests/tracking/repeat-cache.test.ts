import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { AdEventRecord } from '../../src/spool/record.ts'
import { callers } from '../../src/domain/caller.ts'
import { RepeatCache, limits } from '../../src/tracking/repeat-cache.ts'
import type { ReadEvent } from '../../src/tracking/repeat-cache.ts'
import { anEvent as aRecord } from '../contracts/spool-model.ts'

function anEvent(changes: Partial<AdEventRecord>): ReadEvent {
  return { caller: 'ordinary', ...aRecord(changes) }
}

function aToken(): string {
  return Buffer.concat([Buffer.from([1, 0, 0, 0, 7]), randomBytes(100)]).toString('base64url')
}

function someEvents(count: number): readonly ReadEvent[] {
  return Array.from({ length: count }, () => anEvent({ trackingData: aToken() }))
}

const [a = anEvent({}), b = anEvent({})] = someEvents(2)

test('what was added is known for half a minute at least and a minute at most', () => {
  let nowMs = 1_000_000
  const cache = new RepeatCache(() => nowMs)
  cache.add(a, 'counted')
  nowMs += 20_000
  cache.add(b, 'counted')

  nowMs += limits.keepMs / 2 - 20_000
  assert.deepEqual([cache.has(a, 'counted'), cache.has(b, 'counted')], [true, true])

  nowMs += limits.keepMs / 2
  assert.deepEqual([cache.has(a, 'counted'), cache.has(b, 'counted')], [false, false])
})

test('nothing is known any more after a pause longer than the time kept', () => {
  let nowMs = 1_000_000
  const cache = new RepeatCache(() => nowMs)
  cache.add(a, 'counted')

  nowMs += limits.keepMs

  assert.equal(cache.has(a, 'counted'), false)
  assert.equal(cache.size, 0)
})

test('a clock that steps back forgets everything', () => {
  let nowMs = 1_000_000
  const cache = new RepeatCache(() => nowMs)
  cache.add(a, 'counted')

  nowMs -= 1

  assert.equal(cache.has(a, 'counted'), false)
})

test('the number of entries is bounded, and the latest are the ones known', () => {
  const cache = new RepeatCache(() => 0)
  const events = someEvents(2 * limits.entriesMax + 10)

  for (const event of events) cache.add(event, 'counted')

  assert.ok(cache.size <= limits.entriesMax)
  const latest = events.slice(-limits.entriesMax / 2)
  assert.ok(latest.every((event) => cache.has(event, 'counted')))
  assert.equal(cache.has(events[0] ?? a, 'counted'), false)
})

test('events that were not added are never known, however full the cache', () => {
  const cache = new RepeatCache(() => 0)
  for (const event of someEvents(limits.entriesMax - 1)) cache.add(event, 'counted')

  assert.ok(someEvents(100_000).every((event) => !cache.has(event, 'counted')))
})

test('kinds, callers, networks, prefetches, ages and every character of key id and tag tell events apart', () => {
  const token = aToken()
  const altered = [...Array(7).keys(), ...Array.from({ length: 22 }, (_, index) => -1 - index)]
    .filter((at) => at !== 0)
    .map((at) => {
      const index = at < 0 ? token.length + at : at
      const other = token[index] === 'A' ? 'B' : 'A'
      return anEvent({ trackingData: token.slice(0, index) + other + token.slice(index + 1) })
    })
  const counted = altered.map((event) => ({ event, age: 'counted' as const }))
  const facts = callers.flatMap((caller) =>
    [{}, { dataCentreList: 'abc' }].flatMap((network) =>
      [true, false].flatMap((isPrefetch) =>
        (['load', 'impression', 'click'] as const).map((kind) =>
          anEvent({ kind, trackingData: token, caller, isPrefetch, ...network })
        )
      )
    )
  )
  const others = (['counted', 'expired', 'early'] as const).flatMap((age) =>
    facts.map((event) => ({ event, age }))
  )
  const all = [...counted, ...others]

  for (const added of all) {
    const cache = new RepeatCache(() => 0)
    cache.add(added.event, added.age)
    assert.deepEqual(
      all.filter(({ event, age }) => cache.has(event, age)),
      [added]
    )
  }
})

test('whatever may not count is another event on a new day, in every combination of facts', () => {
  const cache = new RepeatCache(() => 0)
  const midnightMs = Date.UTC(2026, 2, 3)
  for (const caller of callers) {
    const event = anEvent({ trackingData: aToken(), caller, receivedAtMs: midnightMs - 1 })
    cache.add(event, 'counted')

    const isKnown = cache.has({ ...event, receivedAtMs: midnightMs }, 'counted')

    assert.equal(isKnown, caller === 'ordinary', caller)
  }
})

test('everything that was added is forgotten when it is told to', () => {
  let nowMs = 1_000_000
  const cache = new RepeatCache(() => nowMs)
  cache.add(a, 'counted')
  nowMs += limits.keepMs / 2
  cache.add(b, 'counted')

  cache.forget()

  assert.deepEqual(
    [cache.has(a, 'counted'), cache.has(b, 'counted'), cache.size],
    [false, false, 0]
  )
})

test('user agents do not tell events apart, and days only those that do not count', () => {
  const cache = new RepeatCache(() => 0)
  const midnightMs = Date.UTC(2026, 2, 3)
  const late = anEvent({ trackingData: aToken(), receivedAtMs: midnightMs - 1 })
  const next = { ...late, receivedAtMs: midnightMs, userAgent: 'other' }
  cache.add(late, 'counted')
  cache.add(late, 'expired')

  assert.equal(cache.has({ ...late, userAgent: 'other' }, 'expired'), true)
  assert.equal(cache.has(next, 'counted'), true)
  assert.equal(cache.has(next, 'expired'), false)
})
