// In a flood the next batch is read and planned while one is inserted.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Shipper } from '../../src/pipeline/ship.ts'
import type { ShipDeps } from '../../src/pipeline/ship.ts'
import type { Spool } from '../../src/spool/spool.ts'
import {
  aConversion,
  anEvent,
  append,
  aShipment,
  counts,
  failing,
  judgeBySource,
  readAside,
} from '../helpers/shipment.ts'
import type { Shipment } from '../helpers/shipment.ts'
import { entriesOf } from '../helpers/spooled.ts'

const recordsPerBatchMax = 10
const loneSurrogate = '\ud800'

/** Frames of five purchases each. */
async function appendFrames(spool: Spool, count: number): Promise<void> {
  for (let frame = 0; frame < count; frame += 1) {
    await append(
      spool,
      Array.from({ length: 5 }, (_, index) =>
        aConversion({ transactionId: `T${String(frame * 5 + index).padStart(3, '0')}` })
      )
    )
  }
}

async function readTransactions({ warehouse }: Pick<Shipment, 'warehouse'>): Promise<unknown[]> {
  const rows = await warehouse.rows<{ id: string }>(
    'SELECT transaction_id AS id FROM delivery FINAL ORDER BY id'
  )
  return rows.map(({ id }) => id)
}

function transactions(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `T${String(index).padStart(3, '0')}`)
}

/** The spool and the warehouse note what happens to them, in order. */
function watched(
  { spool, warehouse }: Shipment,
  seen: string[]
): Pick<ShipDeps, 'spool' | 'warehouse'> {
  return {
    warehouse: {
      ...warehouse,
      insert: async (table, lines, columns) => {
        seen.push(`insert ${lines.toString().trimEnd().split('\n').length}`)
        await warehouse.insert(table, lines, columns)
        seen.push('inserted')
      },
    },
    spool: {
      append: (record) => spool.append(record),
      read: (recordsMax, after) => {
        const batch = spool.read(recordsMax, after)
        seen.push(`read ${batch.recordCount}`)
        return batch
      },
      remove: async (batch) => {
        seen.push(`remove ${batch.recordCount}`)
        await spool.remove(batch)
      },
      depth: () => spool.depth(),
      close: () => spool.close(),
    },
  }
}

test('a batch is read while the one before it is inserted, and each leaves the spool once it is in', async (t) => {
  const shipment = await aShipment(t)
  await appendFrames(shipment.spool, 5)
  const seen: string[] = []
  const shipper = new Shipper({
    ...shipment.deps,
    ...watched(shipment, seen),
    recordsPerBatchMax,
  })

  const results = []
  do {
    results.push((await shipper.shipBatch()).shippedCount)
  } while (shipper.hasMore)

  assert.deepEqual(results, [10, 10, 5])
  assert.deepEqual(seen, [
    'read 10',
    'read 10',
    'insert 10',
    'inserted',
    'remove 10',
    'read 5',
    'insert 10',
    'inserted',
    'remove 10',
    // A batch of half the size may be the start of a flood.
    'read 0',
    'insert 5',
    'inserted',
    'remove 5',
  ])
  assert.equal(shipment.spool.depth().bytes, 0)
  assert.deepEqual(await readTransactions(shipment), transactions(25))
})

test('what comes while a batch waits that was planned before is shipped after it', async (t) => {
  const shipment = await aShipment(t)
  await appendFrames(shipment.spool, 4)
  const shipper = new Shipper({ ...shipment.deps, recordsPerBatchMax })

  await shipper.shipBatch()
  assert.ok(shipper.hasMore)
  await append(shipment.spool, [aConversion({ transactionId: 'U' })])
  await shipper.shipBatch()
  await shipper.shipBatch()

  assert.equal(shipper.hasMore, false)
  assert.equal(shipment.spool.depth().bytes, 0)
  assert.deepEqual(await readTransactions(shipment), [...transactions(20), 'U'])
})

test('a few records are shipped without looking for more', async (t) => {
  const shipment = await aShipment(t)
  await append(shipment.spool, [aConversion()])
  const seen: string[] = []
  const shipper = new Shipper({ ...shipment.deps, ...watched(shipment, seen), recordsPerBatchMax })

  await shipper.shipBatch()

  assert.deepEqual(
    seen.filter((one) => one.startsWith('read')),
    ['read 1']
  )
  assert.equal(shipper.hasMore, false)
})

for (const step of ['insert', 'remove'] as const) {
  test(`after a failed ${step} nothing that was planned is kept, and all is shipped once`, async (t) => {
    const shipment = await aShipment(t)
    const { spool, warehouse } = shipment
    await appendFrames(spool, 4)
    let isBroken = true
    const shipper = new Shipper({
      ...shipment.deps,
      recordsPerBatchMax,
      warehouse: failing(
        warehouse,
        (sql) => isBroken && step === 'insert' && sql === 'delivery_in'
      ),
      spool: {
        ...watched(shipment, []).spool,
        remove: async (batch) => {
          if (isBroken && step === 'remove') throw new Error('the disk is away')
          await spool.remove(batch)
        },
      },
    })

    await assert.rejects(shipper.shipBatch())
    assert.equal(shipper.hasMore, false)
    assert.equal(entriesOf(spool.read(100)).length, 20)
    isBroken = false
    while (spool.depth().bytes > 0) await shipper.shipBatch()

    assert.deepEqual(await readTransactions(shipment), transactions(20))
  })
}

test('a batch that cannot be planned is told by the next call, and the one before it is in', async (t) => {
  const shipment = await aShipment(t)
  await appendFrames(shipment.spool, 4)
  let prepared = 0
  const deliveryJudge = {
    ...judgeBySource(() => true),
    prepare: () => {
      prepared += 1
      return prepared <= 2 || prepared > 6
        ? Promise.resolve()
        : Promise.reject(new Error('the list of keys cannot be read'))
    },
  }
  const shipper = new Shipper({
    ...shipment.deps,
    recordsPerBatchMax,
    rowContext: { ...shipment.deps.rowContext, deliveryJudge },
  })

  assert.equal((await shipper.shipBatch()).shippedCount, 10)
  assert.equal(shipper.hasMore, false)
  await assert.rejects(shipper.shipBatch(), /the list of keys/u)
  assert.deepEqual(await readTransactions(shipment), transactions(10))
  while (shipment.spool.depth().bytes > 0) await shipper.shipBatch().catch(() => null)

  assert.deepEqual(await readTransactions(shipment), transactions(20))
})

test('a batch that was planned before a boundary of final days moved is judged by the new one', async (t) => {
  const shipment = await aShipment(t)
  await appendFrames(shipment.spool, 4)
  const shipper = new Shipper({ ...shipment.deps, recordsPerBatchMax })
  await shipper.shipBatch()
  assert.ok(shipper.hasMore)

  await shipment.warehouse.command(
    `INSERT INTO final_before VALUES ('2027-01-01', 'announced', now64(6))`
  )
  await shipper.shipBatch()

  const verdicts = await shipment.warehouse.rows(
    'SELECT toString(verdict) AS verdict, count() AS n FROM delivery GROUP BY verdict ORDER BY verdict'
  )
  assert.deepEqual(verdicts, [
    { verdict: 'too-late', n: 10 },
    { verdict: 'valid', n: 10 },
  ])
})

for (const [name, planAgeMsMax, expected] of [
  ['too old', 0, 'untrusted-source'],
  ['young enough', Infinity, 'valid'],
] as const) {
  test(`a batch whose plan is ${name} when it is inserted is ${expected}`, async (t) => {
    const shipment = await aShipment(t)
    await appendFrames(shipment.spool, 4)
    let isTrusted = true
    const shipper = new Shipper({
      ...shipment.deps,
      recordsPerBatchMax,
      planAgeMsMax,
      rowContext: {
        ...shipment.deps.rowContext,
        deliveryJudge: judgeBySource(() => isTrusted),
      },
    })
    await shipper.shipBatch()
    isTrusted = false
    await shipper.shipBatch()

    const [row] = await shipment.warehouse.rows<{ verdict: string }>(
      `SELECT toString(verdict) AS verdict FROM delivery WHERE transaction_id = 'T015'`
    )
    assert.equal(row?.verdict, expected)
  })
}

test('records at fault are found among damaged frames and good ones, in each batch of a flood', async (t) => {
  const { deps, spool, frames, warehouse } = await aShipment(t)
  for (let round = 0; round < 4; round += 1) {
    await append(spool, [
      anEvent(),
      aConversion({ transactionId: `${loneSurrogate}${round}` }),
      aConversion({ transactionId: `T${round}` }),
      aConversion({ transactionId: `U${round}` }),
    ])
    frames.set(`${'f'.repeat(31)}${round}`, Buffer.from([1, 0, 0, 255, 10, 0, 0]))
  }
  const shipper = new Shipper({ ...deps, recordsPerBatchMax: 4 })

  while (spool.depth().bytes > 0) await shipper.shipBatch()

  const aside = await readAside(warehouse)
  const refused = aside.filter(({ record }) => record.startsWith('{'))
  assert.equal(aside.length, 8)
  assert.deepEqual(
    refused.map(({ record }) => (JSON.parse(record) as { transactionId: string }).transactionId),
    [0, 1, 2, 3].map((round) => `${loneSurrogate}${round}`)
  )
  assert.equal((await counts(warehouse)).deliveries, 8)
})
