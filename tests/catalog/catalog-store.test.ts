import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openCatalogStore, type CatalogStore } from '../../src/catalog/catalog-store.ts'
import type { CatalogBundle } from '../../src/contract/catalog-bundle.ts'
import { ServiceError } from '../../src/errors.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { openMigratedWarehouse } from '../helpers/test-warehouse.ts'
import { aBundle, anAsset, aSite } from '../helpers/bundle.ts'

const silent = { info: () => {}, error: () => {} }
let warehouse: Warehouse
let nowMs = Date.UTC(2026, 2, 1)
const clock = () => nowMs

before(async () => {
  warehouse = await openMigratedWarehouse()
})
after(() => warehouse.close())

async function openStore(t: { after(close: () => Promise<void>): void }): Promise<CatalogStore> {
  // Refreshed by hand: tests own the time.
  const store = await openCatalogStore({ warehouse, clock, log: silent, refreshMs: 3_600_000 })
  t.after(() => store.close())
  return store
}

const assetId = '3F2504E0-4F89-41D3-9A0C-0305E82C3301'
const bundle: CatalogBundle = {
  ...aBundle(),
  markets: [{ id: 1, code: 'DE', currency: 'eur', timeZone: 'Europe/Berlin' }],
  publishers: [{ id: 10, name: 'Shop', conversionSources: ['203.0.113.0/24'], sites: [aSite()] }],
  campaigns: [{ id: 1001, advertiserId: 1, name: '=Spring "ö" 😀' }],
  adGroups: [{ id: 5001, campaignId: 1001, name: 'Coffee', type: 'DISPLAY' }],
  products: [
    { marketId: 1, gtin: '4006381333931', title: 'Coffee', brand: 'Acme', groupId: 'G' },
    { marketId: 1, gtin: 'sku-1', title: 'Tea' },
  ],
  assets: [anAsset({ id: assetId })],
}

test('a bundle shows at once on this node, after a refresh on another, and after a restart', async (t) => {
  const store = await openStore(t)
  const other = await openStore(t)

  const applied = await store.apply(bundle)

  const trustChanges = [
    {
      publisherId: 10,
      before: { conversionSources: [], requireKey: null },
      after: { conversionSources: ['203.0.113.0/24'], requireKey: null },
    },
  ]
  assert.ok(applied.ok)
  assert.deepEqual(applied.counts, { entries: 7, products: 2, trustChanges })
  assert.equal(store.current().campaigns.get(1001)?.name, '=Spring "ö" 😀')
  assert.equal(other.current().campaigns.size, 0)
  await other.refresh()
  assert.deepEqual(other.current(), store.current())
  assert.deepEqual((await openStore(t)).current(), store.current())
})

test('a bundle that says nothing about who is believed changes nothing, and what it takes away must be said', async (t) => {
  const store = await openStore(t)
  const other = await openStore(t)
  const sources = ['203.0.113.0/24']
  const put = async (changes: object, through = store) => {
    const applied = await through.apply({ publishers: [{ id: 31, name: 'Shop', ...changes }] })
    assert.ok(applied.ok)
    const { conversionSources, requireKey } = through.current().publishers.get(31) ?? {}
    return { told: applied.counts.trustChanges?.[0], conversionSources, requireKey }
  }
  const nothing = { conversionSources: [], requireKey: null }
  const whole = { conversionSources: sources, requireKey: true }

  assert.deepEqual(await put({}), {
    told: undefined,
    conversionSources: undefined,
    requireKey: undefined,
  })
  const checked = await store.check({ publishers: [{ id: 31, name: 'Shop', ...whole }] })
  const made = await put(whole)
  assert.deepEqual(made, { told: { publisherId: 31, before: nothing, after: whole }, ...whole })
  assert.deepEqual(checked.ok && checked.counts.trustChanges, [made.told])
  // Another node has not heard of the list yet when it is asked to rename the publisher.
  assert.deepEqual(await put({ name: 'Renamed' }, other), { told: undefined, ...whole })
  assert.deepEqual(await put({ conversionSources: [] }), {
    told: { publisherId: 31, before: whole, after: { ...whole, conversionSources: [] } },
    conversionSources: [],
    requireKey: true,
  })
  assert.deepEqual(await put({ requireKey: false }), {
    told: {
      publisherId: 31,
      before: { ...nothing, requireKey: true },
      after: { ...nothing, requireKey: false },
    },
    conversionSources: [],
    requireKey: false,
  })
})

test('currencies are stored in upper case and asset ids in lower case', async (t) => {
  const store = await openStore(t)

  await store.apply(bundle)

  assert.equal(store.current().markets.get(1)?.currency, 'EUR')
  assert.equal(store.current().assets.get(assetId.toLowerCase())?.fileName, 'banner.png')
})

test('products are stored under the key by which products are equal', async (t) => {
  const store = await openStore(t)

  await store.apply(bundle)
  await store.apply({ products: [{ marketId: 1, gtin: '04006381333931', title: 'Better coffee' }] })

  const rows = await warehouse.rows(
    `SELECT market_id, gtin_key, gtin, title, brand, group_id, is_active
     FROM product FINAL ORDER BY gtin_key LIMIT 10`
  )
  const rest = { market_id: 1, brand: '', group_id: '', is_active: 1 }
  assert.deepEqual(rows, [
    { ...rest, gtin_key: '04006381333931', gtin: '04006381333931', title: 'Better coffee' },
    { ...rest, gtin_key: 'sku-1', gtin: 'sku-1', title: 'Tea' },
  ])
})

test('a bundle with one fault changes nothing, neither entries nor products', async (t) => {
  const store = await openStore(t)
  await store.apply(bundle)
  const snapshot = store.current()
  const count = 'SELECT count() AS n FROM product'
  const [productsBefore] = await warehouse.rows<{ n: number }>(count)

  const applied = await store.apply({
    advertisers: [{ id: 1, name: 'Renamed' }],
    products: [{ marketId: 1, gtin: 'new', title: 'New' }],
    campaigns: [{ id: 7, advertiserId: 99, name: 'x' }],
  })

  assert.deepEqual(applied, {
    ok: false,
    messages: ['/campaigns/0/advertiserId 99 is no known advertiser'],
  })
  assert.deepEqual(store.current(), snapshot)
  assert.deepEqual(await warehouse.rows(count), [productsBefore])
})

test('of two changes in one millisecond the later counts, everywhere', async (t) => {
  const store = await openStore(t)
  await store.apply(bundle)

  for (const name of ['one', 'two', 'three']) {
    await store.apply({ advertisers: [{ id: 1, name }] })
  }

  assert.equal(store.current().advertisers.get(1)?.name, 'three')
  assert.equal((await openStore(t)).current().advertisers.get(1)?.name, 'three')
})

test('changes made at once are taken one after the other, and none is lost', async (t) => {
  const store = await openStore(t)
  await store.apply(bundle)
  const ids = [11, 12, 13, 14, 15]

  await Promise.all([
    ...ids.map((id) => store.apply({ advertisers: [{ id, name: `a${id}` }] })),
    store.refresh(),
  ])

  for (const id of ids) assert.equal(store.current().advertisers.get(id)?.name, `a${id}`)
})

test('a change of a node whose clock is behind shows on the others and beats what it was made upon', async (t) => {
  const ahead = await openStore(t)
  await ahead.apply({ advertisers: [{ id: 21, name: 'ahead' }] })
  nowMs -= 60_000
  const behind = await openStore(t)
  await behind.apply({
    advertisers: [
      { id: 21, name: 'renamed' },
      { id: 22, name: 'behind' },
    ],
  })
  nowMs += 60_000

  await ahead.refresh()

  assert.equal(ahead.current().advertisers.get(21)?.name, 'renamed')
  assert.equal(ahead.current().advertisers.get(22)?.name, 'behind')
})

test('the asset attached last is the advertised one, and attaching it again writes nothing', async (t) => {
  const store = await openStore(t)
  await store.apply(bundle)
  const first = { adGroupId: 5001, creativeSizeId: 1, assetId: assetId.toLowerCase() }
  const second = { ...first, assetId: '3f2504e0-4f89-41d3-9a0c-0305e82c3399' }
  await store.attach(first)

  await store.attach(second)
  await store.attach(second)

  const [row] = await warehouse.rows<{ n: number }>(
    `SELECT uniqExact(version) AS n FROM catalog_entry WHERE kind = 'assignment'`
  )
  assert.equal(store.current().assignments.get('5001/1')?.assetId, second.assetId)
  assert.equal((await openStore(t)).current().assignments.get('5001/1')?.assetId, second.assetId)
  assert.ok(row !== undefined && row.n <= 2)
})

test('a market that has events keeps its currency; one without may change it', async (t) => {
  const store = await openStore(t)
  const market = { code: 'SE', currency: 'SEK', timeZone: 'Europe/Stockholm' }
  await store.apply({
    markets: [
      { ...market, id: 31 },
      { ...market, id: 32, code: 'SF' },
    ],
  })
  const served = Date.UTC(2026, 2, 2)
  const event = {
    served_ad_id: '0'.repeat(31) + '1',
    served_at_ms: served,
    received_at_ms: served,
    kind: 'impression',
    verdict: 'counted',
    publisher_id: 10,
    site_id: 101,
    market_id: 31,
    advertiser_id: 1,
    campaign_id: 1001,
    ad_group_id: 5001,
    gtin: 'x',
    gtin_key: 'x',
    group_id: '',
    user_identity: '',
    login_identity: '',
    currency: 'SEK',
    charge: '0',
    shipped_at: '2026-03-02 00:00:00.000000',
  }
  await warehouse.insert('ad_event_in', Buffer.from(`${JSON.stringify(event)}\n`))

  const used = await store.apply({ markets: [{ ...market, id: 31, currency: 'EUR' }] })
  const unused = await store.apply({
    markets: [{ ...market, id: 32, code: 'SF', currency: 'EUR' }],
  })

  assert.deepEqual(used, {
    ok: false,
    messages: ['/markets/0/currency must stay SEK: the market has events'],
  })
  assert.equal(unused.ok, true)
})

test('when the warehouse is away, a change fails, the snapshot stays, and a refresh mends it', async (t) => {
  let isAway = false
  const away = new ServiceError('WAREHOUSE_UNAVAILABLE', 'away')
  const flaky: Warehouse = {
    ...warehouse,
    insert: (table, lines, columns) =>
      isAway ? Promise.reject(away) : warehouse.insert(table, lines, columns),
    rows: (sql, params) => (isAway ? Promise.reject(away) : warehouse.rows(sql, params)),
  }
  const options = { warehouse: flaky, clock, log: silent, refreshMs: 3_600_000 }
  const store = await openCatalogStore(options)
  t.after(() => store.close())
  const snapshot = store.current()

  isAway = true
  await assert.rejects(store.apply({ advertisers: [{ id: 41, name: 'x' }] }), away)
  await assert.rejects(store.refresh(), away)
  assert.equal(store.current(), snapshot)
  isAway = false
  await store.apply({ advertisers: [{ id: 41, name: 'x' }] })

  assert.equal(store.current().advertisers.get(41)?.name, 'x')
})
