import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ContradictionCounts } from '../../src/pipeline/contradiction-counts.ts'

test('events are counted by publisher and rule, and publishers beyond the bound together', () => {
  const counts = new ContradictionCounts()
  for (let publisherId = 1; publisherId <= 1_500; publisherId += 1) {
    counts.add({ publisherId, rule: 'no-access' })
  }
  counts.add({ publisherId: 1, rule: 'no-access' })

  const read = counts.read()

  assert.equal(read.length, 1_001)
  assert.deepEqual(read[0], { publisher: '1', rule: 'no-access', count: 2 })
  assert.deepEqual(read.at(-1), { publisher: 'other', rule: 'no-access', count: 500 })
})
