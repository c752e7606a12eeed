// The upgrade of a database with sealed days to the schema that knows which revisions were begun.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sumNextSpan } from '../../src/days/sum-spans.ts'
import { Sweeper } from '../../src/days/sweep.ts'
import { migrate } from '../../src/warehouse/migrate.ts'
import { aClick, aPurchase, aWorld, anAd } from '../helpers/seal-scenario.ts'
import type { World } from '../helpers/seal-scenario.ts'

const migration = '0014-renewals.sql'
const day2Ms = Date.UTC(2026, 2, 2, 12)
const rollups = ['product_day', 'product_span'] as const
const byDay = { startDate: '2026-03-01', endDate: '2026-03-12', isByDay: true }
const asWeek = { ...byDay, isByDay: false }

/** As the program of before left the schema. */
async function takeBack({ warehouse }: World): Promise<void> {
  for (const [table, column] of [
    ['product_day', 'foreign_currencies'],
    ['sealed_day', 'unknown_ids'],
    ['sealed_span', 'sealed_at'],
  ]) {
    await warehouse.command(`ALTER TABLE ${table} DROP COLUMN ${column}`)
  }
  await warehouse.command('DROP TABLE rollup_begun')
  await warehouse.command('DELETE FROM migration WHERE name = {migration:String}', { migration })
}

async function revisionsOf({ warehouse }: World): Promise<readonly (number | undefined)[]> {
  const counts: (number | undefined)[] = []
  for (const table of rollups) {
    const [row] = await warehouse.rows<{ n: number }>(
      `SELECT uniqExact(revision) AS n FROM ${table}`
    )
    counts.push(row?.n)
  }
  return counts
}

test('sealed days and weeks of before the upgrade give the same report, and what had ended halfway is swept', async (t) => {
  const world = await aWorld(t)
  const { warehouse } = world
  const unknown = anAd({ servedAtMs: day2Ms, marketId: 7, servedAdId: 'b'.repeat(32) })
  await world.loader.ship([
    aClick(anAd({ servedAtMs: day2Ms }), day2Ms),
    aClick(unknown, day2Ms),
    aPurchase({ atMs: day2Ms + 3_600_000 }),
  ])
  await world.settle()
  while (await sumNextSpan({ warehouse, markets: () => world.markets, settledMs: 0 }));
  await new Sweeper({ warehouse, keepMs: 0, orphanMs: 0 }).sweep()
  const before = [await world.figures(byDay), await world.figures(asWeek)]
  const revisions = await revisionsOf(world)
  await takeBack(world)
  // A sealing and a sum that ended halfway: their rows have no seal.
  for (const table of rollups) {
    await warehouse.command(
      `INSERT INTO ${table} SELECT * REPLACE (revision + 1 AS revision, read_at - toIntervalDay(2) AS read_at) FROM ${table}`
    )
  }

  assert.deepEqual(await migrate(warehouse), [migration])

  assert.deepEqual([await world.figures(byDay), await world.figures(asWeek)], before)
  await new Sweeper({ warehouse }).sweep()
  assert.deepEqual(await revisionsOf(world), revisions)
  assert.deepEqual([await world.figures(byDay), await world.figures(asWeek)], before)
})
