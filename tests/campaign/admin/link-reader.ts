// Tracking links as operators paste them, and the same served ads as the histories of the tests know them.
import assert from 'node:assert/strict'
import type { ServedAdReading } from '../../../src/contract/served-ad.ts'
import type { ServedAd } from '../../../src/tracking-data/tracking-data.ts'
import type { HistoryAd } from '../../helpers/history.ts'
import { placement } from '../../helpers/placement.ts'
import { anAd } from '../../helpers/seal-scenario.ts'
import { adminKey, bearer, bundle, startAdmin, type AdminHarness } from './harness.ts'

export const userId = 'raw-user-canary-0123456789'
export const userLoggedInId = 'raw-login-canary-0123456789'
export const servedAtMs = Date.UTC(2026, 2, 2, 12)

export const served: ServedAd = {
  ...placement,
  gtin: '4006381333931',
  groupId: 'GRP1',
  userId,
  userLoggedInId,
  currency: 'EUR',
  costPerClickMicros: 250_000n,
  costPerMilleMicros: 2_000_000n,
  landingUrl: 'https://shop.example/coffee?x=1',
  servedAtMs,
}

export interface LinkReader {
  readonly admin: AdminHarness
  readonly ask: (body: unknown) => Promise<{ readonly status: number; readonly text: string }>
  readonly read: (link: string) => Promise<ServedAdReading>
  /** The messages. */
  readonly refused: (link: unknown) => Promise<readonly string[]>
  readonly mint: (changes?: Partial<ServedAd>) => { readonly token: string; readonly ad: HistoryAd }
}

/** With the catalog of `bundle`. */
export async function startLinkReader(): Promise<LinkReader> {
  const admin = await startAdmin()
  const call = async (method: 'PUT' | 'POST', url: string, payload: string) => {
    const headers = { ...bearer(adminKey), 'content-type': 'application/json' }
    const response = await admin.app.inject({ method, url, headers, payload })
    return { status: response.statusCode, text: response.body }
  }
  const ask = async (body: unknown) =>
    await call(
      'POST',
      '/admin/v1/tracking-links/read',
      typeof body === 'string' ? body : JSON.stringify(body)
    )
  await call('PUT', '/admin/v1/catalog', JSON.stringify(bundle))
  return {
    admin,
    ask,
    read: async (link) => {
      const { status, text } = await ask({ link })
      assert.equal(status, 200, text)
      return JSON.parse(text) as ServedAdReading
    },
    refused: async (link) => {
      const { status, text } = await ask({ link })
      assert.equal(status, 422, text)
      return (JSON.parse(text) as { messages: readonly string[] }).messages
    },
    mint: (changes = {}) => {
      const ad = { ...served, ...changes }
      const { trackingData, servedAdId } = admin.mintAd(ad)
      const { landingUrl: _landing, ...rest } = ad
      const texts = { groupId: ad.groupId ?? '', userLoggedInId: ad.userLoggedInId ?? '' }
      const at = { servedAtMs: ad.servedAtMs ?? servedAtMs }
      return { token: trackingData, ad: anAd({ ...rest, ...texts, ...at, servedAdId }) }
    },
  }
}
