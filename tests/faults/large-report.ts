// An advertiser beside the load whose report is larger than what kernels keep of a connection, so
// that a slow reader of it is felt by the node.

import { placement } from '../helpers/placement.ts'
import type { Service } from '../helpers/service.ts'
import { browser } from '../helpers/shoppers.ts'
import type { Load } from './load.ts'
import { aBundle } from '../helpers/bundle.ts'

export const largeAdvertiserId = 2
const campaignId = 2001
const adGroupId = 6001
/** Of some 3 KB each. */
const rowCount = 2_000
const linksPerCall = 1_000
const name = '名'.repeat(500)

const bundle = aBundle()
/** The bundle of the tests, and the large advertiser with names that fill its rows. */
export const faultsCatalog = {
  ...bundle,
  advertisers: [
    ...bundle.advertisers,
    { id: largeAdvertiserId, name: 'Large', access: [{ publisherId: 10, marketIds: [1] }] },
  ],
  campaigns: [...bundle.campaigns, { id: campaignId, advertiserId: largeAdvertiserId, name }],
  adGroups: [...bundle.adGroups, { id: adGroupId, campaignId, name, type: 'SPA' }],
}

/** One impression of each of its products. */
export async function loadLargeReport(engine: Service, load: Load): Promise<void> {
  const receivedAt = new Date().toISOString()
  const lines: string[] = []
  while (lines.length < rowCount) {
    const links = Array.from({ length: linksPerCall }, (_, index) => ({
      ...placement,
      advertiserId: largeAdvertiserId,
      campaignId,
      adGroupId,
      gtin: `large-${lines.length + index}`,
      userId: '',
      currency: 'EUR',
      costPerClick: '0.25',
    }))
    const tokens = await load.mint(links)
    lines.push(
      ...tokens.map((trackingData) =>
        JSON.stringify({ type: 'impression', trackingData, receivedAt, userAgent: browser })
      )
    )
  }
  const answer = await fetch(`${engine.campaignUrl}/admin/v1/events`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${engine.adminKey}`,
      'content-type': 'application/x-ndjson',
    },
    body: `${lines.join('\n')}\n`,
  })
  if (!answer.ok) throw new Error(`events: ${answer.status} ${await answer.text()}`)
}
