// Work that was held up until it no longer counts: it leaves no trace in reports, and says so.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sealBatch } from '../../src/days/seal.ts'
import { readReportDays } from '../../src/days/sealed-days.ts'
import { readSpans } from '../../src/days/sealed-spans.ts'
import { sumNextSpan } from '../../src/days/sum-spans.ts'
import { aClick, aWorld, anAd } from '../helpers/seal-scenario.ts'
import type { World } from '../helpers/seal-scenario.ts'
import { suspendable } from '../helpers/suspended-warehouse.ts'

const hourMs = 3_600_000
const day2Ms = Date.UTC(2026, 2, 2, 12)
const range = { startDate: '2026-03-02', endDate: '2026-03-02' }

function sealingOf({ markets }: World, warehouse: World['warehouse']) {
  return {
    warehouse,
    markets: () => markets,
    settledThroughMs: () => Date.UTC(2026, 2, 14),
    renewPauseMs: 0,
  }
}

for (const { when, before, hours } of [
  { when: 'while it sums up', before: 'INSERT INTO product_day', hours: 4 },
  { when: 'before its seals are visible', before: 'sealed_day', hours: 7 },
]) {
  test(`a sealing that is suspended for ${hours} hours ${when} fails, and the next one seals the days`, async (t) => {
    const world = await aWorld(t)
    await world.loader.ship([aClick(anAd({ servedAtMs: day2Ms }), day2Ms)])
    const { warehouse, suspend } = suspendable(world.warehouse)
    suspend(before, hours * hourMs)

    await assert.rejects(sealBatch(sealingOf(world, warehouse)), { code: 'WAREHOUSE_UNAVAILABLE' })

    const failed = await readReportDays(world.warehouse, world.markets, range)
    const { sealedCount } = await sealBatch(sealingOf(world, warehouse))
    const sealed = await readReportDays(world.warehouse, world.markets, range)
    assert.deepEqual([failed.hasOpenDays, sealed.hasOpenDays], [true, false])
    assert.ok(sealedCount > 0)
  })
}

test('days that another engine makes final while they are sealed keep their seals, and count as none sealed', async (t) => {
  const world = await aWorld(t)
  await world.loader.ship([aClick(anAd({ servedAtMs: day2Ms }), day2Ms)])
  await sealBatch(sealingOf(world, world.warehouse))
  await world.loader.ship([aClick(anAd({ servedAtMs: day2Ms }), day2Ms - hourMs)])
  const revisions = () =>
    world.warehouse.rows('SELECT DISTINCT toString(revision) AS revision FROM sealed_day')
  const before = await revisions()
  const { warehouse, suspend } = suspendable(world.warehouse)
  suspend('INSERT INTO product_day', 0, () =>
    world.warehouse.command(
      `INSERT INTO final_before SELECT '2026-03-12', 'final', now64(6) - toIntervalDay(1)`
    )
  )

  const result = await sealBatch(sealingOf(world, warehouse))

  assert.deepEqual([result.sealedCount, result.becameFinal], [0, true])
  assert.deepEqual(await revisions(), before)
})

test('a week whose sum was suspended for 4 hours fails, and is summed by the next one', async (t) => {
  const world = await aWorld(t)
  await world.loader.ship([aClick(anAd({ servedAtMs: day2Ms }), day2Ms)])
  await world.settle()
  const { warehouse, suspend } = suspendable(world.warehouse)
  const summing = { warehouse, markets: () => world.markets, settledMs: 0 }
  const readWeeks = () => readSpans(warehouse, { first: '2026-03-02', last: '2026-03-08' })
  suspend('INSERT INTO product_span', 4 * hourMs)

  await assert.rejects(sumNextSpan(summing), { code: 'WAREHOUSE_UNAVAILABLE' })

  assert.deepEqual(await readWeeks(), [])
  await sumNextSpan(summing)
  assert.equal((await readWeeks()).length, 1)
})
