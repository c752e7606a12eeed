import type { CatalogNames } from '../../../catalog/catalog-names.ts'
import type { CatalogSnapshot } from '../../../catalog/snapshot.ts'

/** The catalog as reports read it; entries that are no longer active keep their names. */
export function catalogNames(snapshot: CatalogSnapshot): CatalogNames {
  const campaigns = (advertiserId: number) =>
    [...snapshot.campaigns.values()].filter((one) => one.advertiserId === advertiserId)
  return {
    markets: () => [...snapshot.markets.values()],
    publishers: () => [...snapshot.publishers.values()],
    campaigns,
    adGroups: (advertiserId) => {
      const own = new Set(campaigns(advertiserId).map((campaign) => campaign.id))
      return [...snapshot.adGroups.values()].filter((adGroup) => own.has(adGroup.campaignId))
    },
  }
}
