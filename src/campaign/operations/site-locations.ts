import { answerJson, refuse, type Handler } from '../../http/handler.ts'
import { isActive, type CatalogSnapshot } from '../../catalog/snapshot.ts'
import type {
  AdvertiserEntry,
  LocationEntry,
  PublisherEntry,
  SiteEntry,
} from '../../contract/catalog-bundle.ts'
import {
  adGroupTypes,
  type AdGroupType,
  type Location,
  type SiteLocations,
} from '../../contract/site-locations.ts'
import type { CampaignDeps } from '../deps.ts'
import { findAdvertiser, noAdvertiser } from './find-advertiser.ts'
import { parseInt32Text, queryText } from '../../http/query-text.ts'

interface Wanted {
  readonly publisherId: number
  readonly marketId: number
  readonly adGroupType: AdGroupType | null
}

type ParsedQuery =
  | { readonly ok: true; readonly wanted: Wanted }
  | { readonly ok: false; readonly messages: readonly string[] }

/** The sites of a publisher and their locations that an advertiser may use in a market. */
export function createSiteLocations({ catalog }: Pick<CampaignDeps, 'catalog'>): Handler {
  return async (call) => {
    await Promise.resolve()
    const snapshot = catalog.current()
    const advertiser = findAdvertiser(snapshot, call)
    if (advertiser === undefined) return noAdvertiser
    const query = parseQuery(call.query)
    if (!query.ok) return refuse(422, query.messages)

    const { wanted } = query
    const publisher = snapshot.publishers.get(wanted.publisherId)
    // A publisher without a grant is none to the advertiser, so that nobody learns who else there is.
    const grants = grantsAt(advertiser, wanted.publisherId)
    if (publisher === undefined || grants.length === 0) {
      return refuse(404, ['There is no such publisher.'])
    }
    if (!snapshot.markets.has(wanted.marketId)) return refuse(404, ['There is no such market.'])
    return answerJson(200, listEligible(snapshot, { advertiser, publisher, grants, wanted }))
  }
}

function parseQuery(query: URLSearchParams): ParsedQuery {
  const messages: string[] = []
  const publisherId = parseId(query, 'publisherId', messages)
  const marketId = parseId(query, 'marketId', messages)
  const adGroupType = parseAdGroupType(query, messages)
  return messages.length > 0
    ? { ok: false, messages }
    : { ok: true, wanted: { publisherId, marketId, adGroupType } }
}

/** 0, which no entry has, beside a message. */
function parseId(query: URLSearchParams, name: string, messages: string[]): number {
  const value = queryText(query, name)
  if (value.kind === 'absent') messages.push(`${name} is required`)
  if (value.kind === 'repeated') messages.push(`${name} must be given once`)
  if (value.kind !== 'given') return 0
  const id = parseInt32Text(value.text)
  if (id === null) messages.push(`${name} must be an integer of 32 bits`)
  return id ?? 0
}

function parseAdGroupType(query: URLSearchParams, messages: string[]): AdGroupType | null {
  const value = queryText(query, 'adGroupType')
  if (value.kind === 'repeated') messages.push('adGroupType must be given once')
  if (value.kind !== 'given') return null
  const type = adGroupTypes.find((known) => known === value.text)
  if (type === undefined) messages.push(`adGroupType must be one of: ${adGroupTypes.join(', ')}`)
  return type ?? null
}

type Grant = NonNullable<AdvertiserEntry['access']>[number]

interface Question {
  readonly advertiser: AdvertiserEntry
  readonly publisher: PublisherEntry
  readonly grants: readonly Grant[]
  readonly wanted: Wanted
}

function listEligible(snapshot: CatalogSnapshot, question: Question): readonly SiteLocations[] {
  const { advertiser, publisher, grants, wanted } = question
  const market = snapshot.markets.get(wanted.marketId)
  const isOpen = [advertiser, publisher, market].every(
    (entry) => entry !== undefined && isActive(entry)
  )
  if (!isOpen) return []
  return (publisher.sites ?? [])
    .filter((site) => isActive(site) && site.marketIds.includes(wanted.marketId))
    .filter((site) => hasAccess(grants, site, wanted))
    .map((site) => ({ site, locations: listLocations(site, wanted.adGroupType) }))
    .filter(({ locations }) => locations.length > 0)
    .map(({ site: { id, name, type }, locations }) => ({ site: { id, name, type }, locations }))
}

function grantsAt({ access = [] }: AdvertiserEntry, publisherId: number): readonly Grant[] {
  return access.filter((grant) => grant.publisherId === publisherId)
}

/** Any one grant will do; a grant without a list of sites is for all of them. */
function hasAccess(grants: readonly Grant[], site: SiteEntry, { marketId }: Wanted): boolean {
  return grants.some(
    ({ marketIds, siteIds }) =>
      marketIds.includes(marketId) && (siteIds === undefined || siteIds.includes(site.id))
  )
}

function listLocations(site: SiteEntry, adGroupType: AdGroupType | null): readonly Location[] {
  return (site.locations ?? [])
    .filter((location) => adGroupType === null || location.adGroupTypes.includes(adGroupType))
    .map(toLocation)
}

function toLocation({ type, location, pagePosition }: LocationEntry): Location {
  return { type, location, ...(pagePosition !== undefined && { pagePosition }) }
}
