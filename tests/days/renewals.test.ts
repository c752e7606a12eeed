// Events that move between days: an earlier receipt that arrives late takes the place of a later one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Attributor } from '../../src/attribution/attribute.ts'
import { sealBatch } from '../../src/days/seal.ts'
import { readReportDays } from '../../src/days/sealed-days.ts'
import { aClick, aPurchase, aWorld, anAd } from '../helpers/seal-scenario.ts'
import type { World } from '../helpers/seal-scenario.ts'

const day2Ms = Date.UTC(2026, 2, 2, 12)
const hourMs = 3_600_000
const throughMs = Date.UTC(2026, 2, 14)
const range = { startDate: '2026-03-01', endDate: '2026-03-12' }

const clicksOf = (lines: readonly string[]) =>
  lines.map((line) => `${line.slice(0, 10)} ${line.split(' ')[1]}`)

async function sealNow(world: World, settledThroughMs: number, renewPauseMs = 600_000) {
  const { warehouse, markets } = world
  return await sealBatch({
    warehouse,
    markets: () => markets,
    settledThroughMs: () => settledThroughMs,
    renewPauseMs,
  })
}

/** As if the reading of the day had begun so long ago. */
async function ageSeal(world: World, day: string, ms: number): Promise<void> {
  await world.warehouse.command(`CREATE TABLE aged AS sealed_day ENGINE = MergeTree ORDER BY day`)
  await world.warehouse.command(
    `INSERT INTO aged SELECT * REPLACE (
       if(day = {day:Date}, read_at - toIntervalMillisecond({ms:Int64}), read_at) AS read_at) FROM sealed_day`,
    { day, ms }
  )
  await world.warehouse.command('TRUNCATE TABLE sealed_day')
  await world.warehouse.command('INSERT INTO sealed_day SELECT * FROM aged')
  await world.warehouse.command('DROP TABLE aged')
}

test('an event that moves between a rested day and one sealed a moment ago is on one of them throughout', async (t) => {
  const world = await aWorld(t)
  const ad = anAd({ servedAtMs: day2Ms })
  const other = anAd({ servedAtMs: day2Ms - 24 * hourMs, servedAdId: 'b'.repeat(32) })
  await world.loader.ship([aClick(other, day2Ms - 24 * hourMs), aClick(ad, day2Ms + 30 * hourMs)])
  while ((await sealNow(world, throughMs)).sealedCount > 0);
  await ageSeal(world, '2026-03-02', 3 * hourMs)

  await world.loader.ship([aClick(ad, day2Ms)])
  const between = await world.figures()
  await sealNow(world, throughMs)
  const after = await world.figures()

  assert.deepEqual(clicksOf(between), ['2026-03-01 0/0/1', '2026-03-03 0/0/1'])
  assert.deepEqual(clicksOf(after), ['2026-03-01 0/0/1', '2026-03-02 0/0/1'])
  assert.ok(after.every((line) => line.includes('sealed')))
})

test('an event that moves from an open day to a sealed one is on one of them throughout', async (t) => {
  const world = await aWorld(t)
  const ad = anAd({ servedAtMs: day2Ms })
  const other = anAd({ servedAtMs: day2Ms, servedAdId: 'b'.repeat(32) })
  await world.loader.ship([aClick(other, day2Ms), aClick(ad, day2Ms + 30 * hourMs)])
  // 2 March is over, 3 March is not.
  await sealNow(world, Date.UTC(2026, 2, 3, 12))
  const before = await world.figures()

  await world.loader.ship([aClick(ad, day2Ms + hourMs)])
  const between = await world.figures()
  const days = await readReportDays(world.warehouse, world.markets, range)
  await sealNow(world, throughMs)
  const sealed = await world.figures()

  assert.deepEqual(clicksOf(before), ['2026-03-02 0/0/1', '2026-03-03 0/0/1'])
  assert.deepEqual(clicksOf(between), ['2026-03-02 0/0/2'])
  assert.deepEqual(days.renewingDays, ['2026-03-02'])
  assert.deepEqual(clicksOf(sealed), ['2026-03-02 0/0/2'])
  assert.ok(sealed.every((line) => line.includes('sealed')))
})

test('input that touches no other day leaves a sealed day as it is, and the report says that it is renewed', async (t) => {
  const world = await aWorld(t)
  await world.loader.ship([aClick(anAd({ servedAtMs: day2Ms }), day2Ms)])
  await sealNow(world, throughMs)
  // As if minutes had passed since the click was shipped.
  await world.warehouse.command('TRUNCATE TABLE touched_span')
  const quiet = await readReportDays(world.warehouse, world.markets, range)

  await world.loader.ship([aPurchase({ atMs: day2Ms + hourMs })])
  const attributor = new Attributor({ warehouse: world.warehouse, settleMs: 0 })
  while ((await attributor.attributeBatch()).hasMore);
  const touched = await readReportDays(world.warehouse, world.markets, range)
  const figures = await world.figures()
  await sealNow(world, throughMs, 0)

  assert.equal(quiet.hasOpenDays, false)
  assert.deepEqual(touched.renewingDays, ['2026-03-02'])
  assert.equal(touched.hasOpenDays, false)
  assert.match(figures[0] ?? '', /conversions 0/)
  assert.match((await world.figures())[0] ?? '', /conversions 1 units 2 value 20 .*sealed/)
})

test('a day that was read after its input was visible is read once more when that is certain, not before', async (t) => {
  const world = await aWorld(t)
  await world.loader.ship([aClick(anAd({ servedAtMs: day2Ms }), day2Ms)])
  await sealNow(world, throughMs)
  // Shipped 100 s before the reading, so surely visible to every reading in 200 s from now.
  await world.warehouse.command('TRUNCATE TABLE touched_span')
  const touch = (aheadMs: number) =>
    world.warehouse.command(
      `INSERT INTO touched_span SELECT '2026-03-02 12:00:00', '2026-03-02 12:59:59', 1,
         (SELECT max(read_at) FROM sealed_day) + toIntervalMillisecond({aheadMs:Int64})`,
      { aheadMs }
    )

  await touch(200_000)
  const early = await sealNow(world, throughMs, 0)
  await touch(290_000)
  const missed = await sealNow(world, throughMs, 0)

  assert.equal(early.sealedCount, 0)
  assert.equal(missed.sealedCount, 1)
})

test('a purchase that moves from an open day to a sealed one is on one of them throughout', async (t) => {
  const world = await aWorld(t)
  const attribute = async () => {
    const attributor = new Attributor({ warehouse: world.warehouse, settleMs: 0 })
    while ((await attributor.attributeBatch()).hasMore);
  }
  const conversions = async () =>
    (await world.figures()).map((line) => line.replace(/ units .*/u, '').replace(/ [0-9/]+ /u, ' '))
  await world.loader.ship([
    aClick(anAd({ servedAtMs: day2Ms }), day2Ms),
    aPurchase({ atMs: day2Ms + 30 * hourMs }),
  ])
  await attribute()
  // 2 March is over, 3 March is not.
  await sealNow(world, Date.UTC(2026, 2, 3, 12))
  await world.warehouse.command('TRUNCATE TABLE touched_span')
  const before = await conversions()

  await world.loader.ship([aPurchase({ atMs: day2Ms + hourMs, deliveryId: 'e'.repeat(32) })])
  await attribute()
  const between = await conversions()

  assert.deepEqual(before, ['2026-03-02 conversions 0', '2026-03-03 conversions 1'])
  assert.deepEqual(between, ['2026-03-02 conversions 1'])
})

test('an event that moves to a day of unknown markets whose seal is void is on one of the days throughout', async (t) => {
  const world = await aWorld(t)
  const inMarket = (marketId: number, servedAdId: string) =>
    anAd({ marketId, servedAtMs: day2Ms, servedAdId: servedAdId.repeat(32) })
  const moving = inMarket(7, 'a')
  await world.loader.ship([
    aClick(inMarket(7, 'b'), day2Ms),
    aClick(moving, day2Ms + 30 * hourMs),
    aClick(inMarket(5, 'c'), day2Ms + 30 * hourMs),
  ])
  while ((await sealNow(world, throughMs)).sealedCount > 0);
  // Only 3 March has rows of market 5, so its seal is void from now on and that of 2 March is not.
  world.markets.push({ id: 5, code: 'FR', currency: 'EUR', timeZone: 'UTC' })
  const before = await world.figures()

  await world.loader.ship([aClick(moving, day2Ms)])
  const between = await world.figures()

  assert.deepEqual(clicksOf(before), ['2026-03-02 0/0/1', '2026-03-03 0/0/1', '2026-03-03 0/0/1'])
  assert.deepEqual(clicksOf(between), ['2026-03-02 0/0/2', '2026-03-03 0/0/1'])
})
