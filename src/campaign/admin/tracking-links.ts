import { isForAdvertiser } from '../../access/authenticate.ts'
import type { AuditTrail } from '../../access/audit-trail.ts'
import { answerJson, refuse, type HandlerTable } from '../../http/handler.ts'
import { contradictionsOf } from '../../catalog/contradictions.ts'
import { productId } from '../../catalog/product-table.ts'
import type { CatalogSnapshot } from '../../catalog/snapshot.ts'
import type { LinkRequest, TrackingLinksResponse } from '../../contract/admin.ts'
import { adminOperations } from '../../contract/admin-operations.ts'
import { parseInstant } from '../../domain/instant.ts'
import { parseCurrency } from '../../domain/currency.ts'
import { clickLeadsMs } from '../../domain/windows.ts'
import {
  parseCostMicros,
  TrackingDataError,
  type ServedAd,
} from '../../tracking-data/tracking-data.ts'
import { handle } from '../handle.ts'
import type { AdminDeps } from './deps.ts'
import { linkFaults } from './link-faults.ts'

type MintDeps = Pick<AdminDeps, 'catalog' | 'clock' | 'minter' | 'trackingUrl'>

/** Enough to mend a request by; a request has at most 1000 links of a dozen fields. */
const messagesMax = 100

/**
 * Tokens and addresses for served ads, all or none. The tokens are not stored; the audit record of the
 * call says for which advertisers they were minted and how many.
 */
export function createMintLinks(deps: MintDeps, audit: AuditTrail): HandlerTable {
  return handle(adminOperations.mintTrackingLinks, async ({ key, body: { links } }) => {
    if (!links.every(({ advertiserId }) => isForAdvertiser(key, advertiserId))) {
      return refuse('PARTY_FORBIDDEN', ['The key is not for every advertiser of the request.'])
    }

    const snapshot = deps.catalog.current()
    const inactive = await deps.catalog.products.findInactive(links)
    const ads = links.map((link) => toAd(link, { snapshot, inactive }, deps))
    const messages = ads.flatMap((ad, index) =>
      ad.ok ? [] : ad.messages.map((message) => `/links/${index}${message}`)
    )
    if (messages.length > 0) return refuse('REQUEST_INVALID', messages.slice(0, messagesMax))
    const minted = ads.flatMap((ad) => (ad.ok ? [mint(ad.ad, deps)] : []))
    const advertisers = [...new Set(links.map(({ advertiserId }) => advertiserId))]
    const subject = minted.length === 1 ? '1 link' : `${minted.length} links`
    await audit.record({ key, action: 'links.mint', subject, details: { advertisers } })
    return answerJson(200, { links: minted })
  })
}

type CheckedAd =
  | { readonly ok: true; readonly ad: ServedAd }
  | { readonly ok: false; readonly messages: readonly string[] }

interface Known {
  readonly snapshot: CatalogSnapshot
  /** Products that are no longer active. */
  readonly inactive: ReadonlySet<string>
}

function toAd(
  link: LinkRequest,
  { snapshot, inactive }: Known,
  { minter, clock }: Pick<MintDeps, 'minter' | 'clock'>
): CheckedAd {
  const messages = [...linkFaults(link, snapshot)]
  if (inactive.has(productId(link))) messages.push('/gtin is no longer active')
  const currency = link.currency ?? snapshot.markets.get(link.marketId)?.currency ?? ''
  const { servedAt } = link
  const servedAtMs = servedAt === undefined ? undefined : (parseInstant(servedAt) ?? undefined)
  if (servedAtMs !== undefined && servedAtMs > clock() + clickLeadsMs) messages.push(isFarAhead)
  const code = parseCurrency(currency, servedAtMs)
  if (link.currency !== undefined && code === null) {
    messages.push('/currency must be an active ISO 4217 currency code')
  }
  const costPerClickMicros = parseCost(link, 'costPerClick', messages)
  const costPerMilleMicros = parseCost(link, 'costPerMille', messages)
  const priced = { ...link, currency: code ?? currency, costPerClickMicros, costPerMilleMicros }
  for (const { field, rule } of contradictionsOf(priced, snapshot)) {
    messages.push(`/${field} ${rule}`)
  }
  if (messages.length > 0) return { ok: false, messages }

  const ad: ServedAd = {
    publisherId: link.publisherId,
    siteId: link.siteId,
    marketId: link.marketId,
    advertiserId: link.advertiserId,
    campaignId: link.campaignId,
    adGroupId: link.adGroupId,
    gtin: link.gtin,
    groupId: link.groupId,
    userId: link.userId,
    userLoggedInId: link.userLoggedInId,
    currency: code ?? currency,
    costPerClickMicros,
    costPerMilleMicros,
    landingUrl: link.landingUrl,
    servedAtMs,
  }
  const faults = minter.check(ad).map(inWordsOfRequest)
  return faults.length > 0 ? { ok: false, messages: faults } : { ok: true, ad }
}

/** Links of a newsletter may be minted before it is sent. Later than this, their clicks would not even lead anywhere. */
const isFarAhead = '/servedAt must be at most 35 days ahead'

/** The minter takes the instant of serving as a number. */
function inWordsOfRequest(fault: string): string {
  return fault.replace('/servedAtMs must be whole milliseconds', '/servedAt must be an instant')
}

function parseCost(
  link: LinkRequest,
  field: 'costPerClick' | 'costPerMille',
  messages: string[]
): bigint {
  try {
    return parseCostMicros(link[field] ?? '0', `/${field}`)
  } catch (error) {
    if (!(error instanceof TrackingDataError)) throw error
    messages.push(`${error.field} ${error.rule}`)
    return 0n
  }
}

function mint(
  ad: ServedAd,
  { minter, trackingUrl }: MintDeps
): TrackingLinksResponse['links'][number] {
  const { servedAdId, trackingData } = minter.mint(ad)
  return {
    servedAdId: toUuid(servedAdId),
    trackingData,
    impressionUrl: `${trackingUrl}/impression/${trackingData}`,
    clickUrl: `${trackingUrl}/click/${trackingData}`,
    loadUrl: `${trackingUrl}/load/${trackingData}`,
  }
}

function toUuid(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
