import assert from 'node:assert/strict'
import { test } from 'node:test'
import { counted, formatCount, formatDuration, formatSize } from '../../src/cli/words.ts'

test('counts are grouped, and one thing is not many', () => {
  assert.deepEqual([0, 999, 1_000, 24_457_431].map(formatCount), [
    '0',
    '999',
    '1,000',
    '24,457,431',
  ])
  assert.equal(counted(1, 'entry', 'entries'), '1 entry')
  assert.equal(counted(0, 'entry', 'entries'), '0 entries')
  assert.equal(counted(1_200, 'row'), '1,200 rows')
})

test('sizes have three digits at most, in powers of 1000', () => {
  const sizes = [0, 1, 999, 1_000, 1_049, 99_949, 99_950, 24_457_431, 999_499_999, 999_500_000]
  assert.deepEqual(sizes.map(formatSize), [
    '0 bytes',
    '1 byte',
    '999 bytes',
    '1 kB',
    '1 kB',
    '99.9 kB',
    '100 kB',
    '24.5 MB',
    '999 MB',
    '1 GB',
  ])
  assert.equal(formatSize(Number.MAX_SAFE_INTEGER), '9 PB')
})

test('durations have their two largest units', () => {
  const durations = [0, 999, 1_000, 5_977, 9_960, 65_000, 120_000, 12_000_000, 187_200_000]
  assert.deepEqual(durations.map(formatDuration), [
    '0 ms',
    '999 ms',
    '1 s',
    '6 s',
    '10 s',
    '1 min 5 s',
    '2 min',
    '3 h 20 min',
    '2 d 4 h',
  ])
})
