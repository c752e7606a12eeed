import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Attributor } from '../../src/pipeline/attribute.ts'
import { divideEvents, SealBudget } from '../../src/pipeline/roll-up.ts'
import { sealBatch } from '../../src/pipeline/seal.ts'
import { ServiceError } from '../../src/errors.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { aClick, aPurchase, aWorld, anAd } from '../helpers/seal-scenario.ts'
import type { World } from '../helpers/seal-scenario.ts'

const day2Ms = Date.UTC(2026, 2, 2, 12)
const hourMs = 3_600_000
const throughMs = Date.UTC(2026, 2, 14)

/** A day of one product and two advertisers: 20 clicks each, and 6 purchases of two lines. */
async function aBusyDay(world: World): Promise<void> {
  const clicks = Array.from({ length: 40 }, (_, index) => {
    const servedAdId = index.toString(16).padStart(32, '5')
    const gtin = index % 4 === 0 ? '4006381333931' : '04006381333931'
    const advertiserId = 1 + (index % 2)
    return aClick(anAd({ servedAdId, servedAtMs: day2Ms, gtin, advertiserId }), day2Ms + index)
  })
  const purchases = Array.from({ length: 6 }, (_, index) => {
    const deliveryId = index.toString(16).padStart(32, 'd')
    const purchase = aPurchase({
      atMs: day2Ms + hourMs + index,
      transactionId: `t-${index}`,
      deliveryId,
    })
    return { ...purchase, lines: [...purchase.lines, ...purchase.lines] }
  })
  await world.loader.ship([...clicks, ...purchases])
  const attributor = new Attributor({ warehouse: world.warehouse, settleMs: 0 })
  while ((await attributor.attributeBatch()).hasMore);
}

async function sealWith(world: World, warehouse: Warehouse, budget: SealBudget) {
  return await sealBatch({
    warehouse,
    markets: () => world.markets,
    settledThroughMs: () => throughMs,
    budget,
  })
}

/** Rows of the rollup of the revision that counts. */
async function rollupRows(world: World) {
  return await world.warehouse.rows<Record<string, unknown>>(
    `SELECT * EXCEPT (revision, read_at, foreign_currencies) FROM product_day
     WHERE revision = (SELECT argMax(revision, read_at) FROM sealed_day WHERE day = '2026-03-02')
     ORDER BY advertiser_id, day, gtin_key`
  )
}

test('a day that is sealed in parts has the same rows as one that is sealed at once', async (t) => {
  const world = await aWorld(t)
  await aBusyDay(world)
  const statements: string[] = []
  const watched: Warehouse = {
    command: (sql, params) => {
      statements.push(sql)
      return world.warehouse.command(sql, params)
    },
    rows: (sql, params) => world.warehouse.rows(sql, params),
    stream: (sql, params, signal) => world.warehouse.stream(sql, params, signal),
    insert: (table, lines) => world.warehouse.insert(table, lines),
    close: () => Promise.resolve(),
  }

  await sealWith(world, world.warehouse, new SealBudget())
  const whole = await rollupRows(world)
  await world.warehouse.command('TRUNCATE TABLE sealed_day')
  while ((await sealWith(world, watched, new SealBudget(7))).hasMore);
  const inParts = await rollupRows(world)

  assert.ok(whole.length >= 2)
  assert.deepEqual(inParts, whole)
  const parts = statements.filter((sql) => sql.includes('INSERT INTO product_day_part'))
  assert.ok(parts.length >= 8, 'each of 40 events and 12 lines is in a part of 7 or fewer')
  const [left] = await world.warehouse.rows<{ count: number }>(
    'SELECT count() AS count FROM product_day_part'
  )
  assert.equal(left?.count, 0)
})

test('a statement that runs out of memory is cut smaller the next time, and the day is sealed', async (t) => {
  const world = await aWorld(t)
  await aBusyDay(world)
  let refusedCount = 0
  const small: Warehouse = {
    command: (sql, params) => {
      if (/INSERT INTO product_day \(/.test(sql) && sql.includes('FROM ad_event')) {
        refusedCount += 1
        return Promise.reject(
          new ServiceError('WAREHOUSE_UNAVAILABLE', 'out of memory', {
            details: { clickhouseCode: 241 },
          })
        )
      }
      return world.warehouse.command(sql, params)
    },
    rows: (sql, params) => world.warehouse.rows(sql, params),
    stream: (sql, params, signal) => world.warehouse.stream(sql, params, signal),
    insert: (table, lines) => world.warehouse.insert(table, lines),
    close: () => Promise.resolve(),
  }
  const budget = new SealBudget(64)

  await assert.rejects(sealWith(world, small, budget))
  const { sealedCount } = await sealWith(world, small, budget)

  assert.equal(refusedCount, 1)
  assert.ok(sealedCount > 0)
  assert.match((await world.figures()).join(), /2026-03-02 0\/0\/20 /)
})

test('neighbouring advertisers share a statement, and a large one is divided by its served ads', () => {
  const advertisers = [
    { advertiserId: 3, eventCount: 4 },
    { advertiserId: 5, eventCount: 6 },
    { advertiserId: 9, eventCount: 25 },
    { advertiserId: 11, eventCount: 1 },
  ]

  const parts = divideEvents(advertisers, 10).map(({ params }) => Object.values(params))

  assert.deepEqual(parts, [
    [3, 5, 1, 0],
    [9, 9, 3, 0],
    [9, 9, 3, 1],
    [9, 9, 3, 2],
    [11, 11, 1, 0],
  ])
})

test('the budget falls by halves to a floor, and comes back to where it began', () => {
  const budget = new SealBudget(640)

  for (let round = 0; round < 20; round++) budget.shrink()
  const floor = budget.eventsMax
  for (let round = 0; round < 60; round++) budget.grow()

  assert.equal(floor, 10)
  assert.equal(budget.eventsMax, 640)
})
