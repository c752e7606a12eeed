import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Attributor } from '../../../src/attribution/attribute.ts'
import type { Explanation, OwnExplanation } from '../../../src/contract/explanation.ts'
import { createHistoryLoader } from '../../helpers/history-warehouse.ts'
import { aClick, aPurchase, anAd } from '../../helpers/seal-scenario.ts'
import { bundle, startAdmin } from './harness.ts'

const atMs = Date.UTC(2026, 2, 2, 12)

test('an explanation names what the catalog knows, and to an advertiser no campaign of another one', async (t) => {
  const harness = await startAdmin()
  t.after(() => harness.close())
  const loader = createHistoryLoader(harness.warehouse, 0)
  const transactionId = 'with names'
  const gtin = '0049000000054'
  const product = { marketId: 1, gtin: '049000000054', title: 'Beans', brand: 'Rival' }
  await harness.call('PUT', '/admin/v1/catalog', JSON.stringify({ ...bundle, products: [product] }))
  const theirs = anAd({ servedAtMs: atMs - 7_200_000, gtin: product.gtin })
  const mine = anAd({
    ...theirs,
    servedAdId: 'c'.repeat(32),
    advertiserId: 2,
    campaignId: 2001,
    adGroupId: 6001,
  })
  // The token of its own ad names a campaign of advertiser 1, and an ad group that the catalog lacks.
  const astray = anAd({
    ...mine,
    servedAdId: 'd'.repeat(32),
    campaignId: 1001,
    adGroupId: 7777,
  })
  const order = aPurchase({ atMs, transactionId })
  await loader.ship([
    aClick(mine, atMs - 60_000),
    aClick(astray, atMs - 120_000),
    aClick(theirs, atMs - 180_000),
    { ...order, lines: order.lines.map((line) => Object.assign({}, line, { gtin })) },
  ])
  const attributor = new Attributor({ warehouse: harness.warehouse, settleMs: 0 })
  while ((await attributor.attributeBatch()).hasMore);

  const whole = await harness.call('GET', '/admin/v1/conversions/10/with%20names')
  const own = await harness.call('GET', '/v2/advertisers/2/attributions/10/with%20names')

  const { names } = whole.json as Explanation
  const { names: ownNames, lines } = own.json as OwnExplanation
  const market = { id: 1, code: 'DE', timeZone: 'Europe/Berlin' }
  const shared = {
    publisher: 'Shop',
    markets: [market],
    products: [
      { marketId: 1, gtin, title: 'Beans' },
      { marketId: 1, gtin: product.gtin, title: 'Beans' },
    ],
  }
  assert.equal(lines[0]?.candidates.length, 2)
  assert.deepEqual(ownNames, {
    ...shared,
    campaigns: [{ id: 2001, name: 'Other' }],
    adGroups: [{ id: 6001, name: 'Other' }],
  })
  assert.deepEqual(
    {
      ...names,
      campaigns: names.campaigns.map(({ id }) => id).toSorted((one, other) => one - other),
    },
    {
      ...shared,
      products: names.products,
      campaigns: [1001, 2001],
      adGroups: names.adGroups,
      sites: [{ id: 101, name: 'D' }],
      advertisers: names.advertisers,
    }
  )
  assert.deepEqual(names.advertisers.map(({ name }) => name).toSorted(), ['Acme', 'Rival'])
  assert.ok(names.products.every(({ title }) => title === 'Beans'))
})
