// What is misspelt is refused by name where the sender can mend it, and kept out of nobody's way elsewhere.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  parseKeyRequest,
  parseRebuildRequest,
  parseTrackingLinksRequest,
} from '../../src/contract/admin.ts'
import { parseEventLine } from '../../src/contract/event-lines.ts'
import { parseCatalogBundle, parseStoredBundle } from '../../src/contract/catalog-bundle.ts'
import { parseConversion } from '../../src/contract/conversion.ts'
import { parseCreativeRequest } from '../../src/contract/creative.ts'
import { buildOpenApi } from '../../src/contract/openapi.ts'
import { parseReportRequest } from '../../src/contract/report-request.ts'

type Outcome = { readonly ok: boolean; readonly messages?: readonly string[] }

const messagesOf = (outcome: Outcome) => (outcome.ok ? [] : outcome.messages)
const range = { startDate: '2026-03-01', endDate: '2026-03-31' }

const cases: readonly (readonly [string, Outcome, readonly string[]])[] = [
  [
    'a report',
    parseReportRequest({ ...range, filter: [], dateBreakdwon: true }),
    [
      '/filter is not known here; did you mean filters?',
      '/dateBreakdwon is not known here; did you mean dateBreakdown?',
    ],
  ],
  [
    'a filter of a report',
    parseReportRequest({ ...range, filters: [{ field: 'GTIN', value: ['1'] }] }),
    ['/filters/0/values is required', '/filters/0/value is not known here; did you mean values?'],
  ],
  [
    'an asset',
    parseCreativeRequest({
      creativeSizeId: 1,
      assetId: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
      assetid: 'x',
    }),
    ['/assetid is not known here; did you mean assetId?'],
  ],
  [
    'a publisher of a bundle',
    parseCatalogBundle({ publishers: [{ id: 1, name: 'x', conversionSource: [] }] }),
    ['/publishers/0/conversionSource is not known here; did you mean conversionSources?'],
  ],
  ['a bundle of something else', parseCatalogBundle({ foo: 1 }), ['/foo is not known here']],
  [
    'a location deep inside a bundle',
    parseCatalogBundle({
      publishers: [
        {
          id: 1,
          name: 'x',
          sites: [
            {
              id: 1,
              name: 'x',
              type: 'DESKTOP',
              marketIds: [1],
              locations: [
                { type: 'DISPLAY', location: 'HOME_PAGE', adGroupTypes: ['SPA'], position: 'L1' },
              ],
            },
          ],
        },
      ],
    }),
    ['/publishers/0/sites/0/locations/0/position is not known here'],
  ],
  [
    'a key',
    parseKeyRequest({ name: 'x', scopes: ['admin'], expires: '2026-03-01T00:00:00Z' }),
    ['/expires is not known here; did you mean expiresAt?'],
  ],
  ['a rebuild', parseRebuildRequest({ ...range, market: 1 }), ['/market is not known here']],
  [
    'a line of a backfill',
    parseEventLine({
      type: 'click',
      trackingData: 'x',
      receivedAt: '2026-03-01T00:00:00Z',
      useragent: 'x',
    }),
    ['/useragent is not known here; did you mean userAgent?'],
  ],
]

for (const [what, outcome, messages] of cases) {
  test(`${what}: a misspelt field is refused with its path and the nearest known one`, () => {
    assert.equal(outcome.ok, false)
    assert.deepEqual(messagesOf(outcome), messages)
  })
}

const conversion = {
  user_id: 'u',
  transaction_id: 't',
  site_id: 1,
  publisher_id: 1,
  currency: 'EUR',
  products: [{ gtin: '1', price: 1, quantity: 1, colour: 'red' }],
  coupon: 'x',
}

test('a purchase is not lost for a field too many, live or in a line of a backfill', () => {
  const receivedAt = '2026-03-01T00:00:00Z'
  assert.equal(parseConversion(conversion).ok, true)
  assert.equal(parseEventLine({ type: 'conversion', receivedAt, conversion }).ok, true)
  const back = {
    publisher_id: 1,
    transaction_id: 't',
    return_id: 'r',
    products: [{ gtin: '1', quantity: 1 }],
    why: 'broken',
  }
  assert.equal(parseEventLine({ type: 'return', receivedAt, return: back }).ok, true)
})

test('an element of filter values may hold what it likes beside its value', () => {
  const filters = [{ field: 'GTIN', values: [{ value: '1', label: 'one' }] }]
  assert.equal(parseReportRequest({ ...range, filters }).ok, true)
})

test('a name that no misspelling explains is not repeated', () => {
  for (const name of ['<script>', 'a b', '__proto__ ', 'x'.repeat(65), '']) {
    const [message, ...others] = messagesOf(parseReportRequest({ ...range, [name]: 1 })) ?? []
    assert.equal(message, '/? is not known here')
    assert.deepEqual(others, [])
  }
})

test('a minter is told of a misspelt field of a link', () => {
  const messages = messagesOf(parseTrackingLinksRequest({ links: [{ landingURL: 'x' }] })) ?? []
  assert.ok(messages.some((text) => text.startsWith('/links/0/landingURL is not known here')))
})

test('what an older version stored beside the known fields neither stops a start nor is shown', () => {
  const site = { id: 1, name: 'x', type: 'DESKTOP', marketIds: [1], note: 'secret' }
  const stored = { publishers: [{ id: 1, name: 'x', margin: 0.4, sites: [site] }] }

  const { note: _note, ...known } = site
  assert.deepEqual(parseStoredBundle(stored), {
    ok: true,
    value: { publishers: [{ id: 1, name: 'x', sites: [known] }] },
  })
})

test('the document says which bodies are closed, and leaves answers and deliveries open', () => {
  const { schemas } = buildOpenApi({
    trackingUrl: 'http://t',
    campaignUrl: 'http://c',
    version: '1',
  }).components
  for (const name of ['CatalogBundleInput', 'PublisherEntryInput', 'SpaProductReportRequest']) {
    assert.equal(schemas[name]?.['additionalProperties'], false, name)
  }
  for (const name of [
    'Conversion',
    'CatalogBundle',
    'PublisherEntry',
    'DisplayAdGroupAssetResponse',
  ]) {
    assert.ok(name in schemas && !('additionalProperties' in (schemas[name] ?? {})), name)
  }
})
