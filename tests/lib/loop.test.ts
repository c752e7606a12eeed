import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Loop } from '../../src/lib/loop.ts'

test('a step that has more to do is repeated at once, a failing one later, and none after the stop', async () => {
  const failures: unknown[] = []
  let stepCount = 0
  const reached = deferred()

  const loop = new Loop({
    step: async () => {
      stepCount += 1
      if (stepCount === 2) throw new Error('a passing fault')
      if (stepCount === 5) reached.resolve()
      return stepCount < 5
    },
    pauseMs: 1,
    failurePauseMsMax: 2,
    onFailure: (error, failureCount) => failures.push([String(error), failureCount]),
  })
  await reached.promise
  await loop.stop()
  const stoppedAt = stepCount

  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(stepCount, stoppedAt)
  assert.deepEqual(failures, [['Error: a passing fault', 1]])
})

test('stopping waits for the step under way', async () => {
  const begun = deferred()
  const release = deferred()
  let isDone = false
  const loop = new Loop({
    step: async () => {
      begun.resolve()
      await release.promise
      isDone = true
      return false
    },
    pauseMs: 1,
    failurePauseMsMax: 1,
    onFailure: () => assert.fail('nothing fails here'),
  })
  await begun.promise

  const stopped = loop.stop()
  release.resolve()
  await stopped

  assert.equal(isDone, true)
})

function deferred(): { promise: Promise<void>; resolve: () => void } {
  const settled: { resolve?: () => void } = {}
  const promise = new Promise<void>((resolve) => (settled.resolve = resolve))
  return { promise, resolve: () => settled.resolve?.() }
}
