import { answerJson, refuse, type HandlerTable } from '../../http/handler.ts'
import { findSite, type CatalogSnapshot } from '../../catalog/snapshot.ts'
import { adminOperations } from '../../contract/admin-operations.ts'
import type { CarriedId, ServedAdReading } from '../../contract/served-ad.ts'
import { handle } from '../handle.ts'
import { printInstant } from '../../domain/instant.ts'
import { unlessPlaceholder } from '../../domain/placeholder.ts'
import { formatDecimal } from '../../domain/money.ts'
import { clickCountableMs, earlyToleranceMs, viewCountableMs } from '../../domain/windows.ts'
import { assert } from '../../lib/assert.ts'
import { printServedAdId } from '../../attribution/explain/print.ts'
import { decodeEnvelope } from '../../tracking-data/envelope.ts'
import type { OpenRefusal, TrackingData } from '../../tracking-data/tracking-data.ts'
import type { AdminDeps } from './deps.ts'
import { findTrackingData, type PastedLink } from './pasted-link.ts'

type ReadLinkDeps = Pick<AdminDeps, 'catalog' | 'openTrackingData' | 'readServedAd'>

/** Everything that is known of the served ad behind a link, but for the person it was served to. */
export function createReadLink(deps: ReadLinkDeps): HandlerTable {
  return handle(adminOperations.readTrackingLink, async ({ body }) => {
    const found = findTrackingData(body.link)
    if (!found.ok) return refuse('REQUEST_INVALID', [pasteFaults[found.reason]])
    const opened = deps.openTrackingData(found.trackingData)
    if (!opened.ok) return refuse('REQUEST_INVALID', [openFaults[opened.reason]])

    const { data, canonical } = opened
    const answer: ServedAdReading = {
      ad: printAd(data, canonical),
      names: namesOf(data, deps.catalog.current()),
      ...printWindows(data),
      ...(await deps.readServedAd(data)),
    }
    return answerJson(200, answer)
  })
}

const pasteFaults = {
  'no-tracking-data':
    '/link must be a tracking link, with tracking data behind /impression/, /click/ or /load/, or the tracking data alone',
  'several-links': '/link must be one link; these are several',
  'broken-escape': '/link must have whole percent escapes of UTF-8',
} as const satisfies Record<Extract<PastedLink, { ok: false }>['reason'], string>

const notWhole =
  '/link must hold tracking data that this installation issued, whole and unchanged; this is none, or a part of it'
const notIssued =
  '/link must hold tracking data that this installation issued, unchanged; this was made elsewhere or changed'

const openFaults = {
  'too-long': notWhole,
  'not-base64url': notWhole,
  'too-short': notWhole,
  'unknown-version': notWhole,
  'not-authentic': notIssued,
  malformed: notIssued,
  invalid: notIssued,
  'unknown-key':
    '/link must hold tracking data of a key in the key ring; the key of this one was removed, or it is of another installation',
  'foreign-publisher':
    '/link must hold tracking data of a publisher that its tracking key is for; events of it are refused',
} as const satisfies Record<OpenRefusal, string>

const microsScale = 6

function printAd(data: TrackingData, canonical: string): ServedAdReading['ad'] {
  return {
    servedAdId: printServedAdId(data.servedAdId),
    servedAt: printInstant(data.servedAtMs),
    keyId: keyIdOf(canonical),
    publisherId: data.publisherId,
    siteId: data.siteId,
    marketId: data.marketId,
    advertiserId: data.advertiserId,
    campaignId: data.campaignId,
    adGroupId: data.adGroupId,
    gtin: data.gtin,
    groupId: data.groupId,
    currency: data.currency,
    costPerClick: printCost(data.costPerClickMicros),
    costPerMille: printCost(data.costPerMilleMicros),
    landingUrl: data.landingUrl,
    userId: carriedIdOf(data.userId),
    userLoggedInId: carriedIdOf(data.userLoggedInId),
  }
}

function keyIdOf(canonical: string): string {
  const envelope = decodeEnvelope(canonical)
  assert(envelope.ok, 'what was opened can be taken apart')
  return envelope.keyId.toString(16).padStart(8, '0')
}

/** Prints an amount in its shortest form: `0.25`, `2`. */
function printCost(micros: bigint): string {
  return formatDecimal(micros, microsScale, microsScale).replace(/\.?0+$/u, '')
}

function carriedIdOf(id: string): CarriedId {
  if (id === '') return 'absent'
  return unlessPlaceholder(id) === '' ? 'nobody' : 'present'
}

function printWindows({ servedAtMs }: TrackingData) {
  return {
    countsFrom: printInstant(servedAtMs - earlyToleranceMs),
    viewsCountUntil: printInstant(servedAtMs + viewCountableMs),
    clicksCountUntil: printInstant(servedAtMs + clickCountableMs),
  }
}

function namesOf(data: TrackingData, snapshot: CatalogSnapshot): ServedAdReading['names'] {
  const publisher = snapshot.publishers.get(data.publisherId)
  const site = publisher === undefined ? undefined : findSite(publisher, data.siteId)
  return {
    publisher: publisher?.name ?? null,
    site: site?.name ?? null,
    market: snapshot.markets.get(data.marketId)?.code ?? null,
    advertiser: snapshot.advertisers.get(data.advertiserId)?.name ?? null,
    campaign: snapshot.campaigns.get(data.campaignId)?.name ?? null,
    adGroup: snapshot.adGroups.get(data.adGroupId)?.name ?? null,
  }
}
