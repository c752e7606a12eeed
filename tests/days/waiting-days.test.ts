import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countWaitingDays } from '../../src/days/waiting-days.ts'
import { aClick, aPurchase, aWorld, anAd } from '../helpers/seal-scenario.ts'

const dayMs = Date.UTC(2026, 2, 2, 12)
const hourMs = 3_600_000

/** The days before this instant, and the delay behind it, are over. */
const nowMs = Date.UTC(2026, 2, 14, 2)

test('days wait until they are sealed, and again once later input has reached them', async (t) => {
  const world = await aWorld(t)
  const { warehouse, markets } = world
  const count = () => countWaitingDays({ warehouse, markets: () => markets }, nowMs)
  assert.deepEqual(await count(), { unsealed: 0, renewing: 0 })

  const ad = anAd({ servedAtMs: dayMs })
  await world.loader.ship([aClick(ad, dayMs), aPurchase({ atMs: dayMs + hourMs })])
  await world.attribute()
  const before = await count()
  await world.settle()
  // Minutes pass, so what was shipped so far is certainly in the figures.
  await warehouse.command('TRUNCATE TABLE touched_span')
  const sealed = await count()
  await world.loader.ship([aClick(anAd({ servedAtMs: dayMs }), dayMs + 1)])
  const touched = await count()
  await world.settle()
  await warehouse.command('TRUNCATE TABLE touched_span')

  assert.ok(before.unsealed > 0)
  assert.equal(before.renewing, 0)
  assert.deepEqual(sealed, { unsealed: 0, renewing: 0 })
  assert.equal(touched.unsealed, 0)
  assert.ok(touched.renewing > 0)
  assert.deepEqual(await count(), { unsealed: 0, renewing: 0 })
})
