import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migrate } from '../../src/warehouse/migrate.ts'
import { figureColumns } from '../../src/days/day-rows.ts'
import { sumNextSpan } from '../../src/days/sum-spans.ts'
import { Sweeper } from '../../src/days/sweep.ts'
import { readReportDays } from '../../src/days/sealed-days.ts'
import { coverWithSpans, listSpans, readSpans } from '../../src/days/sealed-spans.ts'
import type { StoredSpan } from '../../src/days/sealed-spans.ts'
import { aClick, aPurchase, aWorld, aWorldIn, anAd } from '../helpers/seal-scenario.ts'
import type { World } from '../helpers/seal-scenario.ts'
import { aWarehouseFolder } from '../helpers/warehouse-folder.ts'

const hourMs = 3_600_000
const day2Ms = Date.UTC(2026, 2, 2, 12)
const wholeWeek = { startDate: '2026-03-01', endDate: '2026-03-12', isByDay: false }

async function sumAll(world: World): Promise<void> {
  while (await sumNextSpan({ ...world, markets: () => world.markets, settledMs: 0 }));
}

function aSpan(firstDay: string, dayCount: number): StoredSpan {
  return {
    unit: 1,
    firstDay,
    dayCount,
    revision: 2n,
    rollupVersion: 1,
    dayRevisions: Array.from({ length: dayCount }, () => 1n),
  }
}

/** Which spans a report over the days reads. */
async function listCover(world: World, startDate: string, endDate: string) {
  const days = await readReportDays(world.warehouse, world.markets, { startDate, endDate })
  const stored = await readSpans(world.warehouse, { first: startDate, last: endDate })
  const { spans } = coverWithSpans(days.seals, stored)
  return spans.map(({ unit, firstDay, dayCount }) => `${unit} ${firstDay} ${dayCount}`)
}

test('weeks begin on Monday, months end on their last day, and none reaches out of the range', () => {
  assert.deepEqual(
    listSpans('2026-01-31', '2026-03-01').map(({ firstDay, dayCount }) => [firstDay, dayCount]),
    [
      ['2026-02-01', 28],
      ['2026-02-02', 7],
      ['2026-02-09', 7],
      ['2026-02-16', 7],
      ['2026-02-23', 7],
    ]
  )
  assert.deepEqual(listSpans('2024-02-01', '2024-02-29')[0], {
    firstDay: '2024-02-01',
    dayCount: 29,
  })
  assert.deepEqual(listSpans('2026-12-01', '2026-12-31')[0], {
    firstDay: '2026-12-01',
    dayCount: 31,
  })
  assert.deepEqual(listSpans('2026-03-03', '2026-03-08'), [])
})

test('a month stands before the weeks in it, and no day is covered twice', () => {
  const days = ['2026-01-26', '2026-01-27', '2026-01-28', '2026-01-29', '2026-01-30', '2026-01-31']
  const february = Array.from({ length: 28 }, (_, index) => new Date(Date.UTC(2026, 1, 1 + index)))
  const seals = [...days, ...february.map((day) => day.toISOString().slice(0, 10))].map((day) => ({
    unit: 1,
    day,
    revision: 1n,
    rollupVersion: 1,
  }))

  const cover = coverWithSpans(seals, [
    aSpan('2026-01-26', 7),
    aSpan('2026-02-02', 7),
    aSpan('2026-02-01', 28),
  ])

  assert.deepEqual(
    cover.spans.map(({ firstDay }) => firstDay),
    ['2026-02-01']
  )
  assert.deepEqual(
    cover.seals.map(({ day }) => day),
    days
  )
})

test('a report reads the week in place of its days and gives the same figures', async (t) => {
  const world = await aWorld(t)
  const ad = anAd({ servedAtMs: day2Ms })
  await world.loader.ship([
    aClick(ad, day2Ms),
    aPurchase({ atMs: day2Ms + hourMs }),
    aPurchase({ atMs: day2Ms + 80 * hourMs, transactionId: 't-2', deliveryId: 'e'.repeat(32) }),
  ])
  await world.settle()
  const before = await world.figures(wholeWeek)
  await sumAll(world)

  assert.deepEqual(before, ['null 0/0/1 conversions 2 units 4 value 40 spend 0.25 sealed'])
  assert.deepEqual(await world.figures(wholeWeek), before)
  assert.deepEqual(await listCover(world, '2026-03-01', '2026-03-12'), ['1 2026-03-02 7'])
  // A range that cuts the week reads days.
  assert.deepEqual(await listCover(world, '2026-03-03', '2026-03-12'), [])
})

test('a day that is sealed again voids its week at once, and the week is summed again', async (t) => {
  const world = await aWorld(t)
  const ad = anAd({ servedAtMs: day2Ms })
  await world.loader.ship([aClick(ad, day2Ms)])
  await world.settle()
  await sumAll(world)
  await world.loader.ship([aPurchase({ atMs: day2Ms + hourMs })])
  await world.settle()

  const figures = ['null 0/0/1 conversions 1 units 2 value 20 spend 0.25 sealed']
  assert.deepEqual(await listCover(world, '2026-03-01', '2026-03-08'), [])
  assert.deepEqual(await world.figures(wholeWeek), figures)
  await sumAll(world)
  assert.equal((await listCover(world, '2026-03-01', '2026-03-08')).length, 1)
  assert.deepEqual(await world.figures(wholeWeek), figures)
})

test('a week is not summed while one of its days was sealed a moment ago', async (t) => {
  const world = await aWorld(t)
  await world.loader.ship([aClick(anAd({ servedAtMs: day2Ms }), day2Ms)])
  await world.settle()

  const hasMore = await sumNextSpan({ ...world, markets: () => world.markets })

  assert.equal(hasMore, false)
  assert.deepEqual(await listCover(world, '2026-03-01', '2026-03-12'), [])
})

test('two engines that sum the same week do not add up, and what does not count is swept', async (t) => {
  const world = await aWorld(t)
  await world.loader.ship([aClick(anAd({ servedAtMs: day2Ms }), day2Ms)])
  await world.settle()

  const deps = { ...world, markets: () => world.markets, settledMs: 0 }
  await Promise.all([sumNextSpan(deps), sumNextSpan(deps)])

  const figures = ['null 0/0/1 conversions 0 units 0 value 0 spend 0.25 sealed']
  assert.deepEqual(await world.figures(wholeWeek), figures)
  await new Sweeper({ warehouse: world.warehouse, keepMs: 0, orphanMs: 0 }).sweep()
  const [left] = await world.warehouse.rows<{ revisions: number }>(
    'SELECT uniqExact(revision) AS revisions FROM product_span'
  )
  assert.equal(left?.revisions, 1)
  assert.deepEqual(await world.figures(wholeWeek), figures)
})

/** All rows of weeks and months, without what tells one sum of a week from another. */
async function spanRows({ warehouse }: World) {
  return await warehouse.rows<Record<string, unknown>>(
    `SELECT advertiser_id, unit, first_day, day_count, market_id, publisher_id, campaign_id, ad_group_id, gtin_key,
       ${figureColumns.map((name) => `toString(${name}) AS ${name}_text`).join(', ')}
     FROM product_span ORDER BY ALL`
  )
}

test('a week that is summed in parts has the same rows as one that is summed at once', async (t) => {
  const world = await aWorld(t)
  const clicks = Array.from({ length: 40 }, (_, index) => {
    const servedAtMs = day2Ms + (index % 3) * 24 * hourMs
    const gtin = index % 4 === 0 ? '4006381333931' : '04006381333931'
    const advertiserId = 1 + (index % 2)
    const campaignId = 1 + (index % 7)
    const servedAdId = index.toString(16).padStart(32, '5')
    return aClick(
      anAd({ servedAdId, servedAtMs, gtin, advertiserId, campaignId }),
      servedAtMs + index
    )
  })
  await world.loader.ship([...clicks, aPurchase({ atMs: day2Ms + hourMs })])
  await world.settle()

  await sumAll(world)
  const whole = await spanRows(world)
  await world.warehouse.command('TRUNCATE TABLE product_span')
  await world.warehouse.command('TRUNCATE TABLE sealed_span')
  const deps = { ...world, markets: () => world.markets, settledMs: 0, rowsMax: 3 }
  while (await sumNextSpan(deps));

  assert.ok(whole.length >= 14, 'each advertiser has rows of several campaigns')
  assert.deepEqual(await spanRows(world), whole)
})

test('a week of 420,000 rows of one advertiser is summed with 200 MB', async (t) => {
  const folder = aWarehouseFolder(t)
  const filled = folder.open()
  await migrate(filled)
  const world = aWorldIn(filled)
  await world.loader.ship([aClick(anAd({ servedAtMs: day2Ms }), day2Ms)])
  await world.settle()
  await filled.command(`
    INSERT INTO product_day (advertiser_id, unit, day, revision, market_id, publisher_id, campaign_id, ad_group_id,
      gtin_key, loads, click_gtin, view_gtin, best_gtin, read_at)
    SELECT 1, 1, day, revision, 1, 10, number % 50, number % 500,
      leftPad(toString(sipHash64(day, number)), 20, '0') AS gtin, 2, gtin, gtin, gtin, read_at
    FROM (SELECT * FROM sealed_day WHERE unit = 1 AND day >= '2026-03-02' AND day <= '2026-03-08') AS sealed
      CROSS JOIN numbers(60000) AS rows`)
  await filled.close()
  const warehouse = folder.open({
    statementLimits: { memoryBytesMax: 200_000_000, secondsMax: 3_600 },
  })

  await sumAll({ ...world, warehouse })

  const [sum] = await warehouse.rows<{ rowCount: number; keyCount: number; loads: string }>(
    `SELECT count() AS rowCount, uniqExact(gtin_key) AS keyCount, toString(sum(loads)) AS loads FROM product_span`
  )
  assert.deepEqual(sum, { rowCount: 420_001, keyCount: 420_001, loads: '840000' })
})
