// Markets whose midnight is not at a full hour of UTC: a purchase moves over it within one hour.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sealBatch } from '../../src/days/seal.ts'
import { aClick, aPurchase, aWorld, anAd } from '../helpers/seal-scenario.ts'

const minuteMs = 60_000

for (const { timeZone, midnight } of [
  { timeZone: 'Asia/Kolkata', midnight: '18:30' },
  { timeZone: 'Asia/Kathmandu', midnight: '18:15' },
]) {
  test(`a purchase that moves over midnight from an open day to a sealed one is on one of them in ${timeZone}`, async (t) => {
    const world = await aWorld(t)
    world.markets[0] = { id: 1, code: 'XX', currency: 'EUR', timeZone }
    const midnightMs = Date.parse(`2026-03-02T${midnight}:00Z`)
    const conversions = async () =>
      (await world.figures()).map((line) =>
        line.replace(/ units .*/u, '').replace(/ [0-9/]+ /u, ' ')
      )
    const clickedAtMs = midnightMs - 300 * minuteMs
    await world.loader.ship([
      aClick(anAd({ servedAtMs: clickedAtMs }), clickedAtMs),
      aPurchase({ atMs: midnightMs + 10 * minuteMs }),
    ])
    await world.attribute()
    // 2 March is over, 3 March is not.
    await sealBatch({
      warehouse: world.warehouse,
      markets: () => world.markets,
      settledThroughMs: () => midnightMs + 600 * minuteMs,
    })
    await world.warehouse.command('TRUNCATE TABLE touched_span')
    const before = await conversions()

    await world.loader.ship([
      aPurchase({ atMs: midnightMs - 10 * minuteMs, deliveryId: 'e'.repeat(32) }),
    ])
    await world.attribute()

    assert.deepEqual(before, ['2026-03-02 conversions 0', '2026-03-03 conversions 1'])
    assert.deepEqual(await conversions(), ['2026-03-02 conversions 1'])
  })
}

// 13:30 UTC in Adelaide (summer time) and 03:30 UTC in St John's (winter time).
for (const { timeZone, midnight } of [
  { timeZone: 'Australia/Adelaide', midnight: '2026-03-02T13:30Z' },
  { timeZone: 'America/St_Johns', midnight: '2026-03-03T03:30Z' },
]) {
  for (const { when, windowMs } of [
    { when: 'whose window ends within the hour', windowMs: 20 * minuteMs },
    { when: 'whose window goes on', windowMs: 24 * 60 * minuteMs },
  ]) {
    test(`a click ${when} moves over midnight in ${timeZone} and is on one of the days throughout`, async (t) => {
      const world = await aWorld(t)
      world.markets[0] = { id: 1, code: 'XX', currency: 'EUR', timeZone }
      const midnightMs = Date.parse(midnight)
      const weekMs = 7 * 24 * 60 * minuteMs
      const ad = anAd({ servedAtMs: midnightMs + windowMs - weekMs })
      const other = anAd({ servedAtMs: midnightMs - weekMs / 2, servedAdId: 'b'.repeat(32) })
      await world.loader.ship([
        aClick(other, midnightMs - 20 * minuteMs),
        aClick(ad, midnightMs + 10 * minuteMs),
      ])
      // 2 March is over, 3 March is not.
      await sealBatch({
        warehouse: world.warehouse,
        markets: () => world.markets,
        settledThroughMs: () => midnightMs + 600 * minuteMs,
      })
      await world.warehouse.command('TRUNCATE TABLE touched_span')
      const clicks = async () =>
        (await world.figures()).map((line) => line.replace(/ conversions .*/u, ''))
      const before = await clicks()

      await world.loader.ship([aClick(ad, midnightMs - 10 * minuteMs)])

      assert.deepEqual(before, ['2026-03-02 0/0/1', '2026-03-03 0/0/1'])
      assert.deepEqual(await clicks(), ['2026-03-02 0/0/2'])
    })
  }
}
