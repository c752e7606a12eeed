import type {
  AssetEntry,
  CatalogBundle,
  MarketEntry,
  PublisherEntry,
} from '../contract/catalog-bundle.ts'
import { parseCurrency } from '../domain/currency.ts'
import { normalizeLandingHost } from './landing-hosts.ts'

/**
 * Gives values one spelling: currency codes in upper case, asset ids in lower case, hosts as browsers
 * spell them.
 */
export function normalizeBundle(bundle: CatalogBundle): CatalogBundle {
  const { markets, publishers, assets } = bundle
  return {
    ...bundle,
    ...(markets !== undefined && { markets: markets.map(normalizeMarket) }),
    ...(publishers !== undefined && { publishers: publishers.map(normalizePublisher) }),
    ...(assets !== undefined && { assets: assets.map(normalizeAsset) }),
  }
}

/** An unknown code stays as it is, and the check reports it. */
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
