import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { listUnits } from '../../src/days/market-days.ts'
import { definitionOf, readLatestSeals } from '../../src/days/seals.ts'
import { readTouchedDays } from '../../src/days/touched-days.ts'
import type { TouchedDay } from '../../src/days/touched-days.ts'
import { dayBounds, listDays } from '../../src/domain/day.ts'
import { formatInstant } from '../../src/warehouse/instant.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { openTestWarehouse } from '../helpers/test-warehouse.ts'

const markets = [
  { id: 1, code: 'DE', currency: 'EUR', timeZone: 'Europe/Berlin' },
  { id: 2, code: 'US', currency: 'USD', timeZone: 'America/New_York' },
]
// The clocks of Berlin change on 29 March.
const days = listDays('2026-03-26', '2026-04-02')
const range = { markets, first: '2026-03-27', last: '2026-04-01' }
const hourMs = 3_600_000
const beginMs = Date.parse('2026-03-26')

interface Seal {
  readonly unit: number
  readonly day: string
  readonly fromMs: number
  readonly toMs: number
  readonly readAtMs: number
  readonly isValid: boolean
}

interface Span {
  readonly marketId: number
  readonly fromMs: number
  readonly toMs: number
  readonly untilMs: number
}

const anySeals: fc.Arbitrary<readonly Seal[]> = fc
  .tuple(
    ...listUnits(markets).flatMap((unit) =>
      days.map((day) => {
        const readAfter = fc.record({ hours: fc.integer({ min: 2, max: 150 }), isValid: aMostly() })
        return fc.option(readAfter, { freq: 5 }).map((read) => {
          const bounds = dayBounds(day, unit.timeZone)
          if (read === null) return []
          const { hours, isValid } = read
          return [
            { unit: unit.id, day, ...bounds, readAtMs: bounds.toMs + hours * hourMs, isValid },
          ]
        })
      })
    )
  )
  .map((seals) => seals.flat())

function aMostly(): fc.Arbitrary<boolean> {
  return fc.integer({ min: 0, max: 9 }).map((one) => one > 0)
}

const anySpan: fc.Arbitrary<Span> = fc
  .record({
    marketId: fc.constantFrom(-1, 1, 2, 77, 78),
    fromHour: fc.integer({ min: -40, max: 220 }),
    hours: fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 250 })),
    untilHours: fc.integer({ min: 0, max: 200 }),
    untilMs: fc.integer({ min: -1, max: 1 }),
  })
  .map(({ marketId, fromHour, hours, untilHours, untilMs }) => {
    const fromMs = beginMs + fromHour * hourMs
    const toMs = fromMs + hours * hourMs
    return { marketId, fromMs, toMs, untilMs: fromMs + untilHours * hourMs + untilMs }
  })

async function store(warehouse: Warehouse, seals: readonly Seal[], spans: readonly Span[]) {
  await warehouse.command('TRUNCATE TABLE sealed_day')
  await warehouse.command('TRUNCATE TABLE touched_span')
  const units = listUnits(markets)
  const lines = seals.map(({ unit, day, fromMs, toMs, readAtMs, isValid }, index) => {
    const market = units.find(({ id }) => id === unit) ?? units[0]
    return JSON.stringify({
      unit,
      day,
      from_at: formatInstant(fromMs),
      to_at: formatInstant(toMs),
      revision: String(index + 1),
      read_at: formatInstant(readAtMs),
      sealed_at: formatInstant(readAtMs),
      definition: isValid && market !== undefined ? definitionOf(market, markets) : 'another',
      rates: '',
      unknown_ids: '',
      rollup_version: 1,
    })
  })
  await warehouse.insert('sealed_day', Buffer.from(lines.map((line) => `${line}\n`).join('')))
  if (spans.length === 0) return
  await warehouse.command(
    `INSERT INTO touched_span (from_at, to_at, market_id, touched_until)
     SELECT toDateTime(s.1), toDateTime(s.2), s.3, fromUnixTimestamp64Milli(s.4)
     FROM (SELECT arrayJoin(arrayZip(
       {from:Array(UInt32)}, {to:Array(UInt32)}, {marketIds:Array(Int32)}, {until:Array(Int64)})) AS s)`,
    {
      from: spans.map(({ fromMs }) => fromMs / 1_000),
      to: spans.map(({ toMs }) => toMs / 1_000 - 1),
      marketIds: spans.map(({ marketId }) => marketId),
      until: spans.map(({ untilMs }) => untilMs),
    }
  )
}

function unitOf(marketId: number): number {
  return marketId > 2 ? 0 : marketId
}

/** By the definition, one seal and one hour after the other. */
function touchedByDefinition(
  seals: readonly Seal[],
  spans: readonly Span[]
): readonly TouchedDay[] {
  const valid = seals.filter(
    ({ isValid, day }) => isValid && day >= range.first && day <= range.last
  )
  const isMissed = (seal: Seal, { marketId, fromMs, toMs, untilMs }: Span): boolean =>
    (marketId === -1 || unitOf(marketId) === seal.unit) &&
    fromMs < seal.toMs &&
    toMs > seal.fromMs &&
    latestUntil(spans, { marketId, fromMs, toMs, untilMs }) > seal.readAtMs
  const isTorn = (seal: Seal, span: Span): boolean => {
    const own = valid.filter((one) => one.unit === seal.unit && isMissed(one, span))
    for (let atMs = span.fromMs; atMs < span.toMs; atMs += hourMs) {
      const isAsked =
        atMs >= Date.parse(range.first) + 12 * hourMs && atMs < Date.parse(range.last) + 10 * hourMs
      if (isAsked && !own.some(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs)) return true
    }
    return false
  }
  return valid.flatMap((seal) => {
    const missed = spans.filter((span) => isMissed(seal, span))
    if (missed.length === 0) return []
    const links = missed.filter(({ fromMs, toMs }) => toMs - fromMs > hourMs)
    return [
      {
        unit: seal.unit,
        day: seal.day,
        touchedUntilMs: Math.max(...missed.map((span) => latestUntil(spans, span))),
        readAtMs: seal.readAtMs,
        fromMs: seal.fromMs,
        toMs: seal.toMs,
        linkedFromMs: links.length === 0 ? 0 : Math.min(...links.map(({ fromMs }) => fromMs)),
        linkedToMs: Math.max(0, ...links.map(({ toMs }) => toMs)),
        torn: links.some((span) => isTorn(seal, span)) ? 1 : 0,
      },
    ]
  })
}

/** Equal spans are one, touched until the latest instant; all unknown markets are one unit. */
function latestUntil(spans: readonly Span[], of: Span): number {
  const equal = spans.filter(
    ({ marketId, fromMs, toMs }) =>
      unitOf(marketId) === unitOf(of.marketId) && fromMs === of.fromMs && toMs === of.toMs
  )
  return Math.max(...equal.map(({ untilMs }) => untilMs))
}

function inOrder(found: readonly TouchedDay[]): readonly TouchedDay[] {
  return found.toSorted((a, b) => a.day.localeCompare(b.day) || a.unit - b.unit)
}

// The spans that are left out where they are read must never be among those that a reading missed.
test('no day is missed that was touched after its reading, and none is torn that lies with all others of its spans', async (t) => {
  const warehouse = await openTestWarehouse(t)
  let touchedCount = 0
  let tornCount = 0
  const law = fc.asyncProperty(
    anySeals,
    fc.array(anySpan, { minLength: 8, maxLength: 30 }),
    async (seals, spans) => {
      await store(warehouse, seals, spans)

      const latest = await readLatestSeals(warehouse, range)
      const found = await readTouchedDays(warehouse, { ...range, seals: latest })

      const expected = inOrder(touchedByDefinition(seals, spans))
      assert.deepEqual(found, expected)
      touchedCount += expected.length
      tornCount += expected.filter(({ torn }) => torn === 1).length
    }
  )

  await fc.assert(law, { numRuns: 25 })

  assert.ok(touchedCount > 50, String(touchedCount))
  assert.ok(tornCount > 10 && tornCount < touchedCount, String(tornCount))
})
