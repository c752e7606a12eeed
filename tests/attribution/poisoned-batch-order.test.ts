// In which order a batch is searched for the purchase at fault, and who is to blame for what fails.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attributeLimits } from '../../src/attribution/attribute.ts'
import { PendingModel } from './pending-model.ts'

const refused = 469
const outOfMemory = 241

test('half of the healthy purchases are credited after two tries of parts, three quarters after four, and so on', async () => {
  const model = new PendingModel({ code: refused, of: [0] })
  for (let first = 0; first < 1_024; first += 64) model.ship(first, 64)
  await model.attributor.attributeBatch()

  const creditedAfter: number[] = []
  for (let tries = 2; tries <= 20; tries += 2) {
    await model.attributor.attributeBatch()
    await model.attributor.attributeBatch()
    creditedAfter.push(model.countOf('attributed'))
  }

  assert.deepEqual(creditedAfter, [512, 768, 896, 960, 992, 1_008, 1_016, 1_020, 1_022, 1_023])
  assert.deepEqual(model.numbersOf('set aside'), [0])
})

test('purchases that are shipped while a batch is searched are credited by the next try but one', async () => {
  const model = new PendingModel({ code: refused, of: [5] })
  model.ship(0, 1_024)
  for (let call = 0; call < 3; call += 1) await model.attributor.attributeBatch()

  for (let first = 2_000; first < 2_500; first += 100) {
    model.ship(first, 100)
    await model.attributor.attributeBatch()
    await model.attributor.attributeBatch()

    assert.ok(model.numbersOf('attributed').includes(first + 99), `${first} waits`)
  }
})

test('while a batch is searched, all before it counts as attributed and nothing after it', async () => {
  const model = new PendingModel({ code: refused, of: [5] })
  model.ship(0, 8)
  await model.attributor.attributeBatch()
  const settledAtFirst = model.attributor.settledThrough()
  model.ship(10, 8)
  for (let call = 0; call < 3; call += 1) await model.attributor.attributeBatch()

  assert.ok(model.numbersOf('attributed').includes(10))
  assert.equal(model.attributor.settledThrough(), settledAtFirst)
  assert.equal(model.attributor.oldestDueAt(), settledAtFirst)
  await model.attributeAll()
  assert.ok((model.attributor.settledThrough() ?? '') > (settledAtFirst ?? ''))
  assert.equal(model.attributor.oldestDueAt(), null)
})

test('a purchase at fault among 4,096 is set aside within 150 statements', async () => {
  const model = new PendingModel({ code: refused, of: [3_000] })
  for (let first = 0; first < 4_096; first += 64) model.ship(first, 64)

  assert.equal(await model.attributeAll(), 0)

  assert.deepEqual(model.numbersOf('set aside'), [3_000])
  assert.equal(model.countOf('attributed'), 4_095)
  assert.ok(model.statementCount <= 150, `${model.statementCount} statements`)
})

test('several purchases at fault are each set aside alone', async () => {
  const model = new PendingModel({ code: refused, of: [1, 2, 77, 200, 201, 255] })
  model.ship(0, 256)

  assert.equal(await model.attributeAll(), 0)

  assert.deepEqual(model.numbersOf('set aside'), [1, 2, 77, 200, 201, 255])
  assert.equal(model.countOf('attributed'), 250)
})

for (const code of [refused, outOfMemory]) {
  // The statement runs without a purchase, and fails with any: a fault of a version, or hardly any memory.
  test(`while every purchase fails with ${code}, newer ones included, few or none are set aside, and all others are credited afterwards`, async () => {
    const all = Array.from({ length: 240 }, (_, index) => index)
    const model = new PendingModel({ code, of: all })
    model.ship(0, 120)

    const failureCount = await model.attributeAll(400)
    model.ship(120, 120)
    await model.attributeAll(400)

    const setAsideCount = code === refused ? attributeLimits.setAsideInRowMax : 0
    assert.ok(failureCount > 0)
    assert.equal(model.countOf('set aside'), setAsideCount)
    model.trouble.of = []
    assert.equal(await model.attributeAll(2_000), 0)
    assert.equal(model.countOf('attributed'), 240 - setAsideCount)
  })
}

test('while the warehouse has room for no purchase, none is set aside for the limit it reached', async () => {
  const model = new PendingModel({ code: outOfMemory, of: [] })
  model.ship(0, 8)
  await model.attributeAll()
  model.trouble.of = Array.from({ length: 16 }, (_, index) => index)
  model.ship(8, 8)

  const failureCount = await model.attributeAll(500)

  assert.ok(failureCount > 400, 'each try fails, so that the step pauses and says so')
  assert.equal(model.countOf('set aside'), 0)
  model.trouble.of = []
  assert.equal(await model.attributeAll(), 0)
  assert.equal(model.countOf('attributed'), 16)
})

for (const [limit, code] of [
  ['time', 159],
  ['memory', outOfMemory],
  ['touchpoints', 191],
] as const) {
  test(`a purchase that reaches the limit of ${limit} while another passes is set aside`, async () => {
    const model = new PendingModel({ code, of: [3] })
    model.ship(0, 8)

    assert.equal(await model.attributeAll(), 0)

    assert.deepEqual(model.numbersOf('set aside'), [3])
  })
}

test('a purchase that reaches a limit, with no other to compare it with, is tried so often and then set aside', async () => {
  const model = new PendingModel({ code: outOfMemory, of: [3] })
  model.ship(3, 1)

  assert.equal(await model.attributeAll(), attributeLimits.limitTriesMax)

  assert.deepEqual(model.numbersOf('set aside'), [3])
})

for (const [what, code] of [
  ['is away', undefined],
  ['has too many queries', 202],
  ['has no memory for anything', outOfMemory],
  ['fails whatever it is asked', 49],
] as const) {
  test(`while the warehouse ${what} nothing is set aside, and all is attributed afterwards`, async () => {
    const model = new PendingModel({ code, of: null })
    model.ship(0, 4)

    assert.ok((await model.attributeAll(100)) > 0)

    assert.equal(model.countOf('set aside'), 0)
    model.trouble.of = []
    assert.equal(await model.attributeAll(), 0)
    assert.equal(model.countOf('attributed'), 4)
  })
}

test('a batch that fails while the warehouse is away holds up no other afterwards', async () => {
  const model = new PendingModel({ code: undefined, of: null })
  model.ship(0, 8)
  await assert.rejects(model.attributor.attributeBatch())
  model.trouble.of = [3]
  model.ship(8, 8)

  await model.attributeAll(10)

  assert.equal(model.countOf('set aside'), 0)
  assert.deepEqual(model.numbersOf('pending'), [0, 1, 2, 3, 4, 5, 6, 7])
  model.trouble.of = []
  await model.attributeAll()
  assert.equal(model.countOf('attributed'), 16)
})

for (const [what, shipments] of [
  ['other shipments', [[0], [1], [2]]],
  ['the same shipment', [[0, 1, 2]]],
] as const) {
  test(`what failed is not stepped over, though later purchases of ${what} are attributed`, async () => {
    const model = new PendingModel({ code: undefined, of: [0] }, { linesMax: 1 })
    for (const numbers of shipments) model.ship(numbers[0], numbers.length)
    await assert.rejects(async () => {
      for (;;) await model.attributor.attributeBatch()
    })
    const settledBefore = model.attributor.settledThrough()

    await model.attributeAll(12)

    assert.deepEqual(model.numbersOf('attributed'), [1, 2])
    assert.equal(model.attributor.settledThrough(), settledBefore)
    model.trouble.of = []
    await model.attributeAll()
    assert.equal(model.countOf('attributed'), 3)
    assert.ok((model.attributor.settledThrough() ?? '') > (settledBefore ?? ''))
  })
}
