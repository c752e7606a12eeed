import assert from 'node:assert/strict'
import { test } from 'node:test'
import { intervals, intervalStart } from '../../src/domain/interval.ts'

const starts = (day: string) => intervals.map((interval) => intervalStart(day, interval))

test('a week begins on Monday, a month on its first, and a day is its own', () => {
  assert.deepEqual(starts('2026-03-01'), ['2026-03-01', '2026-02-23', '2026-03-01'])
  assert.deepEqual(starts('2026-03-02'), ['2026-03-02', '2026-03-02', '2026-03-01'])
  assert.deepEqual(starts('2024-02-29'), ['2024-02-29', '2024-02-26', '2024-02-01'])
  assert.deepEqual(starts('2027-01-01'), ['2027-01-01', '2026-12-28', '2027-01-01'])
})
