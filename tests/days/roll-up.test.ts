import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Attributor } from '../../src/attribution/attribute.ts'
import { divideRows } from '../../src/days/advertiser-parts.ts'
import { isTooLarge, SealBudget } from '../../src/days/roll-up.ts'
import { sealBatch } from '../../src/days/seal.ts'
import { dimensions, figureColumns } from '../../src/days/day-rows.ts'
import { passingCodes, warehouseFailure } from '../../src/warehouse/refusal.ts'
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

/** The rollup of the revision that counts, added up as whoever reads it does. */
async function rollupRows(world: World) {
  const sums = figureColumns.map((name) =>
    name.endsWith('_gtin') ? `minIf(d.${name}, d.${name} != '')` : `toString(sum(d.${name}))`
  )
  return await world.warehouse.rows<Record<string, unknown>>(
    `SELECT ${dimensions.join(', ')}, ${sums.join(', ')} FROM product_day AS d
     WHERE revision = (SELECT argMax(revision, read_at) FROM sealed_day WHERE day = '2026-03-02')
     GROUP BY ${dimensions.join(', ')} ORDER BY ${dimensions.join(', ')}`
  )
}

/** The same warehouse, with another way to run commands. */
function withCommands(world: World, command: Warehouse['command']): Warehouse {
  const { warehouse } = world
  return {
    command,
    rows: (sql, params) => warehouse.rows(sql, params),
    stream: (sql, params, signal) => warehouse.stream(sql, params, signal),
    insert: (table, lines, columns) => warehouse.insert(table, lines, columns),
    barrier: (tables) => warehouse.barrier(tables),
    close: () => Promise.resolve(),
  }
}

function isTooMuch(code: number | undefined): boolean {
  return isTooLarge(warehouseFailure('statement', code, new Error('no')))
}

/** Rows under revisions that no seal names. */
async function countUnsealed(world: World) {
  const [left] = await world.warehouse.rows<{ count: number }>(
    'SELECT count() AS count FROM product_day WHERE revision NOT IN (SELECT revision FROM sealed_day)'
  )
  return left?.count
}

test('a day that is sealed in parts has the same figures as one that is sealed at once', async (t) => {
  const world = await aWorld(t)
  await aBusyDay(world)
  const statements: string[] = []
  const watched = withCommands(world, (sql, params) => {
    statements.push(sql)
    return world.warehouse.command(sql, params)
  })

  await sealWith(world, world.warehouse, new SealBudget())
  const whole = await rollupRows(world)
  await world.warehouse.command('TRUNCATE TABLE sealed_day')
  while ((await sealWith(world, watched, new SealBudget(7))).hasMore);
  const inParts = await rollupRows(world)

  assert.ok(whole.length >= 2)
  assert.deepEqual(inParts, whole)
  const parts = statements.filter((sql) => sql.includes('INSERT INTO product_day ('))
  assert.ok(parts.length >= 8, 'each of 40 events and 12 lines is in a part of 7 or fewer')
})

test('a statement that runs out of memory is cut smaller the next time, and the day is sealed', async (t) => {
  const world = await aWorld(t)
  await aBusyDay(world)
  let refusedCount = 0
  const small = withCommands(world, (sql, params) => {
    if (sql.includes('FROM ad_event') && sql.includes('FROM attribution')) {
      refusedCount += 1
      return Promise.reject(warehouseFailure('statement', 241, new Error('out of memory')))
    }
    return world.warehouse.command(sql, params)
  })
  const budget = new SealBudget(64)

  await assert.rejects(sealWith(world, small, budget))
  const { sealedCount } = await sealWith(world, small, budget)

  assert.equal(refusedCount, 1)
  assert.ok(sealedCount > 0)
  assert.match((await world.figures()).join(), /2026-03-02 0\/0\/20 /)
})

test('a roll-up that fails halfway leaves no rows behind', async (t) => {
  const world = await aWorld(t)
  await aBusyDay(world)
  let partCount = 0
  let rowsBefore: number | undefined
  const failing = withCommands(world, async (sql, params) => {
    if (sql.includes('INSERT INTO product_day (')) partCount += 1
    if (partCount === 3) {
      partCount += 1
      rowsBefore = await countUnsealed(world)
      throw warehouseFailure('statement', 243, new Error('the disk is full'))
    }
    await world.warehouse.command(sql, params)
  })

  // The days after it, which are empty.
  await sealWith(world, world.warehouse, new SealBudget(7))
  await assert.rejects(sealWith(world, failing, new SealBudget(7)))

  assert.ok((rowsBefore ?? 0) > 0)
  assert.equal(await countUnsealed(world), 0)
})

test('the failure of a roll-up is told as it was where its rows cannot be removed either', async (t) => {
  const world = await aWorld(t)
  await aBusyDay(world)
  const broken = withCommands(world, (sql, params) => {
    const code = sql.includes('INSERT INTO product_day (') ? 243 : 210
    return code === 243 || sql.includes('ALTER TABLE')
      ? Promise.reject(warehouseFailure('statement', code, new Error('no')))
      : world.warehouse.command(sql, params)
  })

  await assert.rejects(sealWith(world, broken, new SealBudget(7)), {
    details: { what: 'statement', clickhouseCode: 243 },
  })
})

test('whatever the warehouse says of too little memory or time makes the next statement smaller', () => {
  const tooMuch = [
    passingCodes.TIMEOUT_EXCEEDED,
    passingCodes.TOO_SLOW,
    passingCodes.SET_SIZE_LIMIT_EXCEEDED,
    passingCodes.CANNOT_ALLOCATE_MEMORY,
    passingCodes.MEMORY_LIMIT_EXCEEDED,
    passingCodes.MEMORY_RESERVATION_KILLED,
    passingCodes.MEMORY_RESERVATION_FAILED,
    passingCodes.QUERY_WAS_CANCELLED,
    undefined,
  ]
  const other = [passingCodes.NOT_ENOUGH_SPACE, passingCodes.NETWORK_ERROR, 62]

  assert.deepEqual(
    tooMuch.filter((code) => !isTooMuch(code)),
    []
  )
  assert.deepEqual(other.filter(isTooMuch), [])
})

test('neighbouring advertisers share a statement, and a large one is divided by its rows', () => {
  const advertisers = [
    { advertiserId: 3, rowCount: 4 },
    { advertiserId: 5, rowCount: 6 },
    { advertiserId: 9, rowCount: 25 },
    { advertiserId: 11, rowCount: 1 },
  ]

  const parts = divideRows(advertisers, 10).map((params) => Object.values(params))

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
