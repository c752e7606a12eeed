import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseKeyRequest, parseTrackingLinksRequest } from '../../src/contract/admin.ts'
import { parseEventLine } from '../../src/contract/event-lines.ts'
import { parseCatalogBundle } from '../../src/contract/catalog-bundle.ts'
import { placement } from '../helpers/placement.ts'
import { aBundle, anAsset, aSite } from '../helpers/bundle.ts'

type Body = Readonly<Record<string, unknown>>

function messagesOf(parsed: { ok: true } | { ok: false; messages: readonly string[] }) {
  return parsed.ok ? [] : parsed.messages
}

const keyFaults = (body: unknown) => messagesOf(parseKeyRequest(body))
const linkFaults = (changes: Body) =>
  messagesOf(parseTrackingLinksRequest({ links: [{ ...link, ...changes }] }))
const bundleFaults = (body: unknown) => messagesOf(parseCatalogBundle(body))
const lineFaults = (body: unknown) => messagesOf(parseEventLine(body))

const key = { name: 'Acme', advertisers: [1], scopes: ['report:read'] }

const link = {
  ...placement,
  gtin: '4006381333931',
  userId: 'u1',
}

const bundle = {
  ...aBundle(),
  publishers: [
    {
      id: 10,
      name: 'Example Shop',
      conversionSources: ['203.0.113.0/24'],
      sites: [
        aSite({
          locations: [
            {
              type: 'PLATFORM_PRODUCT',
              location: 'SEARCH_PAGE',
              pagePosition: 'MAIN_GRID',
              adGroupTypes: ['SPA'],
            },
          ],
        }),
      ],
    },
  ],
  advertisers: [
    { id: 1, name: 'Acme', access: [{ publisherId: 10, marketIds: [1], siteIds: [101] }] },
  ],
  adGroups: [{ id: 5001, campaignId: 1001, name: 'Coffee', type: 'SPA', active: false }],
  products: [{ marketId: 1, gtin: '4006381333931', title: 'Pen', brand: 'Acme', groupId: 'GRP1' }],
  assets: [
    anAsset({
      altText: 'A pen',
      backgroundColor: '#ffffff',
      callToAction: 'Buy',
      adCopy: 'It writes.',
      link: 'https://shop.example/pen',
    }),
  ],
}

const sentBack = {
  publisher_id: 10,
  transaction_id: 't-1',
  return_id: 'r-1',
  products: [{ gtin: '4006381333931', quantity: 1 }],
}
const order = {
  user_id: 'u1',
  transaction_id: 't-1',
  site_id: 101,
  publisher_id: 10,
  currency: 'eur',
  products: [{ gtin: '1', price: 1, quantity: 1 }],
}
const receivedAt = '2026-03-02T10:00:00.000Z'

function manyLinks(length: number): Body {
  return { links: Array.from({ length }, () => link) }
}

test('a key is for all advertisers or publishers, for some, or for none', () => {
  assert.deepEqual(keyFaults(key), [])
  assert.deepEqual(keyFaults({ ...key, advertisers: 'all', expiresAt: receivedAt }), [])
  for (const advertisers of ['ALL', [], [0], ['1'], null]) {
    assert.deepEqual(keyFaults({ ...key, advertisers }), [
      '/advertisers must be "all" or a list of advertiser ids',
    ])
    assert.deepEqual(keyFaults({ ...key, publishers: advertisers }), [
      '/publishers must be "all" or a list of publisher ids',
    ])
  }
  assert.deepEqual(keyFaults({ ...key, publishers: [10] }), [])
  assert.deepEqual(keyFaults({ name: 'n', publishers: 'all', scopes: ['intake:read'] }), [])
})

test('a key needs a name and known scopes, and expires at an instant', () => {
  assert.deepEqual(keyFaults({ ...key, name: '' }), ['/name must have at least 1 character'])
  assert.deepEqual(keyFaults({ ...key, scopes: [] }), ['/scopes must have at least 1 item'])
  assert.match(keyFaults({ ...key, scopes: ['root'] })[0] ?? '', /^\/scopes\/0 must be one of: /)
  assert.equal(keyFaults({ ...key, expiresAt: '2026-03-02' }).length, 1)
})

test('a link needs the ids of its ad, and everything after them but the user is optional', () => {
  assert.deepEqual(linkFaults({}), [])
  const optional = {
    groupId: 'GRP1',
    userLoggedInId: 'l1',
    currency: 'EUR',
    costPerClick: '0.25',
    costPerMille: '0',
    landingUrl: 'https://shop.example/pen',
    servedAt: receivedAt,
  }
  assert.deepEqual(linkFaults(optional), [])
  assert.deepEqual(messagesOf(parseTrackingLinksRequest({ links: [{}] })).length, 8)
  assert.deepEqual(linkFaults({ siteId: 0 }), ['/links/0/siteId must be at least 1'])
})

test('a cost is a decimal text with at most nine and six digits', () => {
  for (const costPerClick of ['0', '0.25', '999999999.999999']) {
    assert.deepEqual(linkFaults({ costPerClick }), [])
  }
  for (const costPerClick of [
    '',
    '.5',
    '1.',
    '01',
    '-1',
    '1e3',
    '1000000000',
    '0.0000001',
    '1\n',
  ]) {
    assert.equal(linkFaults({ costPerClick }).length, 1, costPerClick)
  }
  assert.deepEqual(linkFaults({ costPerClick: 0.25 }), ['/links/0/costPerClick must be string'])
})

test('1000 links are taken at once and not one more', () => {
  assert.deepEqual(messagesOf(parseTrackingLinksRequest(manyLinks(1000))), [])
  assert.deepEqual(messagesOf(parseTrackingLinksRequest(manyLinks(1001))), [
    '/links must have at most 1000 items',
  ])
})

test('the documented bundle and an empty one are taken', () => {
  assert.deepEqual(bundleFaults(bundle), [])
  assert.deepEqual(bundleFaults({}), [])
})

test('every fault of a bundle is told with its path', () => {
  const faulty = {
    markets: [{ id: '1', code: '', currency: 'EURO', timeZone: 'UTC' }],
    campaigns: [{ id: 1001, advertiserId: 1, name: 'x'.repeat(501) }],
    adGroups: [{ id: 5001, campaignId: 1001, name: 'x', type: 'VIDEO' }],
  }

  assert.deepEqual(bundleFaults(faulty), [
    '/markets/0/id must be integer',
    '/markets/0/code must have at least 1 character',
    '/markets/0/currency must have at most 3 characters',
    '/campaigns/0/name must have at most 500 characters',
    '/adGroups/0/type must be one of: DISPLAY, SPA, SPONSORED_BRAND',
  ])
})

test('a line is an ad event or a conversion, stamped in milliseconds', () => {
  const receivedAtMs = Date.UTC(2026, 2, 2, 10)
  assert.deepEqual(parseEventLine({ type: 'click', trackingData: 'AQ', receivedAt }), {
    ok: true,
    value: { type: 'click', trackingData: 'AQ', receivedAtMs },
  })
  assert.deepEqual(
    parseEventLine({ type: 'load', trackingData: 'AQ', receivedAt, userAgent: 'x' }),
    { ok: true, value: { type: 'load', trackingData: 'AQ', receivedAtMs, userAgent: 'x' } }
  )
  assert.deepEqual(parseEventLine({ type: 'conversion', receivedAt, conversion: order }), {
    ok: true,
    value: { type: 'conversion', receivedAtMs, conversion: { ...order, currency: 'EUR' } },
  })
  assert.deepEqual(parseEventLine({ type: 'return', receivedAt, return: sentBack }), {
    ok: true,
    value: { type: 'return', receivedAtMs, return: sentBack },
  })
})

function kunaReceivedAt(instant: string) {
  const conversion = { ...order, currency: 'hrk' }
  return parseEventLine({ type: 'conversion', receivedAt: instant, conversion })
}

test('a purchase of the past may be in a currency that has been withdrawn since, not before its receipt', () => {
  const before = kunaReceivedAt('2022-12-30T09:00:00Z')
  assert.ok(before.ok && before.value.type === 'conversion')
  assert.equal(before.value.conversion.currency, 'HRK')
  assert.deepEqual(kunaReceivedAt('2023-02-01T00:00:00Z'), {
    ok: false,
    messages: ['/conversion/currency must be an active ISO 4217 currency code'],
  })
})

test('a faulty line is told what is wrong, inside its conversion or return too', () => {
  assert.deepEqual(lineFaults({ type: 'view', receivedAt }), [
    '/type must be one of: impression, click, load, conversion, return',
  ])
  assert.deepEqual(lineFaults({ type: 'click', receivedAt }), ['/trackingData is required'])
  assert.equal(lineFaults({ type: 'click', trackingData: 'AQ', receivedAt: 'now' }).length, 1)
  assert.deepEqual(lineFaults({ type: 'conversion', receivedAt }), ['/conversion is required'])
  assert.deepEqual(lineFaults({ type: 'conversion', receivedAt, conversion: 1 }), [
    '/conversion must be object',
  ])
  assert.deepEqual(
    lineFaults({ type: 'conversion', receivedAt, conversion: { ...order, site_id: '1' } }),
    ['/conversion/site_id must be integer']
  )
  assert.deepEqual(lineFaults({ type: 'return', receivedAt }), ['/return is required'])
  assert.deepEqual(lineFaults({ type: 'return', receivedAt, return: [] }), [
    '/return must be object',
  ])
  assert.deepEqual(
    lineFaults({ type: 'return', receivedAt, return: { ...sentBack, return_id: '' } }),
    ['/return/return_id must be text with a visible character']
  )
})
