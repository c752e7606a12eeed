import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TrackingLinksResponse } from '../../../src/contract/admin.ts'
import { clickLeadsMs } from '../../../src/domain/windows.ts'
import { adminKey, bearer, bundle, nowMs, startAdmin, type AdminHarness } from './harness.ts'
import { placement } from '../../helpers/placement.ts'

let admin: AdminHarness

before(async () => {
  admin = await startAdmin()
  await admin.app.inject({
    method: 'PUT',
    url: '/admin/v1/catalog',
    headers: bearer(adminKey),
    payload: bundle,
  })
})
after(() => admin.close())

const link = {
  ...placement,
  gtin: '4006381333931',
  userId: 'u1',
}

function mint(links: readonly object[], key = adminKey) {
  const payload = { links }
  return { method: 'POST', url: '/admin/v1/tracking-links', headers: bearer(key), payload } as const
}

test('a link carries the ad, and its three addresses carry the same token', async () => {
  const full = {
    ...link,
    groupId: 'GRP1',
    userLoggedInId: 'l1',
    currency: 'usd',
    costPerClick: '0.25',
    costPerMille: '1.5',
    landingUrl: 'https://shop.example/p?x=1',
    servedAt: '2026-03-01T12:00:00.000+01:00',
  }

  const response = await admin.app.inject(mint([full]))

  assert.equal(response.statusCode, 200, response.body)
  const [minted] = response.json<TrackingLinksResponse>().links
  assert.ok(minted !== undefined)
  const opened = admin.openTrackingData(minted.trackingData)
  assert.ok(opened.ok)
  assert.deepEqual(opened.data, {
    servedAdId: minted.servedAdId.replaceAll('-', ''),
    servedAtMs: Date.UTC(2026, 2, 1, 11),
    ...placement,
    gtin: '4006381333931',
    groupId: 'GRP1',
    userId: 'u1',
    userLoggedInId: 'l1',
    currency: 'USD',
    costPerClickMicros: 250_000n,
    costPerMilleMicros: 1_500_000n,
    landingUrl: 'https://shop.example/p?x=1',
  })
  assert.equal(minted.impressionUrl, `https://t.example/impression/${minted.trackingData}`)
  assert.equal(minted.clickUrl, `https://t.example/click/${minted.trackingData}`)
  assert.equal(minted.loadUrl, `https://t.example/load/${minted.trackingData}`)
})

test("what is left out is the market's currency, no cost, and now", async () => {
  const response = await admin.app.inject(mint([link]))

  const [minted] = response.json<TrackingLinksResponse>().links
  const opened = admin.openTrackingData(minted?.trackingData ?? '')
  assert.ok(opened.ok)
  const { currency, costPerClickMicros, costPerMilleMicros, servedAtMs, landingUrl } = opened.data
  assert.deepEqual(
    { currency, costPerClickMicros, costPerMilleMicros, servedAtMs, landingUrl },
    {
      currency: 'EUR',
      costPerClickMicros: 0n,
      costPerMilleMicros: 0n,
      servedAtMs: nowMs,
      landingUrl: '',
    }
  )
})

test('a thousand links come back in their order, each an ad of its own; one more is refused', async () => {
  const links = Array.from({ length: 1_000 }, (_, index) => ({ ...link, gtin: `sku-${index}` }))

  const response = await admin.app.inject(mint(links))

  const minted = response.json<TrackingLinksResponse>().links
  const gtins = minted.map(({ trackingData }) => {
    const opened = admin.openTrackingData(trackingData)
    return opened.ok ? opened.data.gtin : ''
  })
  assert.deepEqual(
    gtins,
    links.map(({ gtin }) => gtin)
  )
  assert.equal(new Set(minted.map(({ servedAdId }) => servedAdId)).size, 1_000)
  assert.equal((await admin.app.inject(mint([...links, link]))).statusCode, 422)
})

const faults: readonly (readonly [changes: object, message: string])[] = [
  [{ publisherId: 99 }, '/links/1/publisherId is no known publisher'],
  [{ siteId: 201 }, '/links/1/siteId is no known site of the publisher'],
  [{ marketId: 9 }, '/links/1/marketId is no known market'],
  [{ marketId: 2 }, '/links/1/marketId is no longer active'],
  [{ advertiserId: 9 }, '/links/1/advertiserId is no known advertiser'],
  [{ campaignId: 9 }, '/links/1/campaignId is no known campaign'],
  [{ campaignId: 1002, adGroupId: 5002 }, '/links/1/campaignId is no longer active'],
  [
    { campaignId: 2001, adGroupId: 6001 },
    '/links/1/campaignId is not a campaign of the advertiser',
  ],
  [{ adGroupId: 9 }, '/links/1/adGroupId is no known ad group'],
  [{ adGroupId: 6001 }, '/links/1/adGroupId is not an ad group of the campaign'],
  [{ currency: 'HRK' }, '/links/1/currency must be an active ISO 4217 currency code'],
  [
    { costPerClick: '1e3' },
    '/links/1/costPerClick must be a decimal such as "0.25", with at most 6 digits after the point',
  ],
  [
    { costPerClick: '999999999' },
    '/links/1/costPerClick must be a decimal number from 0 to 1000000 with at most 6 decimals, such as "0.25"',
  ],
  [{ costPerMille: 1 }, '/links/1/costPerMille must be string'],
  [{ gtin: '' }, '/links/1/gtin must have at least 1 character'],
  [{ gtin: '  ' }, '/links/1/gtin must be text with a visible character'],
  [{ userId: 5 }, '/links/1/userId must be string'],
  [{ publisherId: 0 }, '/links/1/publisherId must be at least 1'],
  [
    { servedAt: '2026-02-30T00:00:00Z' },
    '/links/1/servedAt must be an instant such as 2026-03-01T00:00:00Z',
  ],
  [
    { servedAt: '2019-12-31T23:59:59Z' },
    '/links/1/servedAt must be an instant from 2020-01-01 to 2100-01-01 UTC',
  ],
]
test('a link that breaks a rule refuses the request, naming link, field and rule', async () => {
  for (const [changes, message] of faults) {
    const response = await admin.app.inject(mint([link, { ...link, ...changes }]))
    assert.equal(response.statusCode, 422, JSON.stringify(changes))
    assert.equal(response.json<{ messages: string[] }>().messages[0], message)
  }
})

test('an ad may be minted before it is served, as for a newsletter, but not further ahead than its clicks lead', async () => {
  const latest = new Date(nowMs + clickLeadsMs).toISOString()
  const later = new Date(nowMs + clickLeadsMs + 1).toISOString()

  const taken = await admin.app.inject(mint([{ ...link, servedAt: latest }]))
  const refused = await admin.app.inject(mint([{ ...link, servedAt: later }]))

  assert.equal(taken.statusCode, 200, taken.body)
  assert.equal(refused.statusCode, 422)
  assert.deepEqual(refused.json(), {
    messages: ['/links/0/servedAt must be at most 35 days ahead'],
  })
})

test('landing pages that are a danger to who follows them are refused', async () => {
  for (const landingUrl of ['javascript:alert(1)', '/p', 'https://u:p@shop.example/', 'ftp://x/']) {
    const response = await admin.app.inject(mint([{ ...link, landingUrl }]))
    assert.equal(response.statusCode, 422, landingUrl)
  }
})

test('a key mints for its own advertisers only, and only with the scope', async () => {
  const own = await admin.keyOf({ scopes: ['link:mint'], advertisers: [1] })
  const other = { ...link, advertiserId: 2, campaignId: 2001, adGroupId: 6001 }
  const reader = await admin.keyOf({ scopes: ['report:read'] })

  assert.equal((await admin.app.inject(mint([link], own))).statusCode, 200)
  assert.equal((await admin.app.inject(mint([link, other], own))).statusCode, 403)
  assert.equal((await admin.app.inject(mint([{ ...link, advertiserId: 9 }], own))).statusCode, 403)
  assert.equal((await admin.app.inject(mint([link], reader))).statusCode, 403)
})

test('a publisher with landing hosts has no links to other hosts; one without has them to any', async () => {
  const [publisher, other] = bundle.publishers
  assert.ok(publisher !== undefined && other !== undefined)
  const put = (publishers: readonly object[]) =>
    admin.app.inject({
      method: 'PUT',
      url: '/admin/v1/catalog',
      headers: bearer(adminKey),
      payload: { publishers },
    })
  const stored = await put([
    { ...publisher, landingHosts: ['Shop.example', '*.brand.example'] },
    other,
  ])
  assert.equal(stored.statusCode, 200, stored.body)

  for (const landingUrl of [undefined, 'https://shop.example/p', 'http://a.brand.example:81/']) {
    const response = await admin.app.inject(mint([{ ...link, landingUrl }]))
    assert.equal(response.statusCode, 200, response.body)
  }
  for (const landingUrl of ['https://evil.example/', 'https://shop.example.evil.example/p']) {
    const response = await admin.app.inject(mint([link, { ...link, landingUrl }]))
    assert.equal(response.statusCode, 422)
    assert.deepEqual(response.json<{ messages: string[] }>().messages, [
      "/links/1/landingUrl must be of a host among the publisher's landingHosts",
    ])
  }
  const elsewhere = { ...link, landingUrl: 'https://evil.example/' }
  const ofOther = { ...elsewhere, publisherId: 20, siteId: 201 }
  assert.equal((await admin.app.inject(mint([ofOther]))).statusCode, 200)

  await put([publisher])
  assert.equal((await admin.app.inject(mint([elsewhere]))).statusCode, 200)
})

function loadCatalog(payload: object) {
  const url = '/admin/v1/catalog'
  return admin.app.inject({ method: 'PUT', url, headers: bearer(adminKey), payload })
}

async function messagesOf(changes: object) {
  const response = await admin.app.inject(mint([{ ...link, ...changes }]))
  return [response.statusCode, response.json<{ messages?: string[] }>().messages]
}

test('a link that contradicts the bounds or the access of the catalog is refused, and one at the bound is minted', async () => {
  const [market] = bundle.markets
  const [advertiser] = bundle.advertisers
  const bounds = { costPerClickMax: '0.25', costPerMilleMax: '4' }
  await loadCatalog({
    markets: [{ ...market, ...bounds }],
    advertisers: [{ ...advertiser, access: [{ publisherId: 20, marketIds: [1] }] }],
  })

  assert.deepEqual(await messagesOf({}), [
    422,
    ['/links/0/publisherId is not among the publishers that the advertiser has access to'],
  ])
  await loadCatalog({
    advertisers: [{ ...advertiser, access: [{ publisherId: 10, marketIds: [1] }] }],
  })
  assert.deepEqual(await messagesOf({ costPerClick: '0.250000', costPerMille: '4' }), [
    200,
    undefined,
  ])
  assert.deepEqual(await messagesOf({ costPerClick: '0.250001', costPerMille: '4.000001' }), [
    422,
    [
      '/links/0/costPerClick must be at most 0.25, the bound of the market',
      '/links/0/costPerMille must be at most 4, the bound of the market',
    ],
  ])
  assert.deepEqual(await messagesOf({ currency: 'USD', costPerClick: '0.01' }), [
    422,
    ['/links/0/costPerClick must be in EUR, since the market bounds it in its currency'],
  ])

  // A bundle that does not speak of the bounds keeps them, and null takes them away.
  await loadCatalog({ markets: [market] })
  assert.equal((await messagesOf({ costPerClick: '0.3' }))[0], 422)
  const refused = await loadCatalog({ markets: [{ ...market, costPerClickMax: '0.0000001' }] })
  assert.equal(refused.statusCode, 422)
  await loadCatalog({
    markets: [{ ...market, costPerClickMax: null, costPerMilleMax: null }],
    advertisers: [{ ...advertiser, access: [] }],
  })
  assert.equal((await messagesOf({ costPerClick: '0.3' }))[0], 200)
})
