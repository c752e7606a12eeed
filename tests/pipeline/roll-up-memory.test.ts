import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../../src/errors.ts'
import { SealBudget } from '../../src/days/roll-up.ts'
import { sealBatch } from '../../src/days/seal.ts'
import { createSeriesReader } from '../../src/reports/series.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { aWorld } from '../helpers/seal-scenario.ts'
import type { World } from '../helpers/seal-scenario.ts'

const eventCount = 120_000
const bytesMax = 100_000_000

/** A day of one advertiser, in which nearly every event is a row of its own: a third of each kind. */
async function aLargeDay({ warehouse }: World): Promise<void> {
  await warehouse.command(
    `INSERT INTO ad_event_in
     SELECT lower(hex(sipHash128(number))) AS served_ad_id, {atMs:Int64} + number AS served_at_ms,
       served_at_ms + 1000 AS received_at_ms, ['load', 'impression', 'click'][number % 3 + 1] AS kind,
       'counted' AS verdict, 10 AS publisher_id, 101 AS site_id, 1 AS market_id, 1 AS advertiser_id,
       toInt32(number % 50) AS campaign_id, toInt32(number % 500) AS ad_group_id,
       leftPad(toString(sipHash64(number) % 10000000), 14, '0') AS gtin, gtin AS gtin_key, '' AS group_id,
       '' AS user_identity, '' AS login_identity, 'EUR' AS currency,
       if(kind = 'click', toDecimal128('0.25', 9), toDecimal128(0, 9)) AS charge, now64(6) AS shipped_at, '' AS data_centre_list
     FROM numbers({eventCount:UInt64})`,
    { atMs: Date.UTC(2026, 2, 2, 12), eventCount }
  )
}

/** With another bound of memory in the place of each roll-up's own. */
function withLessMemory(warehouse: Warehouse): Warehouse {
  return {
    command: async (sql, params) => {
      const bounded = sql.replace(/max_memory_usage = \d+/u, `max_memory_usage = ${bytesMax}`)
      assert.equal(sql.includes('INSERT INTO product_day ('), bounded !== sql)
      await warehouse.command(bounded, params)
    },
    rows: (sql, params) => warehouse.rows(sql, params),
    stream: (sql, params, signal) => warehouse.stream(sql, params, signal),
    insert: (table, lines, columns) => warehouse.insert(table, lines, columns),
    barrier: (tables) => warehouse.barrier(tables),
    close: () => Promise.resolve(),
  }
}

/** Of the day: which of its figures are sealed, and what they are. */
async function readDay({ warehouse, markets }: World) {
  const catalog = {
    markets: () => markets,
    publishers: () => [],
    campaigns: () => [],
    adGroups: () => [],
  }
  const read = createSeriesReader({ warehouse, catalog: () => catalog })
  const { days, completeThrough } = await read({
    advertiserId: 1,
    signal: new AbortController().signal,
    request: {
      filters: [],
      startDate: '2026-03-02',
      endDate: '2026-03-02',
      attributionProfile: 'CLK_14_DAYS',
      page: 0,
      limit: 1,
      sortType: 'ASC',
      dateBreakdown: true,
      orderBy: 'DATE',
      interval: 'DAY',
    },
  })
  return { days, completeThrough }
}

test('a day that one statement has no memory for is sealed in parts, with the same figures', async (t) => {
  const world = await aWorld(t)
  await aLargeDay(world)
  const open = await readDay(world)
  const budget = new SealBudget(eventCount)
  const seal = () =>
    sealBatch({
      warehouse: withLessMemory(world.warehouse),
      markets: () => world.markets,
      settledThroughMs: () => Date.UTC(2026, 2, 14),
      budget,
    })

  const refusal = await seal().catch((error: unknown) => error)
  const cutTo = budget.eventsMax
  for (let round = 0; round < 5; round++) await seal().catch(() => null)
  const sealed = await readDay(world)

  assert.ok(refusal instanceof ServiceError)
  assert.equal(refusal.details['clickhouseCode'], 241)
  assert.equal(cutTo, eventCount / 2)
  assert.deepEqual([open.completeThrough, sealed.completeThrough], [null, '2026-03-02'])
  assert.deepEqual(sealed.days, open.days)
  const [day] = sealed.days
  assert.ok(day !== undefined)
  const { loads, impressions, clicks } = day
  assert.deepEqual([loads, impressions, clicks].map(Number), Array(3).fill(eventCount / 3))
})
