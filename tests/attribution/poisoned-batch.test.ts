// One purchase that cannot be attributed, among healthy ones: what ClickHouse holds of it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { purchaseKey } from '../../src/domain/purchase-key.ts'
import { Attributor } from '../../src/attribution/attribute.ts'
import { batchRows } from '../../src/attribution/batch-sql.ts'
import { listSetAside, replaySetAside } from '../../src/pipeline/set-aside.ts'
import { warehouseFailure } from '../../src/warehouse/refusal.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import {
  aConversion,
  aLine,
  anEvent,
  append,
  aReturn,
  aShipment,
  shipBatch,
} from '../helpers/shipment.ts'

const whole = { after: null, limit: 100 }

interface Trouble {
  /** ClickHouse's. */
  code: number
  /** Transactions. */
  of: readonly string[]
}

/** Statements of attribution fail as the trouble says while they would write one of its purchases. */
function troubled(inner: Warehouse, trouble: Trouble): Warehouse {
  const check = async (sql: string, params = {}): Promise<void> => {
    if (!sql.includes('INSERT INTO attribution') || !sql.includes('max_rows_in_join')) return
    const keys = trouble.of.map((id) => purchaseKey(10, id) ?? '')
    const [row] = await inner.rows<{ n: number }>(
      `SELECT count() AS n FROM pending_purchase
       WHERE shipped_at >= {from:DateTime64(6, 'UTC')} AND shipped_at <= {to:DateTime64(6, 'UTC')}
         AND hex(purchase_key) >= upper({keyFrom:String}) AND hex(purchase_key) <= upper({keyTo:String})
         AND lower(hex(purchase_key)) IN {keys:Array(String)}`,
      { ...params, keys }
    )
    if ((row?.n ?? 0) > 0) {
      throw warehouseFailure('statement', trouble.code, new Error('told to fail'))
    }
  }
  return {
    command: async (sql, params) => {
      await check(sql, params)
      await inner.command(sql, params)
    },
    rows: (sql, params) => inner.rows(sql, params),
    stream: (sql, params, signal) => inner.stream(sql, params, signal),
    insert: (table, lines, columns) => inner.insert(table, lines, columns),
    barrier: (tables) => inner.barrier(tables),
    close: () => inner.close(),
  }
}

async function aTroubledEngine(t: TestContext, trouble: Trouble) {
  const { deps: shipping, spool, warehouse: inner } = await aShipment(t)
  const deps = { ...shipping, settleMs: 0 }
  const warehouse = troubled(inner, trouble)
  const attributor = new Attributor({ warehouse, settleMs: 0 })
  return {
    inner,
    deps,
    attributor,
    ship: async (ids: readonly string[]): Promise<void> => {
      await append(spool, [
        anEvent({ receivedAtMs: aConversion().receivedAtMs - 1 }),
        ...ids.map((transactionId) => aConversion({ transactionId })),
      ])
      await shipBatch(deps)
    },
    attributeAll: async (): Promise<void> => {
      while ((await attributor.attributeBatch()).hasMore);
    },
  }
}

async function credited(warehouse: Warehouse): Promise<number | undefined> {
  const [row] = await warehouse.rows<{ n: number }>(
    'SELECT countIf(notEmpty(line_index)) AS n FROM attribution FINAL'
  )
  return row?.n
}

const ids = (first: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `T${first + index}`)

test('a purchase that is refused is set aside alone; all others in and after its batch are attributed', async (t) => {
  const { inner, attributor, ship, attributeAll } = await aTroubledEngine(t, {
    code: 49,
    of: ['T7'],
  })
  await ship(ids(0, 10))
  await ship(ids(10, 4))

  await attributeAll()

  assert.equal(await credited(inner), 13)
  const found = await listSetAside(inner, whole)
  assert.ok((found[0]?.reason ?? '') !== '')
  assert.deepEqual(
    found.map(({ type, receivedAtMs }) => ({ type, receivedAtMs })),
    [{ type: 'purchase', receivedAtMs: aConversion().receivedAtMs }]
  )
  assert.deepEqual(await attributor.attributeBatch(), {
    attributedCount: 0,
    setAsideCount: 0,
    hasMore: false,
  })
  assert.equal(attributor.oldestDueAt(), null)
})

test('a purchase that was set aside is attributed by a replay once the cause is mended', async (t) => {
  const trouble: Trouble = { code: 241, of: ['T1'] }
  const { inner, deps, ship, attributeAll } = await aTroubledEngine(t, trouble)
  await ship(ids(0, 3))
  await attributeAll()
  const [found] = await listSetAside(inner, whole)
  const keys = [found?.place.key ?? '']

  const early = await replaySetAside(deps, keys)
  await attributeAll()
  assert.equal((await listSetAside(inner, whole)).length, 1, 'it fails again')
  trouble.of = []
  const late = await replaySetAside(deps, keys)
  await attributeAll()

  assert.deepEqual(early, { replayed: 1, setAsideAgain: 0, unknown: 0, remaining: 0 })
  assert.deepEqual(late, early)
  assert.equal(await credited(inner), 3)
  assert.deepEqual(await listSetAside(inner, whole), [])
})

test('a replay of a purchase whose day is final sets it aside again and says so', async (t) => {
  const trouble: Trouble = { code: 241, of: ['T1'] }
  const { inner, deps, ship, attributeAll } = await aTroubledEngine(t, trouble)
  await ship(ids(0, 3))
  await attributeAll()
  await inner.command(`INSERT INTO final_before VALUES ('2100-01-01', 'announced', now64(6))`)

  const result = await replaySetAside(deps, null)

  assert.deepEqual(result, { replayed: 0, setAsideAgain: 1, unknown: 0, remaining: 1 })
  const [found] = await listSetAside(inner, whole)
  assert.match(found?.reason ?? '', /final/u)
})

test('a purchase that can no longer be attributed keeps the credit it had', async (t) => {
  const trouble: Trouble = { code: 49, of: [] }
  const { inner, deps, ship, attributeAll } = await aTroubledEngine(t, trouble)
  await ship(['T1'])
  await attributeAll()
  trouble.of = ['T1']
  await append(deps.spool, [aReturn()])
  await shipBatch(deps)

  await attributeAll()

  assert.equal(await credited(inner), 1)
  assert.equal((await listSetAside(inner, whole)).length, 1)
})

test('a batch of more lines than the bound is divided, and nothing of it is searched for a fault', async (t) => {
  const { deps, spool, warehouse } = await aShipment(t)
  const lines = Array.from({ length: 100 }, () => aLine())
  await append(spool, [
    anEvent({ receivedAtMs: aConversion().receivedAtMs - 1 }),
    ...ids(0, 4).map((transactionId) => aConversion({ transactionId, lines })),
  ])
  // Shipped as if within the settling time, however slow the machine is: nothing is announced twice.
  await shipBatch({ ...deps, settleMs: 3_600_000 })
  const tried: number[] = []
  const counting: Warehouse = {
    ...warehouse,
    command: async (sql, params) => {
      if (sql.includes('INSERT INTO attribution')) {
        const [row] = await warehouse.rows<{ n: number }>(
          `SELECT count() AS n ${batchRows}`,
          params
        )
        tried.push(row?.n ?? 0)
      }
      await warehouse.command(sql, params)
    },
  }
  const attributor = new Attributor({ warehouse: counting, settleMs: 0, linesMax: 250 })

  let attributedCount = 0
  for (let hasMore = true; hasMore;) {
    const result = await attributor.attributeBatch()
    attributedCount += result.attributedCount
    hasMore = result.hasMore
  }

  assert.deepEqual(tried, [4, 2, 2])
  assert.equal(attributedCount, 4)
  assert.equal(await credited(warehouse), 4)
})

// As one may wait in a spool from before the bound. Each line beside each touchpoint was 29 million.
test('an order of 29,000 equal lines and a buyer who saw the product 1,000 times is attributed', async (t) => {
  const { deps, spool, warehouse } = await aShipment(t)
  const lines = Array.from({ length: 29_000 }, () => aLine({ groupId: 'GRP1' }))
  const { receivedAtMs } = aConversion()
  await append(
    spool,
    Array.from({ length: 1_000 }, (_, index) =>
      anEvent({ kind: 'impression', receivedAtMs: receivedAtMs - 1 - index })
    )
  )
  await append(spool, [aConversion({ lines })])
  while (spool.read(1).frames.length > 0) await shipBatch(deps)
  const attributor = new Attributor({ warehouse, settleMs: 0 })

  while ((await attributor.attributeBatch()).hasMore);

  assert.deepEqual(await warehouse.rows('SELECT length(line_index) AS n FROM attribution FINAL'), [
    { n: 29_000 },
  ])
})
