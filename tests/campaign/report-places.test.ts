import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerJson } from '../../src/http/handler.ts'
import { placeLimits, ReportPlaces } from '../../src/campaign/report-places.ts'
import { aKey } from './harness.ts'

const { signal } = new AbortController()
const done = answerJson(200, {})

/** Work that ends when it is told to. */
function aWorld(options: ConstructorParameters<typeof ReportPlaces>[0]) {
  const places = new ReportPlaces(options)
  const running: { readonly keyId: string; readonly end: () => void }[] = []
  const ask = async (id: string, caller: AbortSignal = signal) => {
    const answer = await places.run({ key: aKey({ id }), signal: caller }, async (keyId) => {
      await new Promise<void>((resolve) => running.push({ keyId, end: resolve }))
      return done
    })
    return answer.status
  }
  const end = async () => {
    running.shift()?.end()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const keys = async () => {
    await new Promise((resolve) => setImmediate(resolve))
    return running.map(({ keyId }) => keyId).join(' ')
  }
  return { ask, end, keys }
}

test('one key never takes all places, whatever it may have', async () => {
  const { ask, end, keys } = aWorld({ placesMax: 4, perKeyMax: 100 })
  const answers = [ask('a'), ask('a'), ask('a'), ask('a'), ask('b')]

  assert.equal(await keys(), 'a a a b')
  for (let count = 0; count < 5; count += 1) await end()

  assert.deepEqual(await Promise.all(answers), [200, 200, 200, 200, 200])
})

test('a place that falls free goes to the key with the fewest, then to who waits longest', async () => {
  const { ask, end, keys } = aWorld({ placesMax: 3, perKeyMax: 2 })
  const answers = ['a', 'a', 'b', 'b', 'a', 'c', 'd'].map((key) => ask(key))

  assert.equal(await keys(), 'a a b')
  await end()
  assert.equal(await keys(), 'a b c')
  await end()
  assert.equal(await keys(), 'b c a')
  for (let count = 0; count < 5; count += 1) await end()

  assert.deepEqual(new Set(await Promise.all(answers)), new Set([200]))
})

test('who waits too long is refused: 429 for a key with enough reports, 503 where others have all places', async () => {
  const { ask, end } = aWorld({ placesMax: 2, perKeyMax: 1, waitMsMax: 5 })
  const held = [ask('a'), ask('b')]

  assert.deepEqual(await Promise.all([ask('a'), ask('c')]), [429, 503])
  await end()
  await end()

  assert.deepEqual(await Promise.all(held), [200, 200])
})

test('a key has a bounded number of waiting reports', async () => {
  const { ask, end } = aWorld({ placesMax: 2, perKeyMax: 1 })
  const asked = Array.from({ length: placeLimits.waitingPerKeyMax + 1 }, () => ask('a'))

  assert.equal(await ask('a'), 429)
  for (const _ of asked) await end()

  assert.deepEqual(new Set(await Promise.all(asked)), new Set([200]))
})

test('a caller who leaves gives up waiting, and work that fails gives its place back', async () => {
  const { ask, end } = aWorld({ placesMax: 1, perKeyMax: 1 })
  const held = ask('a')
  const caller = new AbortController()

  const waiting = ask('b', caller.signal)
  caller.abort()
  await assert.rejects(waiting)
  await end()
  assert.equal(await held, 200)

  const places = new ReportPlaces({ placesMax: 1 })
  const call = { key: aKey(), signal }
  await assert.rejects(places.run(call, () => Promise.reject(new Error('broken'))))
  assert.equal((await places.run(call, () => Promise.resolve(done))).status, 200)
})

test('equal questions that a key asks at once take one place, where those of others and other questions have their own', async () => {
  const places = new ReportPlaces({ placesMax: 2, perKeyMax: 1, waitMsMax: 5 })
  const begun: string[] = []
  const ends: (() => void)[] = []
  const ask = async (id: string, question: string) =>
    await places.runShared({ key: aKey({ id }), signal }, [question], async ({ keyId }) => {
      begun.push(`${keyId} ${question}`)
      await new Promise<void>((resolve) => ends.push(resolve))
      return done
    })
  const colleagues = Array.from({ length: 30 }, () => ask('a', 'month'))
  const other = ask('b', 'month')

  // The place of the key is taken by the question of all colleagues.
  assert.equal((await ask('a', 'year')).status, 429)
  for (const end of ends) end()

  assert.deepEqual(new Set(await Promise.all([...colleagues, other])), new Set([done]))
  assert.deepEqual(begun, ['a month', 'b month'])
  // Whoever asks from now on is answered anew.
  const later = ask('a', 'month')
  await new Promise((resolve) => setImmediate(resolve))
  ends.at(-1)?.()
  await later
  assert.equal(begun.length, 3)
})

test('a shared question goes on while somebody waits for it, and its place is free when the last one has left', async () => {
  const places = new ReportPlaces({ placesMax: 1 })
  const callers = [new AbortController(), new AbortController()]
  let inner = signal
  const asked = callers.map((caller) =>
    places.runShared({ key: aKey(), signal: caller.signal }, ['month'], async (asker) => {
      inner = asker.signal
      await new Promise((_resolve, reject) => {
        inner.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
      })
      return done
    })
  )
  const left = Promise.allSettled(asked)
  await new Promise((resolve) => setImmediate(resolve))

  callers[0]?.abort()
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(inner.aborted, false)
  callers[1]?.abort()

  assert.deepEqual(
    (await left).map(({ status }) => status),
    ['rejected', 'rejected']
  )
  assert.equal(inner.aborted, true)
  const call = { key: aKey(), signal }
  assert.equal((await places.run(call, () => Promise.resolve(done))).status, 200)
})
