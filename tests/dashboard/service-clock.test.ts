import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceClock } from '../../dashboard/src/service-clock.ts'

const noonMs = Date.parse('2026-11-28T12:00:00Z')

function aClock(computer: { nowMs: number }): ServiceClock {
  return new ServiceClock(() => computer.nowMs)
}

test('until the service has answered, its time is that of the computer', () => {
  assert.equal(aClock({ nowMs: noonMs }).now().getTime(), noonMs)
})

test('the time of the service goes on from its last answer by the clock of the computer', () => {
  const computer = { nowMs: noonMs + 400 * 86_400_000 }
  const clock = aClock(computer)
  clock.hear('Sat, 28 Nov 2026 12:00:00 GMT')
  computer.nowMs += 5_000
  assert.equal(clock.now().getTime(), noonMs + 5_000)

  // Somebody sets the clock of the computer right.
  computer.nowMs = noonMs + 60_000
  clock.hear('Sat, 28 Nov 2026 12:01:00 GMT')
  assert.equal(clock.now().getTime(), noonMs + 60_000)
})

test('an answer without a date, or with what is none, changes nothing', () => {
  const clock = aClock({ nowMs: 0 })
  clock.hear('Sat, 28 Nov 2026 12:00:00 GMT')
  for (const date of [null, '', 'yesterday']) clock.hear(date)
  assert.equal(clock.now().getTime(), noonMs)
})
