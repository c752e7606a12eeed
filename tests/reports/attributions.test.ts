import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { Attributor } from '../../src/attribution/attribute.ts'
import { parseDecimal } from '../../src/domain/money.ts'
import { createAttributionsLister } from '../../src/reports/attributions.ts'
import type {
  AttributionRow,
  AttributionsRequest,
  ListAttributions,
} from '../../src/reports/attributions.ts'
import type { CatalogNames } from '../../src/catalog/catalog-names.ts'
import { KeptPages } from '../../src/reports/kept-pages.ts'
import type { ReportRow } from '../../src/reports/report.ts'
import { createReportRunner } from '../../src/reports/run-report.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { compareAttribution } from '../helpers/compare-attribution.ts'
import { createHistoryLoader } from '../helpers/history-warehouse.ts'
import type { HistoryDelivery } from '../helpers/history.ts'
import { aClick, aPurchase as aDullPurchase, anAd } from '../helpers/seal-scenario.ts'
import { openTestWarehouse } from '../helpers/test-warehouse.ts'

const seed = Number(process.env['SHELFTRACE_TEST_SEED'] ?? Date.now() % 1_000_000)

const catalog: CatalogNames = {
  markets: () => [
    { id: 1, code: 'DE', currency: 'EUR', timeZone: 'Europe/Berlin' },
    { id: 2, code: 'US', currency: 'USD', timeZone: 'America/New_York' },
  ],
  publishers: () => [{ id: 10, name: 'Example Shop' }],
  campaigns: () => [],
  adGroups: () => [],
}

const request: AttributionsRequest = {
  startDate: '2026-01-01',
  endDate: '2026-06-30',
  attributionProfile: 'IMP_1_DAY_CLK_14_DAYS',
  page: 0,
  limit: 10_000,
  sortType: 'ASC',
}

function keptPagesOf(t: TestContext): KeptPages {
  const folder = mkdtempSync(join(tmpdir(), 'shelftrace-kept-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return new KeptPages({ folder, clock: Date.now })
}

async function list(
  lister: ListAttributions,
  advertiserId: number,
  changes: Partial<AttributionsRequest> = {}
) {
  const { signal } = new AbortController()
  const asked = { ...request, ...changes }
  const result = await lister({ advertiserId, request: asked, keyId: 'test', signal })
  assert.ok(!('finalBefore' in result))
  return result
}

async function attributeAll(warehouse: Warehouse): Promise<void> {
  const attributor = new Attributor({ warehouse, settleMs: 0 })
  while ((await attributor.attributeBatch()).hasMore);
}

/** Sums by what both have in common, in exact amounts. */
function sumsOf<Row>(
  rows: readonly Row[],
  read: (row: Row) => { readonly key: string; readonly units: string; readonly value: string }
): ReadonlyMap<string, string> {
  const sums = new Map<string, { units: bigint; nanos: bigint }>()
  for (const row of rows) {
    const { key, units, value } = read(row)
    const sum = sums.get(key) ?? { units: 0n, nanos: 0n }
    sum.units += BigInt(units)
    sum.nanos += parseDecimal(value, 9) ?? 0n
    sums.set(key, sum)
  }
  const credited = [...sums].filter(([, { units }]) => units !== 0n)
  return new Map(
    credited
      .map(([key, { units, nanos }]) => [key, `${units} ${nanos}`] as const)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
  )
}

const fromReport = (row: ReportRow) => ({
  key: [row.date, row.market, row.publisherId, row.campaignId, row.adGroupId].join(' '),
  units: row.unitsSold,
  value: row.conversionValue,
})

const fromList = (row: AttributionRow) => ({
  key: [row.date, row.market, row.publisherId, row.campaignId, row.adGroupId].join(' '),
  units: row.units,
  value: row.conversionValue,
})

test('units and values of the credited lines add up to those of the report, by day, market, campaign and ad group, in every profile', async (t) => {
  const warehouse = await openTestWarehouse(t)
  const { histories } = await compareAttribution({
    warehouse,
    seed,
    historyCount: 16,
    crowdMax: 5_000,
  })
  // Histories are in EUR, so that market 2 needs these.
  await warehouse.command(
    `INSERT INTO rate SELECT 'USD', toDate('2026-01-01') + number * 3, toDecimal128('1.1684', 9) + number / 1000, 1
     FROM numbers(60)`
  )
  const deps = { warehouse, catalog: () => catalog, keptPages: keptPagesOf(t) }
  const lister = createAttributionsLister(deps)
  const runReport = createReportRunner(deps)
  let lineCount = 0

  for (const [index, { publisherId }] of histories.entries()) {
    const attributionProfile = (['CLK_14_DAYS', 'IMP_1_DAY', 'IMP_1_DAY_CLK_14_DAYS'] as const)[
      index % 3
    ]!
    const days = index % 2 === 0 ? request : { startDate: '2026-03-08', endDate: '2026-03-29' }
    const asked = { ...request, ...days, attributionProfile }
    const advertiserId = publisherId * 10 + 1 + (index % 2)
    const { signal } = new AbortController()
    const report = await runReport({
      advertiserId,
      request: { ...asked, filters: [], sortType: 'ASC', dateBreakdown: true, orderBy: 'GTIN' },
      keyId: 'test',
      signal,
    })
    const listed = await list(lister, advertiserId, asked)

    assert.deepEqual(sumsOf(listed.rows, fromList), sumsOf(report.rows, fromReport))
    assert.equal(listed.totalRows, listed.rows.length)
    lineCount += listed.totalRows
  }
  t.diagnostic(`seed ${seed}: ${lineCount} lines`)
  assert.ok(lineCount > 0)
})

const atMs = Date.UTC(2026, 2, 2, 23, 30)

function aPurchase(changes: Partial<HistoryDelivery>): HistoryDelivery {
  return { ...aDullPurchase({ atMs }), ...changes }
}

test('a credited line tells the purchase, the product, the ad and the time between, and the catalog spells the advertised product', async (t) => {
  const warehouse = await openTestWarehouse(t)
  const loader = createHistoryLoader(warehouse, 0)
  const ad = anAd({ servedAtMs: atMs - 7_200_500, gtin: '96385074' })
  const purchase = aPurchase({
    receivedAtMs: atMs,
    userId: ad.userId,
    lines: [
      { gtin: 'other', groupId: '', brand: '', price: 1, quantity: 1 },
      { gtin: '00000096385074', groupId: '', brand: '', price: 19.99, quantity: 2 },
    ],
  })
  await loader.ship([aClick(ad, atMs - 3_600_250), purchase])
  await attributeAll(warehouse)
  await warehouse.command(
    `INSERT INTO product VALUES (1, '00000096385074', '096385074000', 'Coffee', 'Acme', '', 1, 1)`
  )
  const lister = createAttributionsLister({
    warehouse,
    catalog: () => catalog,
    keptPages: keptPagesOf(t),
  })

  const { rows } = await list(lister, ad.advertiserId)
  const views = await list(lister, ad.advertiserId, { attributionProfile: 'IMP_1_DAY' })
  const before = await list(lister, ad.advertiserId, { endDate: '2026-03-02' })
  const others = await list(lister, ad.advertiserId + 1)

  assert.deepEqual(rows, [
    {
      // Half an hour before midnight in UTC it is the next day in Berlin.
      date: '2026-03-03',
      purchasedAtMs: atMs,
      market: 'DE',
      publisherId: 10,
      publisherName: 'Example Shop',
      transactionId: purchase.transactionId,
      line: 2,
      purchasedGtin: '00000096385074',
      campaignId: ad.campaignId,
      adGroupId: ad.adGroupId,
      advertisedGtin: '096385074000',
      rule: 'direct',
      touchedAtMs: atMs - 3_600_250,
      units: '2',
      conversionValue: '39.98',
      currency: 'EUR',
      servedAdId: ad.servedAdId,
    },
  ])
  assert.deepEqual([views.totalRows, before.totalRows, others.totalRows], [0, 0, 0])
})

test('pages of the list are cut from one result: none repeats or skips a line while purchases arrive', async (t) => {
  const warehouse = await openTestWarehouse(t)
  const loader = createHistoryLoader(warehouse, 0)
  const ad = anAd({ servedAtMs: atMs - 7_200_000 })
  const purchase = (index: number) =>
    aPurchase({
      receivedAtMs: atMs + (index % 3),
      userId: ad.userId,
      transactionId: `T${index}`,
      deliveryId: (index + 1).toString(16).padStart(32, '0'),
      lines: [{ gtin: ad.gtin, groupId: '', brand: '', price: 5, quantity: 1 }],
    })
  const first = Array.from({ length: 7 }, (_, index) => purchase(index))
  await loader.ship([aClick(ad, atMs - 1_000), ...first])
  await attributeAll(warehouse)
  const lister = createAttributionsLister({
    warehouse,
    catalog: () => catalog,
    keptPages: keptPagesOf(t),
  })

  const pages = [await list(lister, ad.advertiserId, { limit: 3 })]
  await loader.ship([purchase(7), purchase(8)])
  await attributeAll(warehouse)
  for (const page of [1, 2, 3]) pages.push(await list(lister, ad.advertiserId, { limit: 3, page }))
  const anew = await list(lister, ad.advertiserId)

  const paged = pages.flatMap(({ rows }) => rows)
  assert.deepEqual(
    pages.map(({ rows }) => rows.length),
    [3, 3, 1, 0]
  )
  assert.equal(new Set(pages.map(({ resultId }) => resultId)).size, 1)
  assert.deepEqual(
    paged.map(({ transactionId }) => transactionId).toSorted(),
    first.map(({ transactionId }) => transactionId).toSorted()
  )
  assert.deepEqual(
    paged.map(({ purchasedAtMs }) => purchasedAtMs),
    paged.map(({ purchasedAtMs }) => purchasedAtMs).toSorted((one, other) => one - other)
  )
  assert.equal(anew.totalRows, 9)
})

test('a line without a rate has no value and is announced, one with a rate is converted to the market', async (t) => {
  const warehouse = await openTestWarehouse(t)
  const loader = createHistoryLoader(warehouse, 0)
  const ad = anAd({ servedAtMs: atMs - 7_200_000 })
  const purchase = (transactionId: string, currency: string, deliveryId: string) =>
    aPurchase({
      receivedAtMs: atMs,
      userId: ad.userId,
      transactionId,
      currency,
      deliveryId: deliveryId.padStart(32, '0'),
      lines: [{ gtin: ad.gtin, groupId: '', brand: '', price: 11.684, quantity: 1 }],
    })
  await loader.ship([
    aClick(ad, atMs - 1_000),
    purchase('=T1', 'USD', '1'),
    purchase('T2', 'JPY', '2'),
  ])
  await attributeAll(warehouse)
  await warehouse.command(`INSERT INTO rate VALUES ('USD', '2026-03-02', 1.1684, 1)`)
  const lister = createAttributionsLister({
    warehouse,
    catalog: () => catalog,
    keptPages: keptPagesOf(t),
  })

  const { rows, unconvertedCount } = await list(lister, ad.advertiserId)

  const values = rows.map(({ transactionId, conversionValue, currency, units }) =>
    [transactionId, conversionValue, currency, units].join(' ')
  )
  assert.deepEqual(values.toSorted(), ['=T1 10.00 EUR 1', 'T2  EUR 1'])
  assert.equal(unconvertedCount, 1)
})

test('days of which only the sums are kept are refused with the first day that is not, instead of a list with gaps', async (t) => {
  const warehouse = await openTestWarehouse(t)
  await warehouse.command(
    `INSERT INTO final_before VALUES ('2026-02-01', 'final', now64(6)), ('2026-02-10', 'announced', now64(6))`
  )
  const lister = createAttributionsLister({
    warehouse,
    catalog: () => catalog,
    keptPages: keptPagesOf(t),
  })
  const { signal } = new AbortController()
  const ask = (startDate: string) =>
    lister({ advertiserId: 1, request: { ...request, startDate }, keyId: 'test', signal })

  assert.deepEqual(await ask('2026-02-09'), { finalBefore: '2026-02-10' })
  assert.ok('rows' in (await ask('2026-02-10')))
})

const keyOf = ({ publisherId, transactionId, line }: AttributionRow) =>
  JSON.stringify([publisherId, transactionId, line])

test('the list is filtered by publisher, rule and transaction, alone and together, and turned round, with the rows of the whole list', async (t) => {
  const warehouse = await openTestWarehouse(t)
  const { histories } = await compareAttribution({
    warehouse,
    seed,
    historyCount: 16,
    crowdMax: 5_000,
  })
  const lister = createAttributionsLister({
    warehouse,
    catalog: () => catalog,
    keptPages: keptPagesOf(t),
  })
  const rules = {
    DIRECT_CLICK: 'direct',
    IN_GROUP_CLICK: 'in-group',
    VIEW: 'view',
  } as const
  let rowCount = 0
  const advertiserIds = histories.flatMap(({ publisherId }) =>
    [1, 2].map((one) => publisherId * 10 + one)
  )
  for (const advertiserId of new Set(advertiserIds)) {
    const { rows: all } = await list(lister, advertiserId)
    rowCount += all.length
    const { rows: newest } = await list(lister, advertiserId, { sortType: 'DESC' })
    const instants = newest.map(({ purchasedAtMs }) => purchasedAtMs)
    assert.deepEqual(instants, all.map(({ purchasedAtMs }) => purchasedAtMs).toReversed())
    assert.deepEqual(newest.map(keyOf).toSorted(), all.map(keyOf).toSorted())

    for (const [name, rule] of Object.entries(rules)) {
      const asked = { rule: name as keyof typeof rules }
      const { rows, totalRows } = await list(lister, advertiserId, asked)
      assert.deepEqual(
        rows,
        all.filter((row) => row.rule === rule)
      )
      assert.equal(totalRows, rows.length)
    }
    const first = all[0]
    if (first === undefined) continue
    const { publisherId, transactionId } = first
    const { rows: ofShop } = await list(lister, advertiserId, { publisherId })
    assert.deepEqual(
      ofShop,
      all.filter((row) => row.publisherId === publisherId)
    )
    const { rows: ofOrder } = await list(lister, advertiserId, { publisherId, transactionId })
    assert.deepEqual(
      ofOrder,
      all.filter((row) => row.publisherId === publisherId && row.transactionId === transactionId)
    )
    const { rows: none } = await list(lister, advertiserId, { transactionId: "' OR 1 = 1 --" })
    assert.deepEqual(none, [])
  }
  assert.ok(rowCount > 0)
})
