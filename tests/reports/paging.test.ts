import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import type { OrderByColumn, ReportRequest } from '../../src/contract/report-request.ts'
import { orderByColumns } from '../../src/contract/report-request.ts'
import type { CatalogNames } from '../../src/catalog/catalog-names.ts'
import { keptLimits, KeptPages } from '../../src/reports/kept-pages.ts'
import type { ReportRow, RunReport } from '../../src/reports/report.ts'
import { createReportRunner } from '../../src/reports/run-report.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { createHistoryLoader } from '../helpers/history-warehouse.ts'
import type { HistoryEvent } from '../helpers/history.ts'
import { openTestWarehouse } from '../helpers/test-warehouse.ts'
import { aReportRequest } from '../helpers/report-request.ts'

const atMs = Date.UTC(2026, 2, 2, 12)
let adCount = 0

function anEvent(kind: HistoryEvent['kind'], product: number): HistoryEvent {
  adCount += 1
  return {
    kind,
    receivedAtMs: atMs + 1_000,
    userAgent: '',
    prefetch: false,
    ad: {
      servedAdId: adCount.toString(16).padStart(32, '0'),
      servedAtMs: atMs,
      publisherId: 10 + (product % 2),
      siteId: 101,
      marketId: 1,
      advertiserId: 1,
      campaignId: 1001 + (product % 3),
      adGroupId: 5001,
      gtin: `sku-${String(product).padStart(2, '0')}`,
      groupId: '',
      userId: `user-${adCount}`,
      userLoggedInId: '',
      currency: 'EUR',
      costPerClickMicros: BigInt(10_000 * (1 + (product % 4))),
      costPerMilleMicros: 0n,
    },
  }
}

interface World {
  readonly warehouse: Warehouse
  readonly runReport: RunReport
  readonly clock: { nowMs: number }
  readonly folder: string
  readonly keptPages: KeptPages
  readonly catalog: CatalogNames
}

async function aWorld(t: TestContext, bytesMax: number = keptLimits.bytesMax): Promise<World> {
  const warehouse = await openTestWarehouse(t)
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-kept-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const clock = { nowMs: atMs }
  const keptPages = new KeptPages({
    folder,
    clock: () => clock.nowMs,
    limits: { bytesMax },
  })
  const catalog = {
    markets: () => [{ id: 1, code: 'DE', currency: 'EUR', timeZone: 'Europe/Berlin' }],
    publishers: () => [
      { id: 10, name: 'Zeta' },
      { id: 11, name: '' },
    ],
    campaigns: () => [{ id: 1001, name: 'Spring' }],
    adGroups: () => [],
  }
  const runReport = createReportRunner({ warehouse, catalog: () => catalog, keptPages })
  const events = Array.from({ length: 23 }, (_, product) => [
    ...Array.from({ length: 1 + (product % 3) }, () => anEvent('impression', product)),
    ...Array.from({ length: product % 2 }, () => anEvent('click', product)),
  ]).flat()
  await createHistoryLoader(warehouse, 2_000).ship(events)
  return { warehouse, runReport, clock, folder, keptPages, catalog }
}

const base = aReportRequest()

async function read(
  world: World,
  request: Partial<ReportRequest>,
  keyId = 'key-1'
): Promise<{ rows: readonly ReportRow[]; totalRows: number; resultId?: string }> {
  const result = await world.runReport({
    advertiserId: 1,
    request: { ...base, ...request },
    keyId,
    signal: new AbortController().signal,
  })
  const { rows, totalRows, resultId } = result
  return { rows, totalRows, ...(resultId !== undefined && { resultId }) }
}

async function readPages(world: World, request: Partial<ReportRequest>) {
  const pages: ReportRow[] = []
  for (let page = 0; page < 4; page += 1) {
    pages.push(...(await read(world, { ...request, limit: 7, page })).rows)
  }
  return pages
}

test('the pages of every order and direction, put together, are the whole report', async (t) => {
  const world = await aWorld(t)

  for (const orderBy of orderByColumns) {
    for (const sortType of ['ASC', 'DESC'] as const) {
      const request = { orderBy, sortType, dateBreakdown: true }
      const whole = await read(world, request)
      const pages = await readPages(world, request)

      assert.equal(whole.totalRows, 23)
      assert.deepEqual(pages, whole.rows, `${orderBy} ${sortType}`)
    }
  }
})

test('events that arrive between two pages neither repeat nor skip a row; page 0 shows them', async (t) => {
  const world = await aWorld(t)
  const request = { orderBy: 'IMPRESSIONS', limit: 7 } as const
  const first = await read(world, { ...request, page: 0 })

  const late = Array.from({ length: 9 }, () => anEvent('impression', 0))
  await createHistoryLoader(world.warehouse, 2_000).ship(late)
  const rest = [
    ...(await read(world, { ...request, page: 1 })).rows,
    ...(await read(world, { ...request, page: 2 })).rows,
    ...(await read(world, { ...request, page: 3 })).rows,
  ]

  const gtins = [...first.rows, ...rest].map((row) => row.gtin)
  assert.equal(new Set(gtins).size, 23)
  assert.equal(gtins.length, 23)
  const anew = await read(world, { ...request, sortType: 'DESC', page: 0 })
  assert.equal(anew.rows[0]?.impressions, '10')
})

test('pages of one result have one id, a result computed anew has another, a single page has none', async (t) => {
  const world = await aWorld(t)
  const idOf = async (page: number, limit = 7) => (await read(world, { limit, page })).resultId

  const ids = [await idOf(0), await idOf(1), await idOf(3), await idOf(9)]
  const anew = [await idOf(0), await idOf(1)]
  await world.keptPages.whenWritten()
  world.clock.nowMs += keptLimits.ageMsMax + 1
  const later = await idOf(2)

  assert.equal(new Set(ids).size, 1)
  assert.equal(new Set(anew).size, 1)
  assert.equal(new Set([ids[0], anew[0], later, undefined]).size, 4)
  assert.equal(await idOf(0, 100), undefined)
})

test('kept pages are those of one key only, and are computed anew after 15 minutes', async (t) => {
  const world = await aWorld(t)
  const request = { orderBy: 'IMPRESSIONS', sortType: 'DESC', limit: 7 } as const
  await read(world, { ...request, page: 0 })
  await createHistoryLoader(world.warehouse, 2_000).ship(
    Array.from({ length: 9 }, () => anEvent('impression', 22))
  )
  const isNew = async (keyId: string) =>
    !(await read(world, { ...request, page: 3 }, keyId)).rows.some(
      (row) => row.gtin === 'sku-22'
    ) &&
    !(await read(world, { ...request, page: 1 }, keyId)).rows.some((row) => row.gtin === 'sku-22')

  const before = await read(world, { ...request, page: 1 })
  const foreign = await isNew('key-2')
  await world.keptPages.whenWritten()
  world.clock.nowMs += keptLimits.ageMsMax + 1
  const after = await isNew('key-1')

  assert.ok(before.rows.length === 7)
  assert.deepEqual([foreign, after], [true, true])
})

test('a page behind the last one is empty and still says how many rows there are', async (t) => {
  const world = await aWorld(t)

  assert.deepEqual(await read(world, { page: 1_000, limit: 10_000 }), { rows: [], totalRows: 23 })
  const { rows, totalRows } = await read(world, { page: 4, limit: 7 })
  assert.deepEqual({ rows, totalRows }, { rows: [], totalRows: 23 })
})

test('kept results are bounded: the oldest goes first', async (t) => {
  const world = await aWorld(t, 4_000)
  for (let limit = 1; limit <= 9; limit += 1) await read(world, { limit })

  assert.ok(readdirSync(world.folder).length <= 3)
  assert.equal((await read(world, { limit: 1, page: 22 })).rows[0]?.gtin, 'sku-22')
})

test('a report whose reader leaves while it is being kept is not kept cut short', async (t) => {
  const world = await aWorld(t)
  const abort = new AbortController()
  const call = { advertiserId: 1, request: { ...base, limit: 7 }, keyId: 'key-1' }

  const leaving = world.runReport({ ...call, signal: abort.signal })
  abort.abort()
  await leaving.catch(() => undefined)

  assert.equal((await readPages(world, {})).length, 23)
  const second = await read(world, { limit: 7, page: 2 })
  assert.deepEqual([second.totalRows, second.rows.length], [23, 7])
})

test('empty values sort last in both directions', async (t) => {
  const world = await aWorld(t)
  const ends = async (orderBy: OrderByColumn, value: (row: ReportRow) => string) => {
    const ascending = await read(world, { orderBy, sortType: 'ASC' })
    const descending = await read(world, { orderBy, sortType: 'DESC' })
    return [ascending.rows.at(-1), descending.rows.at(-1)].map((row) => row && value(row))
  }

  assert.deepEqual(await ends('PUBLISHER_NAME', (row) => row.publisherName), ['', ''])
  assert.deepEqual(await ends('CAMPAIGN_NAME', (row) => row.campaignName), ['', ''])
  assert.deepEqual(await ends('COST_PER_CLICK', (row) => row.costPerClick), ['', ''])
})

test('rows that no page may reach are not even asked for, and the totals tell all of them', async (t) => {
  const world = await aWorld(t)
  const limits: number[] = []
  const warehouse: Warehouse = {
    ...world.warehouse,
    stream: (sql, params, signal) => {
      limits.push(Number(/LIMIT (\d+)\s+SETTINGS/u.exec(sql)?.[1]))
      return world.warehouse.stream(sql.replace(/LIMIT \d+/u, 'LIMIT 5'), params, signal)
    },
  }
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-kept-'))
  const keptPages = new KeptPages({ folder, clock: () => atMs })
  t.after(() => keptPages.close())
  const runReport = createReportRunner({ warehouse, catalog: () => world.catalog, keptPages })
  const call = { advertiserId: 1, keyId: 'key-1', signal: new AbortController().signal }

  await assert.rejects(runReport({ ...call, request: { ...base, limit: 1, page: 22 } }))

  assert.deepEqual(limits, [1_001])
})
