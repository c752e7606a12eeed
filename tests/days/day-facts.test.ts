import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DayFacts, factLimits } from '../../src/days/day-facts.ts'
import { areKept } from '../../src/days/kept-revisions.ts'
import { findReportDays, readReportDays } from '../../src/days/sealed-days.ts'
import { sumNextSpan } from '../../src/days/sum-spans.ts'
import { Sweeper } from '../../src/days/sweep.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { aClick, aPurchase, aWorld, anAd } from '../helpers/seal-scenario.ts'
import type { World } from '../helpers/seal-scenario.ts'

const day2Ms = Date.UTC(2026, 2, 2, 12)
const hourMs = 3_600_000
const asked = { startDate: '2026-03-01', endDate: '2026-03-12' }
const usa = { id: 2, code: 'US', currency: 'USD', timeZone: 'America/New_York' }

/** Counts what is read, and does something before each statement that matches. */
function watched(warehouse: Warehouse) {
  const statements: string[] = []
  let interrupt: { readonly pattern: RegExp; readonly work: () => Promise<unknown> } | null = null
  return {
    statements,
    barrier: (tables: Parameters<Warehouse['barrier']>[0]) => warehouse.barrier(tables),
    before(pattern: RegExp, work: () => Promise<unknown>) {
      interrupt = { pattern, work }
    },
    async rows<Row>(sql: string, params?: Parameters<Warehouse['rows']>[1]) {
      statements.push(sql)
      if (interrupt?.pattern.test(sql) === true) {
        const { work } = interrupt
        interrupt = null
        await work()
      }
      return await warehouse.rows<Row>(sql, params)
    },
  }
}

async function aSealedWorld(t: Parameters<typeof aWorld>[0]): Promise<World> {
  const world = await aWorld(t)
  await world.loader.ship([aClick(anAd({ servedAtMs: day2Ms }), day2Ms)])
  await world.settle()
  return world
}

/** As another engine does it that renews a day. */
async function renew(world: World, servedAdId: string): Promise<void> {
  await world.loader.ship([aClick(anAd({ servedAtMs: day2Ms, servedAdId }), day2Ms)])
  await world.settle()
}

test('facts that are kept are what a first reading finds, whatever changed between the questions', async (t) => {
  const world = await aSealedWorld(t)
  const { warehouse, markets } = world
  const facts = new DayFacts(warehouse)
  const sealOf =
    'SELECT * REPLACE (toUInt64(77) AS revision, read_at + 1 AS read_at) FROM sealed_day'
  const steps: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['nothing', () => Promise.resolve()],
    ['late input', () => world.loader.ship([aPurchase({ atMs: day2Ms + hourMs })])],
    ['attribution', () => world.attribute()],
    ['a renewal', () => world.settle()],
    ['spans', () => sumNextSpan({ warehouse, markets: () => markets, settledMs: 0 })],
    ['an earlier day', () => renew(world, 'b'.repeat(32))],
    [
      'a seal',
      () => warehouse.command(`INSERT INTO sealed_day ${sealOf} WHERE day = '2026-03-02'`),
    ],
    ['a seal taken back', () => warehouse.command('DELETE FROM sealed_day WHERE revision = 77')],
    ['a sweep', () => new Sweeper({ warehouse, keepMs: 0 }).sweep()],
    ['a market', async () => void markets.push(usa)],
    ['an unknown market', () => renew({ ...world, markets }, 'c'.repeat(32))],
    ['everything sealed anew', () => warehouse.command('TRUNCATE TABLE sealed_day')],
    [
      'final days',
      () => warehouse.command(`INSERT INTO final_before SELECT '2026-03-05', 'final', now64(6)`),
    ],
  ]

  for (const [what, change] of steps) {
    await change()
    for (const round of [1, 2]) {
      const kept = await findReportDays(facts, markets, asked)
      const first = await readReportDays(warehouse, markets, asked)
      assert.deepEqual(kept, first, `${what}, question ${round}`)
    }
  }
})

test('days before the first event are complete, through the last of them', async (t) => {
  const world = await aSealedWorld(t)
  for (const [startDate, endDate] of [
    ['2019-06-20', '2019-06-30'],
    ['1970-01-02', '1970-01-02'],
  ] as const) {
    const days = await readReportDays(world.warehouse, world.markets, { startDate, endDate })
    assert.equal(days.completeThrough, endDate)
  }
})

test('an equal question reads neither the seals nor the spans again', async (t) => {
  const world = await aSealedWorld(t)
  const warehouse = watched(world.warehouse)
  const facts = new DayFacts(warehouse)
  await findReportDays(facts, world.markets, asked)
  const firstCount = warehouse.statements.length

  await findReportDays(facts, world.markets, asked)

  assert.equal(firstCount, 4)
  assert.equal(warehouse.statements.length - firstCount, 2)
})

test('a renewal that shows while spans are read is read with the spans that follow it', async (t) => {
  const world = await aSealedWorld(t)
  const warehouse = watched(world.warehouse)
  const facts = new DayFacts(warehouse)
  await findReportDays(facts, world.markets, asked)
  warehouse.before(/FROM touched_span\nWHERE from_at </u, () => renew(world, 'b'.repeat(32)))

  const days = await findReportDays(facts, world.markets, asked)

  // Whether the sum was asked before or after the renewal, list and touched days fit together.
  const before = days.renewingDays.length > 0
  const seal = days.seals.find(({ day }) => day === '2026-03-02')
  const now = await readReportDays(world.warehouse, world.markets, asked)
  const renewed = now.seals.find(({ day }) => day === '2026-03-02')
  assert.equal(seal?.revision === renewed?.revision, !before)
})

test('what a report read counts as kept as long as no list has changed, and is looked up otherwise', async (t) => {
  const world = await aSealedWorld(t)
  const warehouse = watched(world.warehouse)
  const days = await findReportDays(new DayFacts(warehouse), world.markets, asked)
  warehouse.statements.length = 0

  const atOnce = await areKept(warehouse, { ...days, spans: [] })
  const atOnceCount = warehouse.statements.length
  await renew(world, 'b'.repeat(32))
  const renewed = await areKept(warehouse, { ...days, spans: [] })
  const renewedCount = warehouse.statements.length - atOnceCount
  await new Sweeper({ warehouse: world.warehouse, keepMs: 0 }).sweep()
  const swept = await areKept(warehouse, { ...days, spans: [] })

  assert.deepEqual([atOnce, renewed, swept], [true, true, false])
  assert.equal(atOnceCount, 1)
  assert.ok(renewedCount > 1)
})

test('lists of more ranges than the limit are forgotten, the one that was used longest ago first', async (t) => {
  const world = await aSealedWorld(t)
  const warehouse = watched(world.warehouse)
  const facts = new DayFacts(warehouse)
  const endDates = Array.from({ length: factLimits.listsMax + 1 }, (_, index) =>
    new Date(day2Ms + index * 24 * hourMs).toISOString().slice(0, 10)
  )
  for (const endDate of endDates) {
    await findReportDays(facts, world.markets, { ...asked, endDate })
  }
  warehouse.statements.length = 0

  await findReportDays(facts, world.markets, { ...asked, endDate: endDates.at(-1) ?? '' })
  const lastCount = warehouse.statements.length
  await findReportDays(facts, world.markets, { ...asked, endDate: endDates[0] ?? '' })

  assert.equal(lastCount, 2)
  assert.equal(warehouse.statements.length - lastCount, 4)
})
