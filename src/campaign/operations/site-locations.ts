import { isActive, type CatalogSnapshot } from '../../catalog/snapshot.ts'
import { campaignOperations } from '../../contract/campaign-operations.ts'
import type {
  AdvertiserEntry,
  LocationEntry,
  PublisherEntry,
  SiteEntry,
} from '../../contract/catalog-bundle.ts'
import type { Of } from '../../contract/fields.ts'
import type {
  AdGroupType,
  Location,
  SiteLocations,
  siteLocationsQuerySchema,
} from '../../contract/site-locations.ts'
import { answerJson, refuse, type HandlerTable } from '../../http/handler.ts'
import type { CampaignDeps } from '../deps.ts'
import { advertiserIn, handleAt } from '../handle.ts'

type Wanted = Of<typeof siteLocationsQuerySchema>

/** The sites of a publisher and their locations that an advertiser may use in a market. */
export function createSiteLocations({ catalog }: Pick<CampaignDeps, 'catalog'>): HandlerTable {
  return handleAt(
    campaignOperations.listEligibleSiteLocations,
    advertiserIn(catalog),
    async ({ query: wanted }, advertiser) => {
      await Promise.resolve()
      const snapshot = catalog.current()
      const publisher = snapshot.publishers.get(wanted.publisherId)
      // A publisher without a grant is treated like an unknown one, so that nobody learns who else there is.
      const grants = grantsAt(advertiser, wanted.publisherId)
      if (publisher === undefined || grants.length === 0) {
        return refuse('RESOURCE_UNKNOWN', ['There is no such publisher.'])
      }
      if (!snapshot.markets.has(wanted.marketId))
        return refuse('RESOURCE_UNKNOWN', ['There is no such market.'])
      return answerJson(200, listEligible(snapshot, { advertiser, publisher, grants, wanted }))
    }
  )
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

function listLocations(site: SiteEntry, adGroupType?: AdGroupType): readonly Location[] {
  return (site.locations ?? [])
    .filter((location) => adGroupType === undefined || location.adGroupTypes.includes(adGroupType))
    .map(toLocation)
}

function toLocation({ type, location, pagePosition }: LocationEntry): Location {
  return { type, location, ...(pagePosition !== undefined && { pagePosition }) }
}
