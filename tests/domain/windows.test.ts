import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  attributionClickMs,
  attributionViewMs,
  clickCountableMs,
  crowdTouchpointsMax,
  crowdWindowMs,
  earlyToleranceMs,
  eventVerdict,
  viewCountableMs,
} from '../../src/domain/windows.ts'

const servedAtMs = Date.UTC(2026, 2, 2, 10)
const hourMs = 3_600_000

test('the windows are those of the specification, in elapsed time', () => {
  assert.equal(viewCountableMs, 24 * hourMs)
  assert.equal(clickCountableMs, 7 * 24 * hourMs)
  assert.equal(earlyToleranceMs, 5 * 60_000)
  assert.equal(attributionClickMs, 14 * 24 * hourMs)
  assert.equal(attributionViewMs, 24 * hourMs)
  assert.equal(crowdTouchpointsMax, 5_000)
  assert.equal(crowdWindowMs, 15 * 24 * hourMs)
})

test('a load and an impression count for 24 hours to the millisecond', () => {
  for (const kind of ['load', 'impression'] as const) {
    assert.equal(eventVerdict(kind, servedAtMs, servedAtMs), 'counted')
    assert.equal(eventVerdict(kind, servedAtMs, servedAtMs + viewCountableMs), 'counted')
    assert.equal(eventVerdict(kind, servedAtMs, servedAtMs + viewCountableMs + 1), 'expired')
  }
})

test('a click counts for 7 days to the millisecond', () => {
  assert.equal(eventVerdict('click', servedAtMs, servedAtMs + viewCountableMs + 1), 'counted')
  assert.equal(eventVerdict('click', servedAtMs, servedAtMs + clickCountableMs), 'counted')
  assert.equal(eventVerdict('click', servedAtMs, servedAtMs + clickCountableMs + 1), 'expired')
})

test('an event may come 5 minutes before its ad was served and no earlier', () => {
  for (const kind of ['load', 'impression', 'click'] as const) {
    assert.equal(eventVerdict(kind, servedAtMs, servedAtMs - earlyToleranceMs), 'counted')
    assert.equal(eventVerdict(kind, servedAtMs, servedAtMs - earlyToleranceMs - 1), 'early')
  }
})
