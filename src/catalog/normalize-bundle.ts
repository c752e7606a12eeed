import type { AssetEntry, CatalogBundle, MarketEntry } from '../contract/catalog-bundle.ts'
import { parseCurrency } from '../domain/currency.ts'

/** One spelling for what has several: currency codes in upper case, asset ids in lower case. */
export function normalizeBundle(bundle: CatalogBundle): CatalogBundle {
  const { markets, assets } = bundle
  return {
    ...bundle,
    ...(markets !== undefined && { markets: markets.map(normalizeMarket) }),
    ...(assets !== undefined && { assets: assets.map(normalizeAsset) }),
  }
}

/** A code that is none stays as it is, for the check to name. */
function normalizeMarket(market: MarketEntry): MarketEntry {
  return { ...market, currency: parseCurrency(market.currency) ?? market.currency }
}

function normalizeAsset(asset: AssetEntry): AssetEntry {
  return { ...asset, id: asset.id.toLowerCase() }
}
