import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { CatalogNames } from '../../src/catalog/catalog-names.ts'
import { ProductTable } from '../../src/catalog/product-table.ts'
import type { ValuesQuery } from '../../src/contract/report-values.ts'
import { createGroupsRunner } from '../../src/reports/run-groups.ts'
import { readValues } from '../../src/reports/values.ts'
import type { HistoryEvent } from '../helpers/history.ts'
import { openKeptPages } from '../helpers/kept-pages.ts'
import { aClick, aWorld, anAd, type World } from '../helpers/seal-scenario.ts'

const atMs = Date.UTC(2026, 2, 2, 12)
const nothing = () => []
const range = { startDate: '2026-03-01', endDate: '2026-03-12' }

/** Each further click is cheaper. */
function aClickOn(serial: number, changes: Parameters<typeof anAd>[0]): HistoryEvent {
  const servedAdId = serial.toString(16).padStart(32, '0')
  const costPerClickMicros = BigInt(1_000_000 - serial)
  return aClick(anAd({ servedAdId, costPerClickMicros, ...changes }), atMs + 1_000)
}

/** Reads the values of a filter by the names that the catalog has. */
function aReader(t: TestContext, world: World, names: Partial<CatalogNames> = {}) {
  const keptPages = openKeptPages()
  t.after(() => keptPages.close())
  const catalog = {
    markets: () => world.markets,
    publishers: nothing,
    campaigns: nothing,
    adGroups: nothing,
    ...names,
  }
  const run = createGroupsRunner({ ...world, catalog: () => catalog, keptPages })
  return async (query: Pick<ValuesQuery, 'field' | 'q'>) => {
    const { signal } = new AbortController()
    const asker = { advertiserId: 1, keyId: 'key', signal }
    return await readValues(run, { ...range, ...query }, asker)
  }
}

test('a filter is offered what has figures, found by a part of its name or id in any case, the dearest first', async (t) => {
  const world = await aWorld(t)
  world.markets.push({ id: 2, code: 'JP', currency: 'JPY', timeZone: 'Asia/Tokyo' })
  await world.loader.ship([
    aClickOn(1, { gtin: 'sku-1', campaignId: 1002 }),
    aClickOn(2, { gtin: 'sku-2', marketId: 2, currency: 'JPY' }),
    aClickOn(3, { gtin: 'sku-2' }),
    aClickOn(4, { gtin: 'sku-3', adGroupId: 5002 }),
  ])
  const products = new ProductTable(world.warehouse, Date.now)
  await products.write(
    [
      { marketId: 1, gtin: 'sku-1', title: 'Grüner Tee', brand: 'Velmora' },
      { marketId: 1, gtin: 'sku-2', title: 'Coffee', brand: 'Söhne' },
      { marketId: 2, gtin: 'sku-2', title: 'Kohi', brand: 'Söhne' },
      { marketId: 1, gtin: 'sku-4', title: 'Never advertised', brand: 'Velvet' },
    ],
    await products.nextVersion([1, 2])
  )
  const read = aReader(t, world, {
    publishers: () => [{ id: 10, name: 'Example Shop' }],
    campaigns: () => [{ id: 1001, name: 'Always on' }],
    adGroups: () => [{ id: 5002, name: 'Search 100%' }],
  })
  const ask = async (query: Pick<ValuesQuery, 'field' | 'q'>) => {
    const { values, hasMore } = await read(query)
    assert.equal(hasMore, false)
    return values.map(({ value, name, of }) => [value, name, of].join('|'))
  }

  assert.deepEqual(await ask({ field: 'BRAND' }), ['Velmora|Velmora|', 'Söhne|Söhne|'])
  assert.deepEqual(await ask({ field: 'BRAND', q: 'SÖ' }), ['Söhne|Söhne|'])
  assert.deepEqual(await ask({ field: 'GTIN', q: 'tee' }), ['sku-1|Grüner Tee|Velmora'])
  assert.deepEqual(await ask({ field: 'GTIN', q: 'KU-3' }), ['sku-3||'])
  assert.deepEqual((await ask({ field: 'CAMPAIGN_ID' })).toSorted(), ['1001|Always on|', '1002||'])
  assert.deepEqual(await ask({ field: 'CAMPAIGN_ID', q: 'ways' }), ['1001|Always on|'])
  assert.deepEqual(await ask({ field: 'CAMPAIGN_ID', q: '1002' }), ['1002||'])
  assert.deepEqual(await ask({ field: 'AD_GROUP_ID', q: '100%' }), ['5002|Search 100%|Always on'])
  assert.deepEqual(await ask({ field: 'PUBLISHER_ID', q: 'shop' }), ['10|Example Shop|'])
  assert.deepEqual(await ask({ field: 'MARKET', q: 'j' }), ['JP|JP|'])
  assert.deepEqual(await ask({ field: 'BRAND', q: `' OR 1 --` }), [])
})

test('a value that has several currencies has the name of the market that knows it, and a brand is one in any case', async (t) => {
  const world = await aWorld(t)
  world.markets.push({ id: 2, code: 'JP', currency: 'JPY', timeZone: 'Asia/Tokyo' })
  await world.loader.ship([
    aClickOn(1, { gtin: 'sku-1' }),
    aClickOn(2, { gtin: 'sku-1', marketId: 2, currency: 'JPY' }),
    aClickOn(3, { gtin: 'sku-2' }),
    aClickOn(4, { gtin: 'sku-2', marketId: 2, currency: 'JPY' }),
  ])
  const products = new ProductTable(world.warehouse, Date.now)
  await products.write(
    [
      { marketId: 1, gtin: 'sku-1', title: 'Coffee', brand: 'Açme' },
      { marketId: 1, gtin: 'sku-2', title: 'Tea', brand: 'Açme'.normalize('NFD') },
      { marketId: 2, gtin: 'sku-2', title: 'Ocha', brand: 'AÇME' },
    ],
    await products.nextVersion([1, 2])
  )
  const read = aReader(t, world)

  const named = (await read({ field: 'GTIN' })).values.find(({ value }) => value === 'sku-1')
  assert.deepEqual(named, { value: 'sku-1', name: 'Coffee', of: 'Açme' })
  assert.equal((await read({ field: 'BRAND' })).values.length, 1)
})

test('a long list is cut, and says so', async (t) => {
  const world = await aWorld(t)
  await world.loader.ship(
    Array.from({ length: 51 }, (_, index) => aClickOn(index + 1, { gtin: `sku-${index + 100}` }))
  )
  const read = aReader(t, world)

  const all = await read({ field: 'GTIN' })
  const some = await read({ field: 'GTIN', q: '-15' })

  assert.deepEqual([all.values.length, all.hasMore, all.values[0]?.value], [50, true, 'sku-100'])
  assert.deepEqual([some.values.length, some.hasMore], [1, false])
})
