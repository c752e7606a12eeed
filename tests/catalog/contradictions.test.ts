import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contradictionsOf, keepBounds } from '../../src/catalog/contradictions.ts'
import type { PricedAd } from '../../src/catalog/contradictions.ts'
import { emptySnapshot, extendSnapshot } from '../../src/catalog/snapshot.ts'
import type { MarketEntry } from '../../src/contract/catalog-bundle.ts'

const market: MarketEntry = {
  id: 1,
  code: 'DE',
  currency: 'EUR',
  timeZone: 'Europe/Berlin',
  costPerClickMax: '0.5',
  costPerMilleMax: '4.000001',
}
const catalog = extendSnapshot(emptySnapshot, {
  markets: [market, { ...market, id: 2, costPerClickMax: '0', costPerMilleMax: null }],
  advertisers: [
    { id: 1, name: 'Listed', access: [{ publisherId: 10, marketIds: [] }] },
    { id: 2, name: 'Unlisted', access: [] },
    { id: 3, name: 'Silent' },
  ],
  campaigns: [{ id: 1001, advertiserId: 1, name: 'Spring' }],
  adGroups: [{ id: 5001, campaignId: 1001, name: 'Coffee', type: 'SPA' }],
})
const ad: PricedAd = {
  publisherId: 10,
  marketId: 1,
  advertiserId: 1,
  campaignId: 1001,
  adGroupId: 5001,
  currency: 'EUR',
  costPerClickMicros: 500_000n,
  costPerMilleMicros: 4_000_001n,
}

const cases: readonly (readonly [string, Partial<PricedAd>, readonly string[]])[] = [
  ['prices at the bounds', {}, []],
  ['a click a micro above', { costPerClickMicros: 500_001n }, ['costPerClick price-above-bound']],
  ['a mille a micro above', { costPerMilleMicros: 4_000_002n }, ['costPerMille price-above-bound']],
  [
    'prices in another currency',
    { currency: 'USD', costPerClickMicros: 1n, costPerMilleMicros: 0n },
    ['costPerClick price-in-other-currency'],
  ],
  [
    'no price in another currency',
    { currency: 'USD', costPerClickMicros: 0n, costPerMilleMicros: 0n },
    [],
  ],
  [
    'a price where none is allowed',
    { marketId: 2, costPerClickMicros: 1n },
    ['costPerClick price-above-bound'],
  ],
  [
    'a price without a bound',
    { marketId: 2, costPerClickMicros: 0n, costPerMilleMicros: 10n ** 12n },
    [],
  ],
  ['a price in an unknown market', { marketId: 9, costPerClickMicros: 10n ** 12n }, []],
  ['a campaign of another advertiser', { advertiserId: 3 }, ['campaignId foreign-campaign']],
  ['an ad group of another campaign', { campaignId: 1002 }, ['adGroupId foreign-ad-group']],
  ['a publisher out of access', { publisherId: 11 }, ['publisherId no-access']],
  [
    'an empty list of access',
    { advertiserId: 2, campaignId: 9, adGroupId: 9, publisherId: 11 },
    [],
  ],
  ['no list of access', { advertiserId: 3, campaignId: 9, adGroupId: 9, publisherId: 11 }, []],
  ['ids that nobody knows', { publisherId: 8, advertiserId: 8, campaignId: 8, adGroupId: 8 }, []],
]
for (const [name, changes, expected] of cases) {
  test(`${name}: ${expected.length === 0 ? 'nothing is against it' : expected.join(', ')}`, () => {
    assert.deepEqual(
      contradictionsOf({ ...ad, ...changes }, catalog).map(({ field, code }) => `${field} ${code}`),
      expected
    )
  })
}

function boundsAfter(entry: MarketEntry) {
  const [kept] = keepBounds({ markets: [entry] }, catalog).markets ?? []
  return [kept?.costPerClickMax, kept?.costPerMilleMax]
}

test('a bundle that is silent about a bound keeps it, and null takes it away', () => {
  const { costPerClickMax: _click, costPerMilleMax: _mille, ...silent } = market

  assert.deepEqual(boundsAfter({ ...silent, code: 'D' }), ['0.5', '4.000001'])
  assert.deepEqual(boundsAfter({ ...silent, costPerClickMax: null }), [undefined, '4.000001'])
  assert.deepEqual(boundsAfter({ ...silent, costPerClickMax: '0.7' }), ['0.7', '4.000001'])
  assert.deepEqual(boundsAfter({ ...silent, id: 9 }), [undefined, undefined])
})
