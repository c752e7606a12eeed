import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SealBudget } from '../../src/days/roll-up.ts'
import { sealBatch } from '../../src/days/seal.ts'
import { readReportDays } from '../../src/days/sealed-days.ts'
import { aClick, aPurchase, aWorld, anAd } from '../helpers/seal-scenario.ts'
import type { World } from '../helpers/seal-scenario.ts'

const day2Ms = Date.UTC(2026, 2, 2, 12)
const hourMs = 3_600_000
const range = { startDate: '2026-03-01', endDate: '2026-03-12' }

/** Two clicks on one product, and a purchase of it. */
async function aDay(world: World): Promise<void> {
  await world.loader.ship([
    aClick(anAd(), day2Ms),
    aClick(anAd({ servedAdId: 'b'.repeat(32) }), day2Ms + 1),
    aPurchase({ atMs: day2Ms + hourMs }),
  ])
  await world.attribute()
}

async function sealAll({ warehouse, markets }: World, eventsMax: number): Promise<void> {
  const deps = {
    warehouse,
    markets: () => markets,
    settledThroughMs: () => Date.UTC(2026, 2, 14),
    renewPauseMs: 0,
  }
  while ((await sealBatch({ ...deps, budget: new SealBudget(eventsMax) })).hasMore);
}

async function rowCount(world: World): Promise<number | undefined> {
  const [row] = await world.warehouse.rows<{ count: number }>(
    `SELECT count() AS count FROM product_day WHERE day = '2026-03-02'`
  )
  return row?.count
}

test('a report by day has one row for rows of a rollup that was written in parts, or by a program of before', async (t) => {
  const world = await aWorld(t)
  const { warehouse, markets } = world
  await aDay(world)
  const [open] = await world.figures()
  const read = async () => {
    const { areSealsWhole } = await readReportDays(warehouse, markets, range)
    return { areSealsWhole, rows: await rowCount(world), figures: await world.figures() }
  }

  await sealAll(world, 1_000)
  const whole = await read()
  await warehouse.command(
    'ALTER TABLE sealed_day UPDATE is_whole = 0 WHERE 1 SETTINGS mutations_sync = 1'
  )
  const before = await read()
  for (const table of ['sealed_day', 'product_day']) {
    await warehouse.command(`TRUNCATE TABLE ${table}`)
  }
  await sealAll(world, 1)
  const parts = await read()

  const figures = [open?.replace('open', 'sealed')]
  assert.match(open ?? '', /2026-03-02 0\/0\/2 conversions 1 .* open/u)
  assert.deepEqual(whole, { areSealsWhole: true, rows: 1, figures })
  assert.deepEqual(before, { areSealsWhole: false, rows: 1, figures })
  assert.deepEqual(parts, { areSealsWhole: false, rows: 2, figures })
})

test('a row of a whole day without figures in the profile is in no report', async (t) => {
  const world = await aWorld(t)
  const impression = { ...aClick(anAd(), day2Ms), kind: 'impression' as const }
  // Credited to the impression, of which the next day has no event; the report is by clicks.
  await world.loader.ship([impression, aPurchase({ atMs: day2Ms + 13 * hourMs })])
  await world.attribute()
  await sealAll(world, 1_000)

  assert.deepEqual(await world.figures(), [
    '2026-03-02 0/1/0 conversions 0 units 0 value 0 spend 0 sealed',
  ])
})

test('sealed days stand beside open ones in a report by day', async (t) => {
  const world = await aWorld(t)
  await aDay(world)
  await sealAll(world, 1_000)
  await world.warehouse.command(`DELETE FROM sealed_day WHERE day = '2026-03-04'`)
  const late = anAd({ servedAdId: 'c'.repeat(32), servedAtMs: day2Ms + 48 * hourMs })
  await world.loader.ship([aClick(late, day2Ms + 48 * hourMs)])

  const figures = await world.figures()

  assert.deepEqual(
    figures.map((line) => line.slice(0, 16)),
    ['2026-03-02 0/0/2', '2026-03-04 0/0/1']
  )
})
