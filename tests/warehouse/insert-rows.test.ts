import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertLimits, insertRows, RefusalStreaks } from '../../src/warehouse/insert-rows.ts'
import { warehouseFailure } from '../../src/warehouse/refusal.ts'
import { RowLines } from '../../src/warehouse/row-lines.ts'
import { parseRows } from '../../src/warehouse/warehouse.ts'
import { aConversion, anEvent, append, aShipment, counts, shipBatch } from '../helpers/shipment.ts'

const rows = rowsFrom(0, 5_000)

function rowsFrom(first: number, count: number): RowLines {
  const lines = new RowLines('delivery_in', ['number'])
  for (let number = first; number < first + count; number += 1) lines.add(`${number}`, number)
  return lines
}

interface Behaviour {
  readonly code: (numbers: readonly number[]) => number | null
}

/** Takes and refuses as the test says; a row is its number. */
function aTable({ code }: Behaviour) {
  const taken = new Set<number>()
  const sizes: number[] = []
  const insert = (_table: string, lines: Buffer): Promise<void> => {
    const numbers = parseRows(lines).map(([, number]) => Number(number))
    sizes.push(numbers.length)
    const failure = code(numbers)
    if (failure !== null) return Promise.reject(warehouseFailure('insert', failure, null))
    for (const number of numbers) taken.add(number)
    return Promise.resolve()
  }
  return { warehouse: { insert }, taken, sizes }
}

// A fault of the server, a schema that somebody changed, a code of a newer version.
for (const code of [49, 47, 117, 9_999]) {
  test(`a warehouse that refuses every row with ${code} sets nothing aside, however often it is tried`, async () => {
    const { warehouse, sizes } = aTable({ code: () => code })
    const streaks = new RefusalStreaks()

    for (let attempt = 0; attempt < 3; attempt += 1) {
      await assert.rejects(insertRows({ warehouse, streaks, rows }), {
        code: 'WAREHOUSE_REFUSED',
      })
    }

    assert.ok(sizes.length < 150, `${sizes.length} inserts`)
  })
}

test('few at a time are not set aside for ever either: the streak goes on over batches', async () => {
  const { warehouse } = aTable({ code: () => 49 })
  const streaks = new RefusalStreaks()
  let asideCount = 0

  const trickle = async (): Promise<void> => {
    for (let batch = 0; batch < 100; batch += 1) {
      const few = rowsFrom(2 * batch, 2)
      asideCount += (await insertRows({ warehouse, streaks, rows: few })).length
    }
  }

  await assert.rejects(trickle(), { code: 'WAREHOUSE_REFUSED' })
  assert.ok(asideCount <= insertLimits.refusedInRowMax)
})

test('rows at fault that come alone over weeks are set aside each, and never stop shipping', async () => {
  const { warehouse } = aTable({ code: () => 117 })
  let nowMs = 0
  const streaks = new RefusalStreaks(() => nowMs)
  let asideCount = 0

  for (let hour = 0; hour < 200; hour += 1) {
    nowMs += insertLimits.streakMs / 10
    const one = rowsFrom(hour, 1)
    asideCount += (await insertRows({ warehouse, streaks, rows: one })).length
  }

  assert.equal(asideCount, 200)
})

test('many rows at fault before one that is taken are set aside, each of them', async () => {
  const { warehouse, taken } = aTable({
    code: (all) => (all.some((one) => one < 300) ? 117 : null),
  })

  const refusals = await insertRows({ warehouse, streaks: new RefusalStreaks(), rows })

  assert.equal(refusals.length, 300)
  assert.equal(taken.size, 4_700)
})

test('a batch beyond a limit of time or memory is inserted in smaller parts', async () => {
  const { warehouse, taken } = aTable({ code: (all) => (all.length > 1_000 ? 241 : null) })

  const refusals = await insertRows({ warehouse, streaks: new RefusalStreaks(), rows })

  assert.deepEqual(refusals, [])
  assert.equal(taken.size, 5_000)
})

test('a warehouse without memory for anything, or away, sets nothing aside', async () => {
  for (const code of [241, 159, 202, 210]) {
    const { warehouse } = aTable({ code: () => code })
    await assert.rejects(insertRows({ warehouse, streaks: new RefusalStreaks(), rows }), {
      code: 'WAREHOUSE_UNAVAILABLE',
    })
  }
})

test('a table of which nothing can be inserted leaves all in the spool; mended, all is shipped once', async (t) => {
  const { deps, warehouse, spool } = await aShipment(t)
  const conversions = Array.from({ length: 200 }, (_, index) =>
    aConversion({ transactionId: `T${index}` })
  )
  await append(spool, [anEvent(), ...conversions])
  await warehouse.command('ALTER TABLE delivery ADD CONSTRAINT broken CHECK 0')

  await assert.rejects(shipBatch(deps), { code: 'WAREHOUSE_REFUSED' })
  assert.equal((await counts(warehouse)).aside, 0)

  await warehouse.command('ALTER TABLE delivery DROP CONSTRAINT broken')
  await shipBatch(deps)
  assert.deepEqual(await counts(warehouse), {
    events: 1,
    touchpoints: 2,
    deliveries: 200,
    aside: 0,
  })
})
