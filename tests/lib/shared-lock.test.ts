import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SharedLock } from '../../src/lib/shared-lock.ts'

function doNothing(): void {}

function deferred() {
  let resolve = doNothing
  const promise = new Promise<void>((done) => (resolve = done))
  return { promise, resolve }
}

test('work that runs alone begins when what was under way has ended, and holds up what comes', async () => {
  const lock = new SharedLock()
  const [first, alone] = [deferred(), deferred()]
  const seen: string[] = []

  const running = lock.run(async () => {
    await first.promise
    seen.push('first')
  })
  const still = lock.runAlone(async () => {
    seen.push('alone begins')
    await alone.promise
    seen.push('alone ends')
  })
  const later = lock.run(async () => {
    await Promise.resolve()
    seen.push('later')
  })
  first.resolve()
  await running
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(seen, ['first', 'alone begins'])
  alone.resolve()
  await Promise.all([still, later])

  assert.deepEqual(seen, ['first', 'alone begins', 'alone ends', 'later'])
})

test('two pieces of work that run alone never meet, and a failure frees the lock', async () => {
  const lock = new SharedLock()
  let aloneCount = 0
  const alone = async (): Promise<never> => {
    aloneCount += 1
    assert.equal(aloneCount, 1)
    await new Promise((resolve) => setImmediate(resolve))
    aloneCount -= 1
    throw new Error('a fault')
  }

  const ended = await Promise.allSettled([lock.runAlone(alone), lock.runAlone(alone)])

  assert.deepEqual(
    ended.map((one) => one.status === 'rejected' && String(one.reason)),
    ['Error: a fault', 'Error: a fault']
  )
  assert.equal(await lock.run(() => Promise.resolve('open')), 'open')
})
