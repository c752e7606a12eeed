import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Attributor } from '../../src/attribution/attribute.ts'
import { sealBatch } from '../../src/days/seal.ts'
import { Sweeper } from '../../src/days/sweep.ts'
import { readLatestSeals } from '../../src/days/seals.ts'
import { readTouchedDays } from '../../src/days/touched-days.ts'
import { aClick, aPurchase, aWorld, anAd } from '../helpers/seal-scenario.ts'

const day2Ms = Date.UTC(2026, 2, 2, 12)
const hourMs = 3_600_000
/** What came before is shipped, and its days are over. */
const throughMs = Date.UTC(2026, 2, 14)

test('a day is sealed once it is over and shipped, and its report stays the same', async (t) => {
  const world = await aWorld(t)
  const ad = anAd({ servedAtMs: day2Ms })
  await world.loader.ship([aClick(ad, day2Ms), aPurchase({ atMs: day2Ms + hourMs })])
  const attributor = new Attributor({ warehouse: world.warehouse, settleMs: 0 })
  await attributor.attributeBatch()
  const before = await world.figures()

  const tooEarly = await sealBatch({
    warehouse: world.warehouse,
    markets: () => world.markets,
    // Something received on the day before still waits in the spool.
    settledThroughMs: () => day2Ms - 30 * hourMs,
  })
  await world.settle()

  assert.equal(tooEarly.sealedCount, 0)
  assert.deepEqual(before, ['2026-03-02 0/0/1 conversions 1 units 2 value 20 spend 0.25 open'])
  assert.deepEqual(await world.figures(), [
    '2026-03-02 0/0/1 conversions 1 units 2 value 20 spend 0.25 sealed',
  ])
})

test('a day is sealed when it is over by the delay in the zone of its market, not before', async (t) => {
  const world = await aWorld(t)
  world.markets.push({ id: 2, code: 'US', currency: 'EUR', timeZone: 'America/New_York' })
  await world.loader.ship(
    [1, 2, 3].map((marketId) => {
      const servedAdId = String(marketId).repeat(32)
      return aClick(
        anAd({ servedAdId, servedAtMs: day2Ms - 24 * hourMs, marketId }),
        day2Ms - 24 * hourMs
      )
    })
  )

  // 2 March ended at 23:00 in Berlin and ends at 5:00 in New York.
  await sealBatch({
    warehouse: world.warehouse,
    markets: () => world.markets,
    settledThroughMs: () => Date.UTC(2026, 2, 3, 1),
  })

  const seals = await world.warehouse.rows<{ unit: number; day: string }>(
    'SELECT unit, toString(max(day)) AS day FROM sealed_day GROUP BY unit ORDER BY unit'
  )
  assert.deepEqual(seals, [
    { unit: 0, day: '2026-03-02' },
    { unit: 1, day: '2026-03-02' },
    { unit: 2, day: '2026-03-01' },
  ])
})

test('an earlier receipt that arrives after the seal moves the event to its day, and is counted once', async (t) => {
  const world = await aWorld(t)
  const ad = anAd({ servedAtMs: day2Ms })
  await world.loader.ship([aClick(ad, day2Ms + 30 * hourMs)])
  await world.settle()
  const before = await world.figures()

  await world.loader.ship([aClick(ad, day2Ms)])
  await world.settle()

  assert.deepEqual(before, ['2026-03-03 0/0/1 conversions 0 units 0 value 0 spend 0.25 sealed'])
  assert.deepEqual(await world.figures(), [
    '2026-03-02 0/0/1 conversions 0 units 0 value 0 spend 0.25 sealed',
  ])
})

test('a touchpoint that arrives after the seal takes the purchase from one sealed market day to another', async (t) => {
  const world = await aWorld(t)
  world.markets.push({ id: 2, code: 'US', currency: 'EUR', timeZone: 'America/New_York' })
  const first = anAd({ servedAtMs: day2Ms, marketId: 2 })
  await world.loader.ship([aClick(first, day2Ms), aPurchase({ atMs: day2Ms + 5 * hourMs })])
  await world.settle()
  const before = await world.figures()

  const later = anAd({ servedAtMs: day2Ms + hourMs, servedAdId: 'b'.repeat(32) })
  await world.loader.ship([aClick(later, day2Ms + hourMs)])
  await world.settle()

  assert.deepEqual(before, ['2026-03-02 0/0/1 conversions 1 units 2 value 20 spend 0.25 sealed'])
  assert.deepEqual(await world.figures(), [
    '2026-03-02 0/0/1 conversions 1 units 2 value 20 spend 0.25 sealed',
    '2026-03-02 0/0/1 conversions 0 units 0 value 0 spend 0.25 sealed',
  ])
})

test('a return that arrives after the seal leaves the purchase on its day, with what remains', async (t) => {
  const world = await aWorld(t)
  const ad = anAd({ servedAtMs: day2Ms })
  await world.loader.ship([aClick(ad, day2Ms), aPurchase({ atMs: day2Ms + hourMs })])
  await world.settle()

  for (const [digit, quantity] of [
    ['e', 1],
    ['f', 5],
  ] as const) {
    await world.loader.ship([
      {
        deliveryId: digit.repeat(32),
        returnId: digit,
        receivedAtMs: day2Ms + 9 * 24 * hourMs,
        publisherId: 10,
        transactionId: 't-1',
        lines: [{ gtin: '4006381333931', quantity }],
        untrusted: false,
      },
    ])
    await world.settle()
    const left = digit === 'e' ? 'units 1 value 10' : 'units 0 value 0'
    assert.deepEqual(await world.figures(), [
      `2026-03-02 0/0/1 conversions 1 ${left} spend 0.25 sealed`,
    ])
  }
})

test('purchases of today do not touch yesterday, also where it ended after midnight in UTC', async (t) => {
  const world = await aWorld(t)
  world.markets.push({ id: 2, code: 'US', currency: 'EUR', timeZone: 'America/New_York' })
  const { warehouse, markets } = world
  const range = { markets, first: '2026-02-20', last: '2026-03-20' }
  const touched = async () =>
    readTouchedDays(warehouse, { ...range, seals: await readLatestSeals(warehouse, range) })
  const ad = anAd({ servedAtMs: day2Ms, marketId: 2 })
  await world.loader.ship([aClick(ad, day2Ms)])
  await world.settle()
  // As if five minutes had passed since.
  await world.warehouse.command('TRUNCATE TABLE touched_span')

  await world.loader.ship([aPurchase({ atMs: day2Ms + 24 * hourMs })])
  const attributor = new Attributor({ warehouse: world.warehouse, settleMs: 0 })
  while ((await attributor.attributeBatch()).hasMore);

  assert.deepEqual(new Set((await touched()).map(({ day }) => day)), new Set(['2026-03-03']))
})

test('an earlier delivery moves a sealed purchase over the midnight of its market within one day of UTC', async (t) => {
  const world = await aWorld(t)
  world.markets[0] = { id: 1, code: 'US', currency: 'EUR', timeZone: 'America/New_York' }
  const ad = anAd({ servedAtMs: day2Ms })
  // 3 March, 6:00 in UTC is 1:00 in New York; 4:00 is 23:00 of the day before.
  const laterMs = Date.UTC(2026, 2, 3, 6)
  await world.loader.ship([aClick(ad, day2Ms), aPurchase({ atMs: laterMs })])
  await world.settle()
  const before = await world.figures()

  await world.loader.ship([aPurchase({ atMs: laterMs - 2 * hourMs, deliveryId: 'e'.repeat(32) })])
  await world.settle()

  assert.deepEqual(before, [
    '2026-03-02 0/0/1 conversions 0 units 0 value 0 spend 0.25 sealed',
    '2026-03-03 0/0/0 conversions 1 units 2 value 20 spend 0 sealed',
  ])
  assert.deepEqual(await world.figures(), [
    '2026-03-02 0/0/1 conversions 1 units 2 value 20 spend 0.25 sealed',
  ])
})

test('two engines that seal the same day at once do not add up, and the later reading counts', async (t) => {
  const world = await aWorld(t)
  await world.loader.ship([aClick(anAd({ servedAtMs: day2Ms }), day2Ms)])
  const deps = {
    warehouse: world.warehouse,
    markets: () => world.markets,
    settledThroughMs: () => throughMs,
  }

  await Promise.all([sealBatch(deps), sealBatch(deps), sealBatch(deps)])

  const [rows] = await world.warehouse.rows<{ revisions: number }>(
    'SELECT uniqExact(revision) AS revisions FROM product_day'
  )
  assert.equal(rows?.revisions, 3)
  assert.deepEqual(await world.figures(), [
    '2026-03-02 0/0/1 conversions 0 units 0 value 0 spend 0.25 sealed',
  ])
})

test('what an engine wrote before it ended half-way is never read, and is swept', async (t) => {
  const world = await aWorld(t)
  await world.loader.ship([aClick(anAd({ servedAtMs: day2Ms }), day2Ms)])
  await world.settle()
  await world.warehouse.command(
    `INSERT INTO product_day SELECT * REPLACE (7 AS revision) FROM product_day LIMIT 1`
  )

  const figures = await world.figures()
  await new Sweeper(world).sweep()
  const [young] = await world.warehouse.rows<{ count: number }>(
    'SELECT count() AS count FROM product_day'
  )
  await world.warehouse.command(
    `INSERT INTO rollup_begun VALUES (7, '2026-03-01', '2026-03-10', now64(6) - toIntervalDay(1))`
  )
  await new Sweeper(world).sweep()
  const [swept] = await world.warehouse.rows<{ count: number }>(
    'SELECT count() AS count FROM product_day'
  )

  assert.deepEqual(figures, ['2026-03-02 0/0/1 conversions 0 units 0 value 0 spend 0.25 sealed'])
  assert.ok((young?.count ?? 0) >= 2, 'a report that began before may still read it')
  assert.equal(swept?.count, (young?.count ?? 0) - 1)
  assert.deepEqual(await world.figures(), figures)
})

test('events of a market that the catalog learns of later move to the days of its zone', async (t) => {
  const world = await aWorld(t)
  const lateEveningMs = Date.UTC(2026, 2, 3, 3)
  await world.loader.ship([aClick(anAd({ servedAtMs: lateEveningMs, marketId: 2 }), lateEveningMs)])
  await world.settle()
  const before = await world.figures()

  world.markets.push({ id: 2, code: 'US', currency: 'EUR', timeZone: 'America/New_York' })
  const between = await world.figures()
  await world.settle()

  assert.deepEqual(before, [
    '2026-03-03 0/0/1 conversions 0 units 0 value 0 spend 0 sealed unconverted 1',
  ])
  assert.deepEqual(between, ['2026-03-02 0/0/1 conversions 0 units 0 value 0 spend 0.25 open'])
  assert.deepEqual(await world.figures(), [
    '2026-03-02 0/0/1 conversions 0 units 0 value 0 spend 0.25 sealed',
  ])
})

test('a better rate that is loaded later renews the days that used another, and only those', async (t) => {
  const world = await aWorld(t)
  const rate = (day: string, units: string, version: number) =>
    world.warehouse.command(
      `INSERT INTO rate VALUES ('USD', {day:Date}, {units:Decimal128(9)}, {version:UInt64})`,
      { day, units, version }
    )
  const dollars = anAd({ servedAtMs: day2Ms, currency: 'USD' })
  await world.loader.ship([
    aClick(dollars, day2Ms),
    aClick(
      anAd({ servedAtMs: day2Ms + 48 * hourMs, servedAdId: 'c'.repeat(32) }),
      day2Ms + 48 * hourMs
    ),
  ])
  await world.settle()
  const without = await world.figures()
  await rate('2026-02-27', '2', 1)
  await world.settle()
  const older = await world.figures()
  await rate('2026-03-02', '1.25', 2)
  await world.settle()

  const other = '2026-03-04 0/0/1 conversions 0 units 0 value 0 spend 0.25 sealed'
  assert.deepEqual(without, [`${spent('0')} unconverted 1`, `${other} unconverted 1`])
  assert.deepEqual(older, [spent('0.125'), other])
  assert.deepEqual(await world.figures(), [spent('0.2'), other])
  const revisions = await world.warehouse.rows<{ day: string; count: number }>(
    `SELECT toString(day) AS d, uniqExact(read_at) AS count FROM sealed_day
     WHERE unit = 1 AND sealed_day.day IN ('2026-03-02', '2026-03-12') GROUP BY sealed_day.day ORDER BY d`
  )
  assert.ok((revisions[0]?.count ?? 0) > (revisions[1]?.count ?? 0))
})

function spent(spend: string): string {
  return `2026-03-02 0/0/1 conversions 0 units 0 value 0 spend ${spend} sealed`
}
