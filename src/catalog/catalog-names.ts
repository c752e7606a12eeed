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

/** What a report needs of the catalog. Entries that are no longer active keep their names. */
export interface CatalogNames {
  markets(): readonly ReportMarket[]
  publishers(): readonly Named[]
  /** The advertiser's own only: a token may name a foreign campaign, whose name is not shown. */
  campaigns(advertiserId: number): readonly Named[]
  adGroups(advertiserId: number): readonly Named[]
}
