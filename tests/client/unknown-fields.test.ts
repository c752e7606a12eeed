// Callers may write JavaScript, where no compiler knows the names of fields.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ClientError,
  createCampaignClient,
  createPublisherClient,
} from '../../src/client/client.ts'

const url = 'http://127.0.0.1:9'
const key = 'st_key'
const days = { startDate: '2026-03-01', endDate: '2026-03-02' }
const conversion = {
  user_id: 'u',
  transaction_id: 't',
  site_id: 1,
  publisher_id: 1,
  currency: 'EUR',
  products: [{ gtin: '4006381333931', price: 1, quantity: 1 }],
}
const returned = {
  publisher_id: 1,
  transaction_id: 't',
  return_id: 'r',
  products: [{ gtin: '4006381333931', quantity: 1 }],
}
const adGroup = { advertiserId: 1, campaignId: 2, adGroupId: 3 }
const creative = { creativeSizeId: 1, assetId: '8f4e7c1e-6a55-4a4f-9a2e-2d1a3c0b9f10' }

/** What the call is refused with before anything is sent: nobody listens at the address. */
async function refusalOf(call: () => unknown): Promise<{ code: string; messages: string }> {
  try {
    await call()
  } catch (error) {
    assert.ok(error instanceof ClientError)
    assert.equal(error.attemptCount, 0)
    return { code: error.code, messages: error.messages.join('; ') }
  }
  return assert.fail('it was not refused')
}

test('an option that nobody knows is refused by name, with the nearest known one', async () => {
  const { code, messages } = await refusalOf(() =>
    createPublisherClient({ url, attemptMax: 3, ['x y']: 1 } as never)
  )

  assert.equal(code, 'OPTIONS_INVALID')
  assert.match(messages, /\/attemptMax is not known here; did you mean attemptsMax\?/)
  assert.match(messages, /\/\? is not known here/, 'no name is repeated that is none')
  const other = await refusalOf(() => createCampaignClient({ url, key, silencems: 3 } as never))
  assert.match(other.messages, /\/silencems .* did you mean silenceMs\?/)
})

test('every call refuses options and fields of a question that nobody knows', async () => {
  const publisher = createPublisherClient({ url, attemptsMax: 1 })
  const campaign = createCampaignClient({ url, key, attemptsMax: 1 })
  const odd = { signals: undefined } as never
  const report = { ...days, dateBreakdwon: true } as never
  const filter = { ...days, filters: [{ field: 'MARKET', value: ['x'] }] } as never
  const noSignal = { signal: {} } as never
  const cases: readonly (readonly [RegExp, () => unknown])[] = [
    [/\/options\/signal must be an AbortSignal/, () => publisher.sendReturn(returned, noSignal)],
    [/\/options\/signal must be an AbortSignal/, () => campaign.reportCsv(1, days, noSignal)],
    [/\/options\/signals .* signal\?/, () => publisher.sendConversion(conversion, odd)],
    [/\/options\/signals .* signal\?/, () => publisher.sendReturn(returned, odd)],
    [/\/options\/signals .* signal\?/, () => campaign.report(1, days, odd).next()],
    [/\/options\/signals .* signal\?/, () => campaign.reportCsv(1, days, odd)],
    [/\/options\/signals .* signal\?/, () => campaign.reportJson(1, days, odd)],
    [/\/options\/signals .* signal\?/, () => campaign.attributionsCsv(1, days, odd)],
    [/\/options\/signals .* signal\?/, () => campaign.addAsset(adGroup, creative, odd)],
    [
      /\/options\/signals .* signal\?/,
      () => campaign.siteLocations(1, { publisherId: 1, marketId: 1 }, odd),
    ],
    [/^\/dateBreakdwon .* dateBreakdown\?/, () => campaign.report(1, report).next()],
    [/^\/dateBreakdwon .* dateBreakdown\?/, () => campaign.reportCsv(1, report)],
    [/^\/dateBreakdwon .* dateBreakdown\?/, () => campaign.reportJson(1, report)],
    [/\/filters\/0\/value .* values\?/, () => campaign.reportJson(1, filter)],
    [/^\/dateBreakdwon/, () => campaign.attributionsCsv(1, report)],
    [
      /^\/adGroup .* adGroupId\?/,
      () => campaign.addAsset({ ...adGroup, adGroup: 1 } as never, creative),
    ],
    [
      /^\/assetID .* assetId\?/,
      () => campaign.addAsset(adGroup, { ...creative, assetID: 1 } as never),
    ],
    [
      /^\/marketID .* marketId\?/,
      () => campaign.siteLocations(1, { publisherId: 1, marketId: 1, marketID: 2 } as never),
    ],
  ]

  for (const [expected, call] of cases) {
    const { code, messages } = await refusalOf(call)
    assert.equal(code, 'REQUEST_INVALID', String(call))
    assert.match(messages, expected, String(call))
  }
})

// A purchase must not be lost for a field that a later version of the shop adds.
test('purchases and returns go on ignoring fields that they do not know', async () => {
  const publisher = createPublisherClient({ url, attemptsMax: 1 })
  for (const call of [
    () => publisher.sendConversion({ ...conversion, coupon: 'x' } as never),
    () => publisher.sendReturn({ ...returned, note: 'x' } as never),
  ]) {
    await assert.rejects(call, { code: 'NETWORK_FAILED' })
  }
})
