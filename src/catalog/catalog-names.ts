import type { CatalogSnapshot } from './snapshot.ts'

export interface ReportMarket {
  readonly id: number
  readonly code: string
  readonly currency: string
  readonly timeZone: string
}

export interface Named {
  readonly id: number
  readonly name: string
}

/** The part of the catalog that reports need. Entries that are no longer active keep their names. */
export interface CatalogNames {
  markets(): readonly ReportMarket[]
  publishers(): readonly Named[]
  /** Only the advertiser's own: a token may name a foreign campaign, whose name must not be shown. */
  campaigns(advertiserId: number): readonly Named[]
  adGroups(advertiserId: number): readonly Named[]
}

/** The catalog as reports read it. */
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
