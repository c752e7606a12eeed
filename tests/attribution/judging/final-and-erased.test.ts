// Judging again where figures stay: in final days, and of shoppers who were erased.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { unvoidDelivery, voidDelivery } from '../../../src/attribution/void-delivery.ts'
import { eraseDue } from '../../../src/erasure/erase.ts'
import { requestErasure } from '../../../src/erasure/erasures.ts'
import { liveFrom } from '../../../src/spool/record.ts'
import { judgeAll } from '../../helpers/incident.ts'
import { aClick, aPurchase, aWorld, anAd } from '../../helpers/seal-scenario.ts'
import type { World } from '../../helpers/seal-scenario.ts'
import { hashIdentity, openTrackingData } from '../../helpers/shipment.ts'
import { silentLog } from '../../helpers/silent-log.ts'

const dayMs = 86_400_000
const day2Ms = Date.UTC(2026, 2, 2, 12)
const sender = { origin: liveFrom('192.0.2.66'), presentedKey: 'none' }
const forged = { ...aPurchase({ atMs: day2Ms + 3_600_000, deliveryId: 'e'.repeat(32) }), sender }
const real = aPurchase({ atMs: day2Ms + 6 * dayMs, deliveryId: 'b'.repeat(32), price: 15 })

/** A click and a forged purchase that earns from it, sealed. */
async function aForgedWorld(t: TestContext): Promise<World> {
  const world = await aWorld(t)
  await world.loader.ship([aClick(anAd({ servedAtMs: day2Ms }), day2Ms), forged])
  await world.settle()
  return world
}

async function erase({ warehouse }: World): Promise<void> {
  const identities = [hashIdentity('user', 10, 'shopper')]
  await requestErasure(warehouse, { publisherId: 10, identities })
  const rowContext = { openTrackingData, hashIdentity }
  await eraseDue({ warehouse, rowContext, settleMs: 0, visibilityMs: 0, log: silentLog })
}

/** The day, the purchases and their value of each line of the report. */
async function credits(world: World): Promise<readonly string[]> {
  const lines = await world.figures()
  return lines.map((line) =>
    line.replace(/ \S+ conversions/u, '').replace(/ units.* value (\S+).*/u, ' $1')
  )
}

test('an order number that was taken in a final day hides no later order any more, and the final day keeps its figures', async (t) => {
  const world = await aForgedWorld(t)
  const { warehouse } = world
  await warehouse.command(
    `INSERT INTO final_before SELECT '2026-03-05', arrayJoin(['announced', 'final']), now64(6)`
  )
  await world.loader.ship([real])
  await world.settle()
  const hidden = await credits(world)

  const judged = await judgeAll(warehouse)
  await world.settle()

  assert.deepEqual(hidden, ['2026-03-02 1 20'])
  assert.deepEqual(await credits(world), ['2026-03-02 1 20', '2026-03-08 1 30'])
  assert.deepEqual([judged.deliveries.lost, judged.deliveries.final], [1, 1])
})

test('the credit of an erased shopper goes with the delivery behind it, and its day is sealed again', async (t) => {
  const world = await aForgedWorld(t)
  await erase(world)
  await world.settle()
  const frozen = await credits(world)

  await judgeAll(world.warehouse)
  await world.settle()
  const first = await credits(world)
  await judgeAll(world.warehouse)
  await world.settle()

  assert.deepEqual(frozen, ['2026-03-02 1 20'])
  assert.deepEqual(first, ['2026-03-02 0 0'])
  assert.deepEqual(await credits(world), first)
})

test('a void takes the credit of an erased shopper too, and taking it back restores nothing', async (t) => {
  const world = await aForgedWorld(t)
  await erase(world)
  const named = { publisherId: 10, transactionId: 't-1', deliveryId: forged.deliveryId }

  await voidDelivery(world.warehouse, named)
  await world.settle()
  const voided = await credits(world)
  await unvoidDelivery(world.warehouse, named)
  await world.settle()

  assert.deepEqual(voided, ['2026-03-02 0 0'])
  assert.deepEqual(await credits(world), voided)
})

test('taking a void back restores what counted before it, whatever the policy says by now, until the delivery is judged again', async (t) => {
  const world = await aForgedWorld(t)
  await world.settle()
  const before = await credits(world)
  const named = { publisherId: 10, transactionId: 't-1', deliveryId: forged.deliveryId }

  await voidDelivery(world.warehouse, named)
  const whileVoid = await judgeAll(world.warehouse)
  await unvoidDelivery(world.warehouse, named)
  await world.settle()
  const restored = await credits(world)
  await judgeAll(world.warehouse)
  await world.settle()

  assert.deepEqual([whileVoid.deliveries.lost, whileVoid.deliveries.voids], [0, 1])
  assert.deepEqual(restored, before)
  assert.deepEqual(await credits(world), ['2026-03-02 0 0'])
})
