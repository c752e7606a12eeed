// What is taken back of a purchase after its shopper was erased: returns and voids name no person, so they count.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { Attributor } from '../../src/attribution/attribute.ts'
import { setAsidePurchase } from '../../src/attribution/set-aside-purchase.ts'
import { frozenVersion, readingSql } from '../../src/attribution/frozen-sql.ts'
import { createOwnExplainer } from '../../src/attribution/explain/for-advertiser.ts'
import { createExplainer } from '../../src/attribution/explain/explain.ts'
import { unvoidDelivery, voidDelivery } from '../../src/attribution/void-delivery.ts'
import { emptySnapshot } from '../../src/catalog/snapshot.ts'
import { rebuildDays } from '../../src/days/rebuild.ts'
import { eraseDue } from '../../src/erasure/erase.ts'
import { requestErasure } from '../../src/erasure/erasures.ts'
import { generateHistory, seededRandom } from '../helpers/history.ts'
import type { History, HistoryReturn } from '../helpers/history.ts'
import { partsOf } from '../helpers/history-warehouse.ts'
import { aClick, aPurchase, aWorld, anAd } from '../helpers/seal-scenario.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import type { World } from '../helpers/seal-scenario.ts'
import { failing, hashIdentity, openTrackingData } from '../helpers/shipment.ts'
import { silentLog } from '../helpers/silent-log.ts'

const hourMs = 3_600_000
const publisherId = 10
const clickedMs = Date.UTC(2026, 2, 2, 12)
const boughtMs = clickedMs + hourMs
const gtin = '4006381333931'
const purchase = { publisherId, transactionId: 't-1' }
const allPurchases = {
  from: '2020-01-01 00:00:00',
  to: '2200-01-01 00:00:00',
  keyFrom: '0'.repeat(32),
  keyTo: 'f'.repeat(32),
}

function aReturn(quantity: number, changes: Partial<HistoryReturn> = {}): HistoryReturn {
  return {
    deliveryId: '7'.repeat(32),
    publisherId,
    transactionId: 't-1',
    returnId: 'r-1',
    receivedAtMs: boughtMs + hourMs,
    lines: [{ gtin, quantity }],
    untrusted: false,
    voided: false,
    ...changes,
  }
}

async function erase({ warehouse }: World): Promise<void> {
  const identities = [hashIdentity('user', publisherId, 'shopper')]
  await requestErasure(warehouse, { publisherId, identities })
  await eraseRequested(warehouse)
}

async function eraseRequested(warehouse: Warehouse): Promise<void> {
  const rowContext = { openTrackingData, hashIdentity }
  await eraseDue({ warehouse, rowContext, settleMs: 0, visibilityMs: 0, log: silentLog })
}

/** A click, and a purchase of two pieces for 10 each that it earns; sealed, with the shopper erased. */
async function anErasedWorld(t: TestContext): Promise<World> {
  const world = await aWorld(t)
  await world.loader.ship([
    aClick(anAd({ servedAtMs: clickedMs }), clickedMs),
    aPurchase({ atMs: boughtMs }),
  ])
  await world.settle()
  await erase(world)
  await world.settle()
  assert.deepEqual(await counted(world), { units: 2, value: 20 })
  return world
}

/** What the report says of the day of the purchase. */
async function counted(world: World): Promise<{ readonly units: number; readonly value: number }> {
  const [line = '', ...more] = await world.figures()
  assert.deepEqual(more, [])
  const [, units, value] = /units (\S+) value (\S+) spend 0.25/u.exec(line) ?? []
  return { units: Number(units), value: Number(value) }
}

async function explain({ warehouse }: World) {
  return await createExplainer({ warehouse, settleMs: 0, catalog: () => emptySnapshot })(purchase)
}

async function isNothingPending({ warehouse }: World): Promise<boolean> {
  return !(await new Attributor({ warehouse, settleMs: 0 }).attributeBatch()).hasMore
}

test('a return after the erasure of its shopper takes its units and their value back, in reports and explanations', async (t) => {
  const world = await anErasedWorld(t)
  const { warehouse } = world
  const deps = { warehouse, settleMs: 0, catalog: () => emptySnapshot }

  await world.loader.ship([aReturn(1)])
  const waiting = await createExplainer(deps)(purchase)
  await world.settle()

  assert.equal(waiting?.isPending, true)
  assert.deepEqual(await counted(world), { units: 1, value: 10 })
  assert.ok(await isNothingPending(world))
  const explanation = await createExplainer(deps)(purchase)
  const { attribution, isPending, isUpToDate } = explanation ?? {}
  assert.deepEqual([attribution?.isFrozen, isPending, isUpToDate], [true, false, true])
  const [bought] = explanation?.lines ?? []
  assert.equal(bought?.remainingQuantity, 1)
  assert.equal(bought.credits.CLK_14_DAYS?.advertiserId, 1)
  const own = await createOwnExplainer(deps)({ ...purchase, advertiserId: 1 })
  const [line] = own?.lines ?? []
  assert.deepEqual([line?.quantity, Number(line?.value)], [1, 10])
  assert.deepEqual([line?.boughtQuantity, line?.returns.length], [2, 1])
  assert.equal(line?.credits.CLK_14_DAYS.creditedTo, 'you')
  for (const readAt of [attribution?.readAt, own?.readAt]) {
    const agoMs = Date.now() - Date.parse(readAt ?? '')
    assert.ok(agoMs >= 0 && agoMs < hourMs, readAt)
  }
})

test('returns after an erasure add up with those before it, once each, and never take more than was bought', async (t) => {
  const world = await aWorld(t)
  await world.loader.ship([
    aClick(anAd({ servedAtMs: clickedMs }), clickedMs),
    aPurchase({ atMs: boughtMs, quantity: 5 }),
    aReturn(1),
  ])
  await world.settle()
  await erase(world)
  const steps: unknown[] = []
  const later = { returnId: 'r-2', deliveryId: '8'.repeat(32) }
  for (const one of [
    aReturn(1),
    aReturn(2, later),
    aReturn(2, { ...later, deliveryId: '9'.repeat(32) }),
    aReturn(9, { returnId: 'r-3', deliveryId: 'a'.repeat(32) }),
  ]) {
    await world.loader.ship([one])
    await world.settle()
    steps.push((await counted(world)).units)
  }

  assert.deepEqual(steps, [4, 2, 2, 0])
})

test('a void gives back what a return took of an erased purchase, before or after the erasure, and a void taken back takes it again', async (t) => {
  const world = await aWorld(t)
  const before = aReturn(1)
  const after = aReturn(1, { returnId: 'r-2', deliveryId: '8'.repeat(32) })
  await world.loader.ship([
    aClick(anAd({ servedAtMs: clickedMs }), clickedMs),
    aPurchase({ atMs: boughtMs }),
    before,
  ])
  await world.settle()
  await erase(world)
  await world.loader.ship([after])
  await world.settle()
  const steps = [await counted(world)]

  for (const { deliveryId } of [before, after]) {
    await voidDelivery(world.warehouse, { ...purchase, deliveryId })
    await world.settle()
    steps.push(await counted(world))
  }
  await unvoidDelivery(world.warehouse, { ...purchase, deliveryId: after.deliveryId })
  await world.settle()
  steps.push(await counted(world))

  assert.deepEqual(
    steps.map(({ units, value }) => `${units} for ${value}`),
    ['0 for 0', '1 for 10', '2 for 20', '1 for 10']
  )
})

test('what a return took of an erased purchase stays taken after late deliveries, rebuilds, merges and a second erasure', async (t) => {
  const world = await anErasedWorld(t)
  const { warehouse } = world
  await world.loader.ship([aReturn(1)])
  await world.settle()

  // Both have other lines than the delivery that earned the credit.
  await world.loader.ship([
    aPurchase({ atMs: boughtMs - hourMs, deliveryId: '1'.repeat(32), quantity: 7 }),
    aPurchase({ atMs: boughtMs + hourMs, deliveryId: '2'.repeat(32), quantity: 7 }),
  ])
  await world.settle()
  const late = await counted(world)
  const explanation = await explain(world)
  await warehouse.command('OPTIMIZE TABLE attribution FINAL')
  await rebuildDays({ warehouse, firstDay: '2026-03-01', lastDay: '2026-03-04' })
  await world.settle()
  const rebuilt = await counted(world)
  await erase(world)
  await world.settle()

  const [line] = explanation?.lines ?? []
  assert.equal(explanation?.isUpToDate, true)
  assert.deepEqual([line?.quantity, line?.remainingQuantity], [2, 1])
  assert.equal(line?.credits.CLK_14_DAYS?.advertiserId, 1)
  const expected = { units: 1, value: 10 }
  assert.deepEqual([late, rebuilt, await counted(world)], [expected, expected, expected])
  assert.ok(await isNothingPending(world))
})

test('a return takes from the delivery that keeps the credit, though another one was frozen under another day', async (t) => {
  const world = await aWorld(t)
  const { warehouse } = world
  await world.loader.ship([
    aClick(anAd({ servedAtMs: clickedMs }), clickedMs),
    aPurchase({ atMs: boughtMs }),
  ])
  await world.settle()
  const earlier = { atMs: boughtMs - 24 * hourMs, deliveryId: '1'.repeat(32), quantity: 7 }
  await world.loader.ship([aPurchase(earlier)])
  await setAsidePurchase(warehouse, allPurchases, 'refused')
  await erase(world)

  await world.loader.ship([aReturn(1)])
  await world.settle()

  assert.deepEqual(await counted(world), { units: 1, value: 10 })
})

test('a reading that knew of no erasure, and loses to the frozen row, answers nothing', async (t) => {
  const world = await anErasedWorld(t)
  await world.loader.ship([aReturn(1)])
  await world.warehouse.command(
    `INSERT INTO attribution (day, purchase_key, read_at, publisher_id, delivery_id, received_at)
     SELECT day, purchase_key, now64(6) + 60, publisher_id, delivery_id, received_at FROM attribution`
  )

  await world.settle()

  assert.deepEqual(await counted(world), { units: 1, value: 10 })
})

test('a frozen row of a final day stays as it is, whatever is left of its returns', async (t) => {
  const world = await anErasedWorld(t)
  const { warehouse } = world
  await world.loader.ship([aReturn(1)])
  await world.settle()
  await warehouse.command(
    `INSERT INTO final_before SELECT '2026-03-05', arrayJoin(['announced', 'final']), now64(6)`
  )
  await warehouse.command('ALTER TABLE purchase_return DELETE WHERE 1')

  await world.loader.ship([
    aPurchase({ atMs: Date.UTC(2026, 2, 9), deliveryId: '2'.repeat(32) }),
    // Another purchase of the batch has a return.
    aPurchase({ atMs: Date.UTC(2026, 2, 9), transactionId: 't-9', deliveryId: '9'.repeat(32) }),
    aReturn(1, { transactionId: 't-9', receivedAtMs: Date.UTC(2026, 2, 9) }),
  ])
  await world.attribute()

  const stored = await warehouse.rows(
    'SELECT line_quantity FROM attribution FINAL WHERE is_frozen = 1 AND notEmpty(line_index)'
  )
  assert.deepEqual(stored, [{ line_quantity: [1] }])
})

test('a return of an erased purchase counts although the reading of its purchase was cut off', async (t) => {
  const world = await anErasedWorld(t)
  await world.loader.ship([aReturn(2)])

  let cutCount = 0
  for (let allowed = 0; ; allowed += 1) {
    let left = allowed
    const warehouse = failing(world.warehouse, (sql) => /^\s*INSERT/u.test(sql) && (left -= 1) < 0)
    try {
      await new Attributor({ warehouse, settleMs: 0 }).attributeBatch()
      break
    } catch {
      cutCount += 1
    }
  }
  await world.settle()

  assert.ok(cutCount >= 3, `${cutCount} cuts`)
  assert.deepEqual(await counted(world), { units: 0, value: 0 })
})

test('an erased purchase that is set aside is answered with what it had, also once its rows are merged', async (t) => {
  const world = await anErasedWorld(t)
  const { warehouse } = world
  await world.loader.ship([aReturn(1)])

  await setAsidePurchase(warehouse, allPurchases, 'refused')
  await warehouse.command('OPTIMIZE TABLE attribution FINAL')

  assert.ok(await isNothingPending(world))
  assert.deepEqual(await counted(world), { units: 2, value: 20 })
})

test('the instant of a reading comes back exactly from the version of a frozen row, also of a leap day', async (t) => {
  const { warehouse } = await aWorld(t)
  const instants = [
    '2026-12-01 10:00:00.123456',
    '2028-02-29 23:59:59.999999',
    '2096-02-29 00:00:00',
  ]

  const found = await warehouse.rows<{ reading: string; isLater: number }>(
    `SELECT toString(${readingSql}) AS reading, read_at > toDateTime64('2170-01-01', 6, 'UTC') AS isLater
     FROM (
       SELECT 1 AS is_frozen, ${frozenVersion('at')} AS read_at
       FROM (SELECT toDateTime64(arrayJoin({instants:Array(String)}), 6, 'UTC') AS at)
     )`,
    { instants }
  )

  assert.deepEqual(
    found.map(({ reading }) => reading),
    instants.map((at) => (at.includes('.') ? at : `${at}.000000`))
  )
  assert.ok(found.every(({ isLater }) => isLater === 1))
})

/** Asks to erase everybody who bought or saw anything in a history. */
async function requestErasures(
  warehouse: Warehouse,
  { publisherId: publisher, deliveries, events }: History
): Promise<void> {
  const people = [...deliveries, ...events.map(({ ad }) => ad)]
  const identities = people.flatMap(({ userId, userLoggedInId }) => [
    hashIdentity('user', publisher, userId),
    hashIdentity('login', publisher, userLoggedInId),
  ])
  const known = [...new Set(identities)].filter((identity) => identity !== '')
  if (known.length > 0)
    await requestErasure(warehouse, { publisherId: publisher, identities: known })
}

/** The credits of some publishers. They have the purchases of others whose ids differ by a hundred. */
async function creditsOf({ warehouse }: World, histories: readonly History[]): Promise<unknown> {
  return await warehouse.rows(
    `SELECT publisher_id % 100 AS publisher, transaction_id, line_index, line_quantity,
       arrayMap(v -> toString(v), line_value) AS line_value,
       arrayMap(at -> toString(at), click_at) AS clicked_at, arrayMap(at -> toString(at), view_at) AS seen_at
     FROM attribution FINAL
     WHERE notEmpty(line_index) AND publisher_id IN {publisherIds:Array(Int32)}
     ORDER BY ALL`,
    { publisherIds: histories.map((history) => history.publisherId) }
  )
}

test('returns take the same from every purchase of generated histories, whether they come before or after everybody is erased', async (t) => {
  const startMs = Date.UTC(2026, 0, 1)
  const [early = [], late = []] = [100, 200].map((firstId) =>
    Array.from({ length: 8 }, (_, index) =>
      generateHistory(seededRandom(index + 1), { publisherId: firstId + index, startMs })
    )
  )
  const world = await aWorld(t)
  await world.loader.ship(early.flatMap(partsOf))
  await world.loader.ship(late.flatMap(({ events, deliveries }) => [...events, ...deliveries]))
  await world.attribute()
  const bought = await creditsOf(world, late)

  for (const history of late) await requestErasures(world.warehouse, history)
  await eraseRequested(world.warehouse)
  const erased = await creditsOf(world, late)
  await world.loader.ship(late.flatMap(({ returns }) => returns))
  await world.attribute()
  const returned = await creditsOf(world, late)

  assert.deepEqual(erased, bought)
  assert.notDeepEqual(returned, bought, 'some return takes something back')
  assert.deepEqual(returned, await creditsOf(world, early))
})
