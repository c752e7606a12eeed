import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Attributor } from '../../src/attribution/attribute.ts'
import { rebuildDays } from '../../src/days/rebuild.ts'
import { aPurchase, aWorld } from '../helpers/seal-scenario.ts'

const day2Ms = Date.UTC(2026, 2, 2, 12)
const day5Ms = Date.UTC(2026, 2, 5, 12)

/** Far more than there is to do. */
const batchesMax = 10

test('attribution comes to rest after days are rebuilt that hold an unbelieved delivery of a judged purchase', async (t) => {
  const { warehouse, loader, attribute } = await aWorld(t)
  const counted = aPurchase({ atMs: day2Ms, deliveryId: '1'.repeat(32) })
  const unbelieved = {
    ...aPurchase({ atMs: day5Ms, deliveryId: '2'.repeat(32) }),
    untrusted: true,
  }
  await loader.ship([counted, unbelieved])
  await attribute()
  await loader.void([counted])
  await attribute()

  await rebuildDays({ warehouse, firstDay: '2026-03-01', lastDay: '2026-03-10' })

  const attributor = new Attributor({ warehouse, settleMs: 0 })
  let batchCount = 1
  while ((await attributor.attributeBatch()).hasMore && batchCount < batchesMax) batchCount += 1
  assert.ok(batchCount < batchesMax, 'something stays pending for ever')
})
