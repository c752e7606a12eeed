import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { dayOf } from '../../src/domain/day.ts'
import { eventVerdict } from '../../src/domain/windows.ts'
import { sealBatch } from '../../src/days/seal.ts'
import type { CatalogNames } from '../../src/catalog/catalog-names.ts'
import { KeptPages } from '../../src/reports/kept-pages.ts'
import { createReportRunner } from '../../src/reports/run-report.ts'
import { createTrafficQualityReader, uncountedVerdicts } from '../../src/reports/traffic-quality.ts'
import type { TrafficQualityRow } from '../../src/reports/traffic-quality.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { generateHistory, seededRandom } from '../helpers/history.ts'
import type { HistoryEvent } from '../helpers/history.ts'
import { createHistoryLoader } from '../helpers/history-warehouse.ts'
import { withSameIds } from '../helpers/same-ids.ts'
import { aClick, anAd } from '../helpers/seal-scenario.ts'
import { openTestWarehouse } from '../helpers/test-warehouse.ts'
import { openKeptPages } from '../helpers/kept-pages.ts'

const seed = Number(process.env['SHELFTRACE_TEST_SEED'] ?? Date.now() % 1_000_000)
// Market 2 is missing, so that a part of every history stands in an unknown market, in UTC.
const markets = [
  { id: 1, code: 'DE', currency: 'EUR', timeZone: 'Europe/Berlin' },
  { id: 3, code: 'US', currency: 'EUR', timeZone: 'America/New_York' },
]
const catalog: CatalogNames = {
  markets: () => markets,
  publishers: () => [{ id: 10, name: 'Example Shop' }],
  campaigns: () => [],
  adGroups: () => [],
}
const range = { startDate: '2026-02-24', endDate: '2026-04-10' }
const day2Ms = Date.UTC(2026, 2, 2, 12)
const hourMs = 3_600_000
const botAgent = 'Googlebot/2.1 (+http://www.google.com/bot.html)'

async function readRows(
  warehouse: Warehouse,
  advertiserId: number,
  asked: { readonly startDate: string; readonly endDate: string } = range
): Promise<readonly TrafficQualityRow[]> {
  const keptPages = openKeptPages()
  const read = createTrafficQualityReader({ warehouse, catalog: () => catalog, keptPages })
  const { signal } = new AbortController()
  const whole = { ...asked, page: 0, limit: 10_000 }
  const result = await read({ advertiserId, request: whole, keyId: 'test', signal })
  assert.equal(result.totalRows, result.rows.length)
  const paged: TrafficQualityRow[] = []
  for (let page = 0; paged.length < result.totalRows; page += 1) {
    const request = { ...asked, page, limit: 100 }
    paged.push(...(await read({ advertiserId, request, keyId: 'test', signal })).rows)
  }
  assert.deepEqual(paged, result.rows)
  await keptPages.close()
  return result.rows
}

const print = (row: TrafficQualityRow) => {
  const { date, market, publisherId, kind, counted, uncounted } = row
  const figures = uncountedVerdicts.map((verdict) => uncounted.get(verdict))
  return [date, market, publisherId, kind, counted, ...figures].join(' ')
}

/** Written from docs/what-counts.md: of one publisher's served ad, kind and verdict only the earliest receipt is told. */
function expectedRows(
  events: readonly HistoryEvent[],
  advertiserId: number,
  { startDate, endDate } = range
): readonly string[] {
  const first = new Map<string, HistoryEvent & { readonly verdict: string }>()
  for (const event of events.filter(({ ad }) => ad.advertiserId === advertiserId)) {
    const age = eventVerdict(event.kind, event.ad.servedAtMs, event.receivedAtMs)
    const verdict = event.userAgent === botAgent ? 'bot' : event.prefetch ? 'prefetch' : age
    const key = `${event.ad.publisherId} ${event.ad.servedAdId} ${event.kind} ${verdict}`
    const known = first.get(key)
    if (known === undefined || event.receivedAtMs < known.receivedAtMs) {
      first.set(key, { ...event, verdict })
    }
  }
  const counts = new Map<string, Record<string, number>>()
  for (const { ad, kind, verdict, receivedAtMs } of first.values()) {
    const market = markets.find(({ id }) => id === ad.marketId)
    const day = dayOf(receivedAtMs, market?.timeZone ?? 'UTC')
    if (day < startDate || day > endDate) continue
    const code = market?.code ?? String(ad.marketId)
    const key = `${day} ${code} ${ad.publisherId} ${kind.toUpperCase()}`
    const figures = counts.get(key) ?? {}
    figures[verdict] = (figures[verdict] ?? 0) + 1
    counts.set(key, figures)
  }
  const columns = ['counted', ...uncountedVerdicts]
  return [...counts].map(([key, figures]) =>
    [key, ...columns.map((column) => figures[column] ?? 0)].join(' ')
  )
}

async function readReportCounts(warehouse: Warehouse, advertiserId: number) {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-kept-'))
  const keptPages = new KeptPages({ folder, clock: Date.now })
  const run = createReportRunner({ warehouse, catalog: () => catalog, keptPages })
  const result = await run({
    advertiserId,
    keyId: 'test',
    signal: new AbortController().signal,
    request: {
      filters: [],
      ...range,
      attributionProfile: 'CLK_14_DAYS',
      page: 0,
      limit: 10_000,
      sortType: 'ASC',
      dateBreakdown: true,
      orderBy: 'DATE',
    },
  })
  const sums = new Map<string, number>()
  for (const row of result.rows) {
    for (const [kind, count] of Object.entries({
      LOAD: row.loads,
      IMPRESSION: row.impressions,
      CLICK: row.clicks,
    })) {
      const key = `${row.date} ${row.market} ${row.publisherId} ${kind}`
      if (count !== '0') sums.set(key, (sums.get(key) ?? 0) + Number(count))
    }
  }
  await keptPages.close()
  return [...sums].map(([key, count]) => `${key} ${count}`).toSorted()
}

test('every figure equals the recomputation from the events, and COUNTED what the report says, on open days and on sealed ones', async (t) => {
  const warehouse = await openTestWarehouse(t)
  const random = seededRandom(seed)
  const histories = Array.from({ length: 5 }, (_, index) =>
    withSameIds(
      generateHistory(random, { publisherId: 100 + index * 100, startMs: Date.UTC(2026, 1, 20) }),
      random
    )
  )
  const loader = createHistoryLoader(warehouse, 0)
  for (const { events } of histories) await loader.ship([...events, ...events.slice(0, 3)])
  const compare = async () => {
    let rowCount = 0
    for (const { events, publisherId } of histories) {
      for (const advertiserId of [publisherId * 10 + 1, publisherId * 10 + 2]) {
        const rows = await readRows(warehouse, advertiserId)
        const counted = rows
          .filter((row) => row.counted > 0)
          .map((row) => `${row.date} ${row.market} ${row.publisherId} ${row.kind} ${row.counted}`)

        assert.deepEqual(rows.map(print).toSorted(), expectedRows(events, advertiserId).toSorted())
        assert.deepEqual(counted.toSorted(), await readReportCounts(warehouse, advertiserId))
        rowCount += rows.length
      }
    }
    return rowCount
  }

  const open = await compare()
  const deps = {
    warehouse,
    markets: () => markets,
    settledThroughMs: () => Date.UTC(2026, 2, 28),
  }
  while ((await sealBatch(deps)).hasMore);
  const half = await compare()

  t.diagnostic(`seed ${seed}: ${open} rows`)
  assert.ok(open > 20)
  assert.equal(half, open)
})

test('an event that does not count stands on the day of its receipt, however far from its serving', async (t) => {
  const warehouse = await openTestWarehouse(t)
  const old = anAd({ servedAdId: '1'.repeat(32), servedAtMs: Date.UTC(2021, 0, 1) })
  const coming = anAd({ servedAdId: '2'.repeat(32), servedAtMs: Date.UTC(2031, 0, 1) })
  const midnightMs = Date.UTC(2026, 2, 2, 23)
  await createHistoryLoader(warehouse, 0).ship([
    aClick(old, day2Ms),
    aClick(old, day2Ms + 50 * hourMs),
    aClick(coming, day2Ms),
    { ...aClick(old, midnightMs), userAgent: botAgent },
    { ...aClick(coming, midnightMs - 1), prefetch: true },
  ])

  const rows = await readRows(warehouse, 1)
  const nobody = await readRows(warehouse, 2)
  const before = await readRows(warehouse, 1, { startDate: '2026-02-01', endDate: '2026-03-01' })

  // 23:00 in UTC is midnight in Berlin. The expired click of two days later repeats that of 2 March.
  assert.deepEqual(rows.map(print), [
    '2026-03-02 DE 10 CLICK 0 0 1 1 1 0 0 0',
    '2026-03-03 DE 10 CLICK 0 1 0 0 0 0 0 0',
  ])
  assert.equal(rows[0]?.publisherName, 'Example Shop')
  assert.deepEqual([nobody, before], [[], []])
})
