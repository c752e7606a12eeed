// Every step passes a barrier before it reads what another node may have written, and again before it reads what it
// wrote itself. The lists of tables are compared with the statements that really run.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AuditTrail } from '../../src/access/audit-trail.ts'
import { readAuditExport } from '../../src/access/audit-export.ts'
import { Attributor } from '../../src/attribution/attribute.ts'
import { emptySnapshot } from '../../src/catalog/snapshot.ts'
import { createExplainer } from '../../src/attribution/explain/explain.ts'
import { createOwnExplainer } from '../../src/attribution/explain/for-advertiser.ts'
import { pendPurchases, setAsidePurchase } from '../../src/attribution/set-aside-purchase.ts'
import { unvoidDelivery, voidDelivery } from '../../src/attribution/void-delivery.ts'
import { createRateStore } from '../../src/catalog/ecb-rates.ts'
import { EntryStore } from '../../src/catalog/entry-store.ts'
import { ProductTable } from '../../src/catalog/product-table.ts'
import { rebuildDays } from '../../src/days/rebuild.ts'
import { readRestatements } from '../../src/days/restatement-list.ts'
import { sealBatch } from '../../src/days/seal.ts'
import { advanceRetention, readRetention } from '../../src/days/retention.ts'
import { readSealedThrough } from '../../src/days/sealed-days.ts'
import { sumNextSpan } from '../../src/days/sum-spans.ts'
import { Sweeper } from '../../src/days/sweep.ts'
import { countWaitingDays } from '../../src/days/waiting-days.ts'
import { purchaseKey } from '../../src/domain/purchase-key.ts'
import { eraseDue } from '../../src/erasure/erase.ts'
import { countOpenErasures, listErasures, requestErasure } from '../../src/erasure/erasures.ts'
import { Nodes } from '../../src/nodes/nodes.ts'
import { countSetAside, listSetAside, replaySetAside } from '../../src/pipeline/set-aside.ts'
import { createAttributionsLister } from '../../src/reports/attributions.ts'
import { createConflictReader } from '../../src/reports/conflicts.ts'
import { readFirstDay, readFirstDays } from '../../src/reports/first-day.ts'
import { createIntakeReader } from '../../src/reports/intake.ts'
import { createSeriesReader } from '../../src/reports/series.ts'
import { createSummaryReader } from '../../src/reports/summary.ts'
import { createServedAdReader } from '../../src/reports/served-ad.ts'
import { createTrafficQualityReader } from '../../src/reports/traffic-quality.ts'
import { createUnconvertedReader } from '../../src/reports/unconverted.ts'
import { forgetAsideAddresses } from '../../src/warehouse/aside-record.ts'
import { ensureSameIdentitySecret } from '../../src/warehouse/installation.ts'
import { migrate } from '../../src/warehouse/migrate.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { watchBarriers } from '../helpers/barrier-watch.ts'
import type { HistoryReturn } from '../helpers/history.ts'
import { judgeAll } from '../helpers/incident.ts'
import { openKeptPages } from '../helpers/kept-pages.ts'
import { aReportRequest } from '../helpers/report-request.ts'
import { aClick, aPurchase, aWorldIn, anAd, readFigures } from '../helpers/seal-scenario.ts'
import type { World } from '../helpers/seal-scenario.ts'
import {
  aConversion,
  anEvent,
  append,
  aShipment,
  hashIdentity,
  openTrackingData,
  shipBatch,
} from '../helpers/shipment.ts'
import { silentLog } from '../helpers/silent-log.ts'
import { openTestWarehouse } from '../helpers/test-warehouse.ts'

const atMs = Date.UTC(2026, 2, 2, 12)
const hourMs = 3_600_000
const publisherId = 10
const key = purchaseKey(publisherId, 't-1') ?? ''
const clock = () => Date.UTC(2026, 2, 14)
const range = { startDate: '2026-03-01', endDate: '2026-03-12' }

const aReturn: HistoryReturn = {
  deliveryId: '9'.repeat(32),
  returnId: 'R-1',
  receivedAtMs: atMs + 2 * hourMs,
  publisherId,
  transactionId: 't-1',
  lines: [{ gtin: anAd().gtin, quantity: 1 }],
  untrusted: false,
}

const noNames = {
  publishers: () => [],
  campaigns: () => [],
  adGroups: () => [],
}

type Step = <Result>(work: () => Promise<Result>) => Promise<Result>

async function attributeAll(step: Step, warehouse: Warehouse, crowdMax = 5_000): Promise<void> {
  const attributor = new Attributor({ warehouse, settleMs: 0, crowdMax })
  while ((await step(() => attributor.attributeBatch())).hasMore);
  await step(() => attributor.forgetAnswered())
}

async function sealAll(step: Step, world: World): Promise<void> {
  const deps = {
    warehouse: world.warehouse,
    markets: () => world.markets,
    settledThroughMs: () => Date.UTC(2026, 2, 14),
    renewPauseMs: 0,
  }
  for (let count = 0; count < 6; count += 1) {
    if (!(await step(() => sealBatch(deps))).hasMore) return
  }
}

/** Clicks, a purchase and its return, attributed and sealed; then late input and another attribution. */
async function aYearInAMinute(step: Step, world: World): Promise<void> {
  const { loader, warehouse } = world
  await step(() => loader.ship([aClick(anAd(), atMs)]))
  await step(() => loader.ship([aPurchase({ atMs: atMs + hourMs })]))
  await attributeAll(step, warehouse)
  await sealAll(step, world)
  await step(() => loader.ship([aReturn]))
  await attributeAll(step, warehouse)
  await step(() => loader.ship([aClick(anAd({ servedAdId: 'b'.repeat(32) }), atMs + 1)]))
  await attributeAll(step, warehouse, 1)
  await sealAll(step, world)
}

test('no step of the pipeline reads a table without a barrier since it began, or since it wrote there', async (t) => {
  const watch = await watchBarriers(await openTestWarehouse(t))
  const { warehouse, step } = watch
  const world = aWorldIn(warehouse)
  const markets = () => world.markets
  await aYearInAMinute(step, world)

  const deps = { warehouse, markets }
  while (await step(() => sumNextSpan({ ...deps, settledMs: 0 })));
  const named = { publisherId, transactionId: 't-1', deliveryId: 'd'.repeat(32) }
  await step(() => voidDelivery(warehouse, named))
  await attributeAll(step, warehouse)
  await step(() => unvoidDelivery(warehouse, named))
  await step(() => rebuildDays({ warehouse, firstDay: '2026-03-01', lastDay: '2026-03-03' }))
  await step(() => pendPurchases(warehouse, [key]))
  await attributeAll(step, warehouse)
  await sealAll(step, world)
  const everything = { from: '1970-01-01 00:00:00', to: '2100-01-01 00:00:00' }
  await step(() =>
    setAsidePurchase(warehouse, { ...everything, keyFrom: key, keyTo: key }, 'a test')
  )
  await step(() => judgeAll(warehouse, { isDryRun: true }))
  await step(() => judgeAll(warehouse))
  await attributeAll(step, warehouse)
  await step(() => new Sweeper({ warehouse, keepMs: 0, orphanMs: 0 }).sweep())
  await step(() => forgetAsideAddresses(warehouse))
  for (let count = 0; count < 3; count += 1) {
    await step(() => advanceRetention({ ...deps, retentionDays: 60, announcedMs: 0, finalMs: 0 }))
  }

  assert.deepEqual(watch.unguarded, [])
  for (const table of ['touchpoint', 'purchase_return', 'product_day', 'frozen_purchase']) {
    assert.ok(watch.read.has(table), table)
  }
})

test('an erasure passes barriers before it copies and before it removes', async (t) => {
  const watch = await watchBarriers(await openTestWarehouse(t))
  const { warehouse, step } = watch
  const world = aWorldIn(warehouse)
  await aYearInAMinute(step, world)
  const rowContext = { openTrackingData, hashIdentity }

  const identities = [hashIdentity('user', publisherId, 'shopper')]
  await step(() => requestErasure(warehouse, { publisherId, identities }))
  const result = await step(() =>
    eraseDue({ warehouse, rowContext, settleMs: 0, visibilityMs: 0, log: silentLog })
  )

  assert.equal(result.passCount, 1)
  assert.deepEqual(watch.unguarded, [])
  await step(() => listErasures(warehouse, 10))
  await step(() => countOpenErasures(warehouse))
  assert.deepEqual(watch.unguarded, [])
})

test('no report, list or explanation reads figures without a barrier since it was asked for', async (t) => {
  const watch = await watchBarriers(await openTestWarehouse(t))
  const { warehouse, step } = watch
  const world = aWorldIn(warehouse)
  await aYearInAMinute(step, world)
  const markets = () => world.markets
  const catalog = () => ({ markets, ...noNames })
  const keptPages = openKeptPages()
  t.after(() => keptPages.close())
  const deps = { warehouse, catalog, keptPages }
  const { signal } = new AbortController()
  const request = aReportRequest({ ...range, attributionProfile: 'CLK_14_DAYS' })
  const call = { advertiserId: 1, keyId: 'test', signal }
  const paged = { page: 0, limit: 100 }
  const name = { publisherId, transactionId: 't-1' }

  await step(() => readFigures(warehouse, world.markets, range))
  await step(() => createSeriesReader(deps)({ ...call, request: { ...request, interval: 'DAY' } }))
  const converted = { ...request, interval: 'DAY', convertTo: 'USD' } as const
  await step(() => createSeriesReader(deps)({ ...call, request: converted }))
  const overview = { ...request, comparison: range, trendDays: 3, convertTo: 'USD' }
  await step(() => createSummaryReader(deps)({ ...call, advertiserIds: [1, 2], request: overview }))
  await step(() => readFirstDays({ warehouse, markets: world.markets }, [1, 2]))
  await step(() => createTrafficQualityReader(deps)({ ...call, request: { ...range, ...paged } }))
  await step(() =>
    createAttributionsLister(deps)({
      ...call,
      request: { ...range, ...paged, attributionProfile: 'CLK_14_DAYS', sortType: 'ASC' },
    })
  )
  const unconverted = createUnconvertedReader({ warehouse, markets })
  await step(() => unconverted({ ...range, after: null, limit: 10 }))
  const question = { ...name, ...range, siteIds: [], marketIds: [1], signal }
  await step(() => createIntakeReader(warehouse)(question))
  await step(() => createConflictReader(warehouse)(10))
  const servedAd = { ...anAd(), advertiserId: 1 }
  await step(() => createServedAdReader(warehouse)(servedAd))
  await step(() => createExplainer({ warehouse, settleMs: 0, catalog: () => emptySnapshot })(name))
  await step(() =>
    createOwnExplainer({ warehouse, settleMs: 0, catalog: () => emptySnapshot })({
      ...name,
      advertiserId: 1,
    })
  )
  await step(() => readFirstDay({ warehouse, markets: world.markets }, 1))
  await step(() => readRestatements(warehouse, 0))
  await step(() => readSealedThrough(warehouse, world.markets, '2026-03-14'))
  await step(() => countWaitingDays({ warehouse, markets }, Date.UTC(2026, 2, 14)))
  await step(() => readRetention({ warehouse, markets, retentionDays: 60 }))

  assert.deepEqual(watch.unguarded, [])
})

test('what every call depends on is read behind a barrier: catalog, keys, products, rates, audit, secret', async (t) => {
  const watch = await watchBarriers(await openTestWarehouse(t))
  const { warehouse, step } = watch
  const entries = new EntryStore(
    { warehouse, clock, log: silentLog, refreshMs: 3_600_000 },
    { what: 'things', kinds: ['market'], onEntries: () => {} }
  )
  const product = { gtin: '1', title: 'x', brand: 'y', groupId: '', marketId: 1 }
  const products = new ProductTable(warehouse, clock)
  const trail = new AuditTrail({ warehouse, clock })
  const audited = { key: { id: 'k', name: 'K' }, action: 'key.create', subject: 'k' } as const

  await step(() => migrate(warehouse))
  await step(() => ensureSameIdentitySecret(warehouse, 'one'))
  await step(() => entries.change(() => entries.append([{ kind: 'market', id: '1', body: {} }])))
  await step(() => entries.refresh())
  const version = await step(() => products.nextVersion([1]))
  await step(() => products.write([product], version))
  const feed = { marketId: 1, first: version + 1, last: version + 2 }
  await step(() => products.countProducts(feed))
  await step(() => products.deactivateOlder(feed, []))
  await step(() => products.list({ marketId: 1, after: null, limit: 10, gtin: null, title: null }))
  await step(() =>
    createRateStore(warehouse, clock).store([{ day: '2026-03-02', units: [['USD', '1.1']] }])
  )
  const node = { id: 'n', name: 'n', roles: ['engine'] }
  const spool = { depth: () => ({ frames: 0, bytes: 0, oldestAtMs: null }) }
  const nodes = new Nodes({ warehouse, node, spool, clock, monotonicMs: clock })
  await step(() => nodes.beat())
  await step(() => trail.record(audited))
  await step(() => readAuditExport(warehouse, { fromMs: null, toMs: null, after: null, limit: 9 }))
  await step(() => listSetAside(warehouse, { after: null, limit: 9 }))
  await step(() => countSetAside(warehouse))

  assert.deepEqual(watch.unguarded, [])
})

test('records that were set aside are found and replayed behind barriers', async (t) => {
  const shipment = await aShipment(t)
  const watch = await watchBarriers(shipment.warehouse)
  const { warehouse, step } = watch
  const deps = { ...shipment.deps, warehouse }
  await append(shipment.spool, [anEvent(), aConversion({ transactionId: '\ud800' }), aConversion()])

  await step(() => shipBatch(deps))
  const [found] = await step(() => listSetAside(warehouse, { after: null, limit: 9 }))
  assert.ok(found !== undefined)
  await step(() => replaySetAside(deps, [found.place.key]))
  await step(() => replaySetAside(deps, null))

  assert.deepEqual(watch.unguarded, [])
})

test('a read without a barrier is noticed, before any and after a write of the same step', async (t) => {
  const watch = await watchBarriers(await openTestWarehouse(t))
  const { warehouse, step } = watch

  await step(async () => {
    await warehouse.rows(
      'SELECT 1 FROM sealed_day WHERE revision IN (SELECT revision FROM sealed_span)'
    )
    await warehouse.barrier(['touched_span', 'attribution'])
    await warehouse.rows('SELECT 1 FROM touched_span')
    await warehouse.command('INSERT INTO attribution SELECT * FROM attribution')
    await warehouse.rows('SELECT 1 FROM touched_span')
  })

  const tables = watch.unguarded.map((one) => one.split(':')[0])
  assert.deepEqual(tables, ['sealed_day', 'sealed_span', 'touched_span'])
})
