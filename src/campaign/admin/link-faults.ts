import { isAllowedLandingPage } from '../../catalog/landing-hosts.ts'
import { findSite, isActive, type CatalogSnapshot } from '../../catalog/snapshot.ts'
import type { LinkRequest } from '../../contract/admin.ts'

/**
 * The faults of a link according to the catalog: entries that are unknown, inactive or do not belong
 * together, and a landing page whose host the publisher does not list. Events with wrong ids would be
 * charged to the wrong advertiser. The product need not be in the catalog: feeds arrive later than ads.
 */
export function linkFaults(link: LinkRequest, snapshot: CatalogSnapshot): readonly string[] {
  const publisher = snapshot.publishers.get(link.publisherId)
  const campaign = snapshot.campaigns.get(link.campaignId)
  const adGroup = snapshot.adGroups.get(link.adGroupId)
  const site = publisher === undefined ? undefined : findSite(publisher, link.siteId)
  const faults = [
    entryFault('publisherId', 'publisher', publisher),
    publisher === undefined ? null : entryFault('siteId', 'site of the publisher', site),
    entryFault('marketId', 'market', snapshot.markets.get(link.marketId)),
    entryFault('advertiserId', 'advertiser', snapshot.advertisers.get(link.advertiserId)),
    entryFault('campaignId', 'campaign', campaign),
    entryFault('adGroupId', 'ad group', adGroup),
    landingFault(link.landingUrl, publisher?.landingHosts),
  ]
  return faults.filter((fault) => fault !== null)
}

/** Links are on the platform's own host: without a list, anyone who mints could lend its name to any page. */
function landingFault(
  landingUrl: string | undefined,
  hosts: readonly string[] | undefined
): string | null {
  if (landingUrl === undefined || hosts === undefined) return null
  if (isAllowedLandingPage(landingUrl, hosts)) return null
  return "/landingUrl must be of a host among the publisher's landingHosts"
}

function entryFault(
  field: keyof LinkRequest,
  what: string,
  entry: { readonly active?: boolean | undefined } | undefined
): string | null {
  if (entry === undefined) return `/${field} is no known ${what}`
  return isActive(entry) ? null : `/${field} is no longer active`
}
