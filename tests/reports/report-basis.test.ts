import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { BasisReader } from '../../src/reports/report-basis.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { aClick, aWorld, anAd } from '../helpers/seal-scenario.ts'
import type { World } from '../helpers/seal-scenario.ts'

const day2Ms = Date.UTC(2026, 2, 2, 12)
const asked = { startDate: '2026-03-01', endDate: '2026-03-20' }
const useSpans = () => true

/** A reader, the statements that it sends, and a way to hold the next one back. */
function aReader({ warehouse, markets }: World) {
  const statements: string[] = []
  let gate: Promise<unknown> = Promise.resolve()
  const watched: Pick<Warehouse, 'rows' | 'barrier'> = {
    barrier: (tables) => warehouse.barrier(tables),
    async rows<Row>(sql: string, params?: Parameters<Warehouse['rows']>[1]) {
      statements.push(sql)
      const rows = await warehouse.rows<Row>(sql, params)
      await gate
      return rows
    },
  }
  const catalog = {
    markets: () => [...markets],
    publishers: () => [],
    campaigns: () => [],
    adGroups: () => [],
  }
  return {
    reader: new BasisReader({ warehouse: watched, catalog: () => catalog }),
    countOf: (text: string) => statements.filter((sql) => sql.includes(text)).length,
    forgetStatements: () => (statements.length = 0),
    /** What was read already is not given out before the function that this returns is called. */
    hold: (): (() => void) => {
      const holding = new AbortController()
      gate = once(holding.signal, 'abort')
      return () => holding.abort()
    },
  }
}

async function aSealedWorld(t: Parameters<typeof aWorld>[0]): Promise<World> {
  const world = await aWorld(t)
  await world.loader.ship([aClick(anAd({ servedAtMs: day2Ms }), day2Ms)])
  await world.settle()
  return world
}

test('many reports that are asked at once read the facts of their days twice', async (t) => {
  const world = await aSealedWorld(t)
  const { reader, countOf, forgetStatements } = aReader(world)
  await reader.read(asked, useSpans)
  forgetStatements()

  const all = await Promise.all(Array.from({ length: 8 }, () => reader.read(asked, useSpans)))
  const kept = await Promise.all(all.map((basis) => reader.areRowsKept(basis)))

  for (const basis of all) assert.deepEqual(basis.days, all[0]?.days)
  assert.ok((all[0]?.days.seals.length ?? 0) > 0)
  assert.equal(all[0]?.days.hasOpenDays, true)
  assert.deepEqual(kept, Array(8).fill(true))
  assert.equal(countOf("SELECT 'touched'"), 2)
  assert.equal(countOf("SELECT 'sealed' AS found, 0 AS unit"), 2)
  assert.ok(countOf('FROM rate FINAL') <= 3)
})

test('what was sealed before a report is asked is in it, whatever others are reading', async (t) => {
  const world = await aSealedWorld(t)
  const { reader, hold } = aReader(world)
  const before = await reader.read(asked, useSpans)

  const release = hold()
  const early = reader.read(asked, useSpans)
  const click = aClick(anAd({ servedAtMs: day2Ms, servedAdId: 'b'.repeat(32) }), day2Ms)
  await world.loader.ship([click])
  await world.settle()
  const late = reader.read(asked, useSpans)
  release()

  const revisions = ({ days }: typeof before) => days.seals.map(({ revision }) => revision)
  assert.deepEqual(revisions(await early), revisions(before))
  assert.notDeepEqual(revisions(await late), revisions(before))
  const latest = await aReader(world).reader.read(asked, useSpans)
  assert.deepEqual(revisions(await late), revisions(latest))
})

test('a market that is new to the catalog is in the report that is asked next', async (t) => {
  const world = await aSealedWorld(t)
  const { reader, hold } = aReader(world)
  await reader.read(asked, useSpans)

  const release = hold()
  const early = reader.read(asked, useSpans)
  world.markets.push({ id: 2, code: 'US', currency: 'USD', timeZone: 'America/New_York' })
  const late = reader.read(asked, useSpans)
  release()

  const marketIds = ({ days }: Awaited<typeof early>) => days.open.map(({ market }) => market.id)
  assert.equal(marketIds(await early).includes(2), false)
  assert.equal(marketIds(await late).includes(2), true)
})
