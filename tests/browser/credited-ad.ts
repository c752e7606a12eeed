// An ad of an hour ago whose click earned a purchase, in a service that runs.
import assert from 'node:assert/strict'
import type { ServedAdReading } from '../../src/contract/served-ad.ts'
import { placement } from '../helpers/placement.ts'
import { eventually, type Service } from '../helpers/service.ts'

export interface CreditedAd {
  readonly servedAdId: string
  readonly trackingData: string
  readonly transactionId: string
}

type Where = Pick<Service, 'campaignUrl' | 'adminKey'>

interface Advertised {
  readonly gtin: string
  readonly adGroupId: number
}

const aProduct: Advertised = { gtin: '4006381333931', adGroupId: placement.adGroupId }
const userId = 'pasted-link-shopper'
const transactionId = 'pasted-link-1'

/** Resolves when the reports credit the purchase. */
export async function serveCreditedAd(
  where: Where,
  { gtin, adGroupId } = aProduct
): Promise<CreditedAd> {
  const link = {
    ...placement,
    gtin,
    adGroupId,
    userId,
    costPerClick: '0.25',
    servedAt: instant(60),
  }
  const minted = await post(where, '/tracking-links', JSON.stringify({ links: [link] }))
  const { links } = minted as { links: readonly Omit<CreditedAd, 'transactionId'>[] }
  const [ad] = links
  assert.ok(ad !== undefined)
  const { servedAdId, trackingData } = ad
  const conversion = {
    user_id: userId,
    transaction_id: transactionId,
    site_id: placement.siteId,
    publisher_id: placement.publisherId,
    currency: 'EUR',
    products: [{ gtin, price: 9.99, quantity: 1 }],
  }
  const events = [
    { type: 'impression', trackingData, receivedAt: instant(59) },
    { type: 'click', trackingData, receivedAt: instant(58) },
    { type: 'conversion', receivedAt: instant(10), conversion },
  ]
  await post(where, '/events', events.map((event) => JSON.stringify(event)).join('\n'))
  await eventually('the purchase is credited', async () => {
    const body = JSON.stringify({ link: trackingData })
    const reading = (await post(where, '/tracking-links/read', body)) as ServedAdReading
    return reading.creditedPurchases === 1
  })
  return { servedAdId, trackingData, transactionId }
}

function instant(minutesAgo: number): string {
  return new Date(Date.now() - minutesAgo * 60_000).toISOString()
}

async function post(
  { campaignUrl, adminKey }: Where,
  path: string,
  body: string
): Promise<unknown> {
  const headers = { authorization: `Bearer ${adminKey}` }
  const response = await fetch(`${campaignUrl}/admin/v1${path}`, { method: 'POST', headers, body })
  const text = await response.text()
  assert.equal(response.status, 200, text)
  return JSON.parse(text)
}
