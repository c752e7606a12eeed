import type {
  AssetEntry,
  CatalogBundle,
  MarketEntry,
  PublisherEntry,
} from '../contract/catalog-bundle.ts'
import { parseCurrency } from '../domain/currency.ts'
import { normalizeLandingHost } from './landing-hosts.ts'

/** One spelling for what has several: currency codes in upper case, asset ids in lower case, hosts as browsers have them. */
export function normalizeBundle(bundle: CatalogBundle): CatalogBundle {
  const { markets, publishers, assets } = bundle
  return {
    ...bundle,
    ...(markets !== undefined && { markets: markets.map(normalizeMarket) }),
    ...(publishers !== undefined && { publishers: publishers.map(normalizePublisher) }),
    ...(assets !== undefined && { assets: assets.map(normalizeAsset) }),
  }
}

/** A code that is none stays as it is, for the check to name. */
function normalizeMarket(market: MarketEntry): MarketEntry {
  return { ...market, currency: parseCurrency(market.currency) ?? market.currency }
}

function normalizePublisher(publisher: PublisherEntry): PublisherEntry {
  const { landingHosts } = publisher
  if (landingHosts === undefined) return publisher
  return { ...publisher, landingHosts: landingHosts.map(normalizeLandingHost) }
}

function normalizeAsset(asset: AssetEntry): AssetEntry {
  return { ...asset, id: asset.id.toLowerCase() }
}
