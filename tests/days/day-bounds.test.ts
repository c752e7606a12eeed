import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Attributor } from '../../src/attribution/attribute.ts'
import { sealBatch } from '../../src/days/seal.ts'
import { sumNextSpan } from '../../src/days/sum-spans.ts'
import { readRestatements } from '../../src/days/restatement-list.ts'
import { readSealedThrough } from '../../src/days/sealed-days.ts'
import { aClick, aPurchase, aWorld, anAd } from '../helpers/seal-scenario.ts'
import type { World } from '../helpers/seal-scenario.ts'

const day2Ms = Date.UTC(2026, 2, 2, 12)
const throughMs = Date.UTC(2026, 2, 14)
const usa = { id: 2, code: 'US', currency: 'EUR', timeZone: 'America/New_York' }

async function sealAll(world: World): Promise<number> {
  const { warehouse, markets } = world
  let sealedCount = 0
  for (;;) {
    const sealed = await sealBatch({
      warehouse,
      markets: () => markets,
      settledThroughMs: () => throughMs,
    })
    sealedCount += sealed.sealedCount
    if (!sealed.hasMore) return sealedCount
  }
}

for (const [what, receivedAtMs] of [
  ['on the first day of 1970', Date.UTC(1970, 0, 1, 1)],
  ['in 1985', Date.UTC(1985, 5, 1)],
  ['in 2105', Date.UTC(2105, 0, 1)],
] as const) {
  test(`a purchase that was received ${what} by a wrong clock ends neither sealing nor the status`, async (t) => {
    const world = await aWorld(t)
    const { warehouse, markets } = world
    await world.loader.ship([aClick(anAd({ servedAtMs: day2Ms }), day2Ms)])
    // What an older program stored: shipping does not take it any more.
    await warehouse.command(
      `INSERT INTO touched_span SELECT toDateTime({at:UInt32}), toDateTime({at:UInt32}) + 3599, market_id, now64(6)
       FROM (SELECT arrayJoin([-1, 1]) AS market_id)`,
      { at: receivedAtMs / 1_000 }
    )

    const sealedCount = await sealAll(world)
    await sumNextSpan({ warehouse, markets: () => markets, settledMs: 0 })
    const [status] = await readSealedThrough(warehouse, markets, '2026-03-14')

    assert.equal(sealedCount, 12)
    assert.deepEqual(status, { marketId: 1, completeThrough: '2026-03-13', openFrom: '2026-03-14' })
    assert.equal((await world.figures()).length, 1)
  })
}

test('a new market without events voids no seal and is sealed nowhere', async (t) => {
  const world = await aWorld(t)
  const unknown = anAd({ servedAtMs: day2Ms, marketId: 7, servedAdId: 'b'.repeat(32) })
  await world.loader.ship([aClick(anAd({ servedAtMs: day2Ms }), day2Ms), aClick(unknown, day2Ms)])
  await sealAll(world)
  const before = await readRestatements(world.warehouse, 0)
  const figures = await world.figures()

  world.markets.push(usa)
  const sealedCount = await sealAll(world)

  assert.equal(sealedCount, 0)
  assert.deepEqual(await readRestatements(world.warehouse, 0), before)
  assert.deepEqual(await world.figures(), figures)
  assert.ok(figures.every((line) => line.includes('sealed')))
})

test('a new market voids the days of the unknown ones on which it has events, and no others', async (t) => {
  const world = await aWorld(t)
  const unknown = anAd({ servedAtMs: day2Ms, marketId: 2 })
  const other = anAd({ servedAtMs: day2Ms, marketId: 7, servedAdId: 'b'.repeat(32) })
  await world.loader.ship([aClick(unknown, day2Ms), aClick(other, day2Ms + 72 * 3_600_000)])
  await sealAll(world)
  const revisions = async () =>
    (await readRestatements(world.warehouse, 0)).days
      .filter(({ marketId }) => marketId === null)
      .map(({ day, revision }) => `${day} ${revision}`)
  const before = await revisions()

  world.markets.push(usa)
  await sealAll(world)
  const after = await revisions()

  const renewed = after.filter((one) => !before.includes(one)).map((one) => one.slice(0, 10))
  assert.deepEqual(renewed, ['2026-03-02'])
  const [row] = await world.warehouse.rows<{ unit: number }>(
    `SELECT unit FROM product_day WHERE market_id = 2 ORDER BY read_at DESC LIMIT 1`
  )
  assert.equal(row?.unit, 2)
})

test('a seal of an older program, which does not say what it holds, goes by the list of markets', async (t) => {
  const world = await aWorld(t)
  await world.loader.ship([aClick(anAd({ servedAtMs: day2Ms, marketId: 7 }), day2Ms)])
  await sealAll(world)
  await world.warehouse.command(
    `ALTER TABLE sealed_day UPDATE unknown_ids = '' WHERE 1 SETTINGS mutations_sync = 1`
  )

  const kept = await sealAll(world)
  world.markets.push(usa)
  const again = await sealAll(world)

  assert.equal(kept, 0)
  assert.equal(again, 12)
})

test('conversions alone make no day to seal', async (t) => {
  const world = await aWorld(t)
  await world.loader.ship([aPurchase({ atMs: day2Ms })])
  const attributor = new Attributor({ warehouse: world.warehouse, settleMs: 0 })
  while ((await attributor.attributeBatch()).hasMore);

  assert.equal(await sealAll(world), 0)
  const [status] = await readSealedThrough(world.warehouse, world.markets, '2026-03-14')
  assert.deepEqual(status, { marketId: 1, completeThrough: null, openFrom: null })
})
