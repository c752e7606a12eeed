import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Attributor } from '../../src/attribution/attribute.ts'
import { attributeSql, attributeWithCrowdsSql } from '../../src/attribution/attribute-sql.ts'
import { shiftInstant } from '../../src/warehouse/instant.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { createHistoryLoader } from '../helpers/history-warehouse.ts'
import type { HistoryDelivery } from '../helpers/history.ts'
import { openTestWarehouse } from '../helpers/test-warehouse.ts'

function aDelivery(index: number): HistoryDelivery {
  return {
    deliveryId: (index + 1).toString(16).padStart(32, '0'),
    receivedAtMs: Date.UTC(2026, 2, 2, 12),
    publisherId: 10,
    siteId: 101,
    transactionId: `order-${index}`,
    userId: `user-${index}`,
    userLoggedInId: '',
    currency: 'EUR',
    lines: [{ gtin: '4006381333931', groupId: '', brand: '', price: 10, quantity: 1 }],
    untrusted: false,
    voided: false,
  }
}

async function count(warehouse: Warehouse, table: 'pending_purchase' | 'attribution') {
  const [row] = await warehouse.rows<{ n: number }>(
    `SELECT uniqExact(purchase_key) AS n FROM ${table}`
  )
  return row?.n
}

// An engine that starts knows nothing yet of what is answered; it once dropped everything pending.
test('tidying up drops no pending purchase that is not answered, also right after the start', async (t) => {
  const warehouse = await openTestWarehouse(t)
  const attributor = new Attributor({ warehouse, settleMs: 0 })
  await createHistoryLoader(warehouse, 0).ship([aDelivery(0), aDelivery(1)])

  await attributor.forgetAnswered()

  assert.equal(await count(warehouse, 'pending_purchase'), 2)
  while ((await attributor.attributeBatch()).hasMore);
  assert.equal(await count(warehouse, 'attribution'), 2)
  await attributor.forgetAnswered()
  assert.equal(await count(warehouse, 'pending_purchase'), 2, 'the last two days are kept')
})

test('pending purchases of answered days are dropped, those of today are kept', async (t) => {
  const warehouse = await openTestWarehouse(t)
  await createHistoryLoader(warehouse, 0).ship([aDelivery(0)])
  await warehouse.command(
    `INSERT INTO pending_purchase SELECT shipped_at - toIntervalDay(9), day, purchase_key FROM pending_purchase`
  )
  const attributor = new Attributor({ warehouse, settleMs: 0 })
  while ((await attributor.attributeBatch()).hasMore);

  await attributor.forgetAnswered()

  const [row] = await warehouse.rows<{ n: number }>('SELECT count() AS n FROM pending_purchase')
  assert.equal(row?.n, 1)
})

test('a purchase is not attributed before its settling time has passed', async (t) => {
  const warehouse = await openTestWarehouse(t)
  await createHistoryLoader(warehouse, 3_600_000).ship([aDelivery(0)])

  const waiting = await new Attributor({ warehouse, settleMs: 3_600_000 }).attributeBatch()
  const settled = await new Attributor({ warehouse, settleMs: 0 }).attributeBatch()

  assert.deepEqual(waiting, { attributedCount: 0, setAsideCount: 0, hasMore: false })
  assert.equal(settled.attributedCount, 1)
})

test('two engines that attribute the same purchases at once give the figures of one', async (t) => {
  const warehouse = await openTestWarehouse(t)
  const deliveries = Array.from({ length: 50 }, (_, index) => aDelivery(index))
  await createHistoryLoader(warehouse, 0).ship(deliveries)
  const engines = [0, 1].map(() => new Attributor({ warehouse, settleMs: 0 }))

  await Promise.all(engines.map((engine) => engine.attributeBatch()))

  const [row] = await warehouse.rows<{ n: number }>('SELECT count() AS n FROM attribution FINAL')
  assert.equal(row?.n, 50)
})

test('instants are shifted to the microsecond and never before 1970', () => {
  assert.equal(shiftInstant('2026-03-01 00:00:00.000123', -1), '2026-02-28 23:59:59.999123')
  assert.equal(
    shiftInstant('1970-01-01 00:00:00.000000', -86_400_000),
    '1970-01-01 00:00:00.000000'
  )
})

// ClickHouse analyses a common table expression once for every use, with all that it uses itself: 12,000
// nodes took 1.7 s of CPU for each batch, before a row was read.
test('ClickHouse analyses a few thousand nodes for a batch, more where something was returned or judged, and five times as many where crowds are counted', async (t) => {
  const warehouse = await openTestWarehouse(t)
  const instant = '2026-03-10 12:00:00.000000'
  const params = {
    from: instant,
    to: instant,
    keyFrom: '0'.repeat(32),
    keyTo: 'f'.repeat(32),
    readAt: instant,
    receivedMin: '2026-03-10 12:00:00.000',
    dayMax: '2026-03-10',
    crowdMax: 5_000,
    linesMax: 1,
    crowdMs: 1,
    clickMs: 1,
    viewMs: 1,
  }
  const nodesOf = async (sql: string): Promise<number> => {
    const select = sql.slice(sql.indexOf('WITH\n'))
    return (await warehouse.rows(`EXPLAIN QUERY TREE ${select}`, params)).length
  }

  const counts = [
    await nodesOf(attributeSql({ isLarge: true, isJudged: false, isReturned: false })),
    await nodesOf(attributeSql({ isLarge: false, isJudged: false, isReturned: true })),
    await nodesOf(attributeSql({ isLarge: false, isJudged: true, isReturned: true })),
    await nodesOf(attributeWithCrowdsSql({ isLarge: false, isJudged: false, isReturned: false })),
    await nodesOf(attributeWithCrowdsSql({ isLarge: false, isJudged: true, isReturned: true })),
  ]

  t.diagnostic(counts.join(', '))
  const most = [2_600, 3_600, 5_000, 12_500, 19_000]
  assert.ok(
    counts.every((nodes, index) => nodes < (most[index] ?? 0)),
    String(counts)
  )
})
