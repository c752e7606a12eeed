// What the catalog says against an ad: minting refuses it, and shipping sets its events aside. Entries that the
// catalog does not know say nothing, since ads may be served before their catalog is loaded.

import { parseDecimal } from '../domain/money.ts'
import type { CatalogBundle, MarketEntry } from '../contract/catalog-bundle.ts'
import type { CatalogSnapshot } from './snapshot.ts'

/** An ad as it is minted or read from its token. */
export interface PricedAd {
  readonly publisherId: number
  readonly marketId: number
  readonly advertiserId: number
  readonly campaignId: number
  readonly adGroupId: number
  readonly currency: string
  readonly costPerClickMicros: bigint
  readonly costPerMilleMicros: bigint
}

export interface Contradiction {
  readonly code: ContradictionCode
  readonly field: 'campaignId' | 'adGroupId' | 'publisherId' | PriceField
  /** Continues the name of the field. */
  readonly rule: string
}

export type ContradictionCode =
  | 'foreign-campaign'
  | 'foreign-ad-group'
  | 'no-access'
  | 'price-above-bound'
  | 'price-in-other-currency'

type PriceField = 'costPerClick' | 'costPerMille'

/** Every contradiction, in a fixed order. */
export function contradictionsOf(ad: PricedAd, catalog: CatalogSnapshot): readonly Contradiction[] {
  return [...ownerFaults(ad, catalog), ...priceFaults(ad, catalog.markets.get(ad.marketId))]
}

function ownerFaults(ad: PricedAd, catalog: CatalogSnapshot): readonly Contradiction[] {
  const faults: Contradiction[] = []
  const campaign = catalog.campaigns.get(ad.campaignId)
  if (campaign !== undefined && campaign.advertiserId !== ad.advertiserId) {
    const rule = 'is not a campaign of the advertiser'
    faults.push({ code: 'foreign-campaign', field: 'campaignId', rule })
  }
  const adGroup = catalog.adGroups.get(ad.adGroupId)
  if (adGroup !== undefined && adGroup.campaignId !== ad.campaignId) {
    const rule = 'is not an ad group of the campaign'
    faults.push({ code: 'foreign-ad-group', field: 'adGroupId', rule })
  }
  const access = catalog.advertisers.get(ad.advertiserId)?.access ?? []
  const isOutside =
    access.length > 0 && access.every(({ publisherId }) => publisherId !== ad.publisherId)
  if (isOutside) {
    const rule = 'is not among the publishers that the advertiser has access to'
    faults.push({ code: 'no-access', field: 'publisherId', rule })
  }
  return faults
}

function priceFaults(ad: PricedAd, market: MarketEntry | undefined): readonly Contradiction[] {
  if (market === undefined) return []
  const bounds = boundsOf(market)
  const faults: Contradiction[] = []
  const check = (field: PriceField, micros: bigint): void => {
    const bound = bounds[field]
    if (bound === null || micros === 0n) return
    // A bound that another currency evades would be none.
    if (ad.currency !== market.currency) {
      const rule = `must be in ${market.currency}, since the market bounds it in its currency`
      faults.push({ code: 'price-in-other-currency', field, rule })
    } else if (micros > bound.micros) {
      const rule = `must be at most ${bound.text}, the bound of the market`
      faults.push({ code: 'price-above-bound', field, rule })
    }
  }
  check('costPerClick', ad.costPerClickMicros)
  check('costPerMille', ad.costPerMilleMicros)
  return faults
}

interface Bound {
  readonly micros: bigint
  readonly text: string
}

type Bounds = Readonly<Record<PriceField, Bound | null>>

// By entry: a snapshot shares the entries that did not change with the one before it.
const boundsByMarket = new WeakMap<MarketEntry, Bounds>()

function boundsOf(market: MarketEntry): Bounds {
  const known = boundsByMarket.get(market)
  if (known !== undefined) return known
  const bounds = {
    costPerClick: readBound(market.costPerClickMax),
    costPerMille: readBound(market.costPerMilleMax),
  }
  boundsByMarket.set(market, bounds)
  return bounds
}

const microsScale = 6

function readBound(text: string | null | undefined): Bound | null {
  const micros = parseDecimal(text ?? '', microsScale)
  return micros === null ? null : { micros, text: text ?? '' }
}

/** The bundle with the bounds that stand for markets of which it says nothing; null takes one away. */
export function keepBounds(bundle: CatalogBundle, { markets }: CatalogSnapshot): CatalogBundle {
  if (bundle.markets === undefined) return bundle
  return {
    ...bundle,
    markets: bundle.markets.map((entry) => {
      const known = markets.get(entry.id)
      const { costPerClickMax = known?.costPerClickMax, costPerMilleMax = known?.costPerMilleMax } =
        entry
      const { costPerClickMax: _click, costPerMilleMax: _mille, ...others } = entry
      const click = costPerClickMax ?? null
      const mille = costPerMilleMax ?? null
      return Object.assign(
        others,
        click === null ? {} : { costPerClickMax: click },
        mille === null ? {} : { costPerMilleMax: mille }
      )
    }),
  }
}
