import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planBatches } from '../../src/attribution/attribution-batch.ts'
import { WorkList } from '../../src/attribution/work-list.ts'
import { PendingModel } from './pending-model.ts'

const refused = 349

function twoInstants(trouble: ConstructorParameters<typeof PendingModel>[0]): PendingModel {
  const model = new PendingModel(trouble, { purchasesMax: 100 })
  model.ship(0, 100)
  model.ship(100, 100)
  return model
}

test('two batches of a plan are attributed at the same time, and no more', async () => {
  const model = twoInstants({ code: refused, of: [] })
  model.ship(200, 100)

  const first = await model.attributor.attributeBatch()
  const second = await model.attributor.attributeBatch()

  assert.deepEqual(first, { attributedCount: 200, setAsideCount: 0, hasMore: true })
  assert.equal(second.attributedCount, 100)
  assert.equal(model.mostAtOnce, 2)
  assert.deepEqual(model.tries, [100, 100, 100])
})

for (const [failing, other] of [
  [5, 100],
  [105, 0],
] as const) {
  test(`if the batch of purchase ${failing} fails with the warehouse, the one beside it is attributed and counted by the next result`, async () => {
    const model = twoInstants({ code: undefined, of: [failing] })

    await assert.rejects(model.attributor.attributeBatch())

    assert.equal(model.countOf('attributed'), 100)
    assert.ok(model.numbersOf('attributed').includes(other))
    model.trouble.of = []
    const next = await model.attributor.attributeBatch()
    assert.equal(next.attributedCount, 200)
    assert.equal(model.countOf('attributed'), 200)
  })
}

test('if both batches fail with the warehouse, both are attributed once it is back', async () => {
  const model = twoInstants({ code: undefined, of: [5, 105] })

  await assert.rejects(model.attributor.attributeBatch())
  assert.equal(model.countOf('attributed'), 0)
  model.trouble.of = []

  assert.equal(await model.attributeAll(), 0)
  assert.equal(model.countOf('attributed'), 200)
})

test('while a batch is searched for its fault, nothing is tried beside its parts', async () => {
  const model = twoInstants({ code: refused, of: [5] })
  await model.attributor.attributeBatch()
  model.ship(200, 100)
  model.ship(300, 100)
  model.mostAtOnce = 0

  await model.attributeAll()

  assert.deepEqual(model.numbersOf('set aside'), [5])
  assert.equal(model.countOf('attributed'), 399)
  assert.equal(model.mostAtOnce, 1)
})

test('faults in both batches are each set aside alone', async () => {
  const model = twoInstants({ code: refused, of: [5, 105, 199] })

  assert.equal(await model.attributeAll(), 0)

  assert.deepEqual(model.numbersOf('set aside'), [5, 105, 199])
  assert.equal(model.countOf('attributed'), 197)
})

test('what was shipped before the older of two batches is settled until that one has ended, whichever ends first', () => {
  const instants = [10, 20, 30].map((second) => `2026-03-10 12:00:${second}.000000`)
  const groups = instants.map((shippedAt) => ({ shippedAt, pendingCount: 1, dueCount: 1 }))
  const work = new WorkList()
  work.plan(planBatches(groups, { purchasesMax: 1, isApart: () => false }), {
    until: instants[2] ?? '',
    leftFrom: null,
  })
  const [older, newer] = [work.take(), work.takeBeside()]
  assert.ok(older !== null && newer !== null)

  work.release(newer)
  assert.equal(work.settledThrough(), older.from)
  work.release(older)
  assert.equal(work.settledThrough(), instants[2])
})

test('a backlog is looked through once, and what a plan has attributed is not looked at again', async () => {
  const model = new PendingModel({ code: refused, of: [] }, { purchasesMax: 100 })
  for (let first = 0; first < 400; first += 100) model.ship(first, 100)
  model.passTime(60_000)

  assert.equal(await model.attributeAll(), 0)

  assert.equal(model.countOf('attributed'), 400)
  assert.equal(model.lookCount, 1)
})

test('purchases that are shipped after a plan was made are attributed by the next one', async () => {
  const model = twoInstants({ code: refused, of: [] })
  model.passTime(60_000)
  const first = model.attributor.attributeBatch()
  model.ship(200, 100)
  await first

  assert.equal(await model.attributeAll(), 0)

  assert.equal(model.countOf('attributed'), 300)
})
