import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Slots } from '../../src/client/slots.ts'

async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

/** Work that is done when told, and says when it began. */
function heldWork() {
  const begun: number[] = []
  const finishers = new Map<number, () => void>()
  const work = (id: number) => async () => {
    begun.push(id)
    await new Promise<void>((resolve) => finishers.set(id, resolve))
  }
  const finish = async (id: number) => {
    finishers.get(id)?.()
    await settle()
  }
  return { begun, work, finish }
}

test('so much runs at once and the rest in the order in which it came', async () => {
  const slots = new Slots({ slotsMax: 2, waitingMax: 10 })
  const { begun, work, finish } = heldWork()
  const runs = [1, 2, 3, 4].map((id) => slots.run(work(id), undefined))

  await settle()
  assert.deepEqual(begun, [1, 2])
  await finish(2)
  assert.deepEqual(begun, [1, 2, 3])
  await finish(1)
  assert.deepEqual(begun, [1, 2, 3, 4])
  await finish(3)
  await finish(4)
  await Promise.all(runs)
})

test('what would wait beyond the bound is refused at once', async () => {
  const slots = new Slots({ slotsMax: 1, waitingMax: 1 })
  const { work, finish } = heldWork()
  const runs = [1, 2].map((id) => slots.run(work(id), undefined))
  await settle()

  await assert.rejects(slots.run(work(3), undefined), { code: 'QUEUE_FULL', isRetryable: true })

  await finish(1)
  await finish(2)
  await Promise.all(runs)
})

test('who gives up while waiting never runs, keeps nobody from running, and leaves no listener', async () => {
  const slots = new Slots({ slotsMax: 1, waitingMax: 10 })
  const { begun, work, finish } = heldWork()
  const abort = new AbortController()
  const first = slots.run(work(1), undefined)
  const second = slots.run(work(2), abort.signal)
  const third = slots.run(work(3), undefined)
  await settle()

  abort.abort('changed my mind')
  await assert.rejects(second, { code: 'ABORTED', cause: 'changed my mind' })
  await finish(1)
  await finish(3)

  assert.deepEqual(begun, [1, 3])
  await Promise.all([first, third])
})

test('work that fails gives its slot back', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 20 }), async (outcomes) => {
      const slots = new Slots({ slotsMax: 2, waitingMax: 20 })
      const runs = outcomes.map((isGood) =>
        slots.run(() => (isGood ? Promise.resolve() : Promise.reject(new Error('bad'))), undefined)
      )

      const settled = await Promise.allSettled(runs)

      assert.deepEqual(
        settled.map(({ status }) => status === 'fulfilled'),
        outcomes
      )
      await slots.run(() => Promise.resolve(), undefined)
    })
  )
})
