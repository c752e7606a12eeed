import type {
  AssetEntry,
  CatalogBundle,
  MarketEntry,
  ProductEntry,
  PublisherEntry,
} from '../contract/catalog-bundle.ts'
import { parseCurrency } from '../domain/currency.ts'
import { groupIn } from '../domain/product-code.ts'
import { normalizeLandingHost } from './landing-hosts.ts'

/**
 * Gives values one spelling: currency codes in upper case, asset ids in lower case, hosts as browsers
 * spell them. A brand of blanks only becomes an empty one, and so does a group that names none.
 */
export function normalizeBundle(bundle: CatalogBundle): CatalogBundle {
  const { markets, publishers, products, assets } = bundle
  return {
    ...bundle,
    ...(markets !== undefined && { markets: markets.map(normalizeMarket) }),
    ...(publishers !== undefined && { publishers: publishers.map(normalizePublisher) }),
    ...(products !== undefined && { products: products.map(normalizeProduct) }),
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

/** Texts stay as they are, since a report gives them back unchanged; one of blanks only says nothing. */
function normalizeProduct(product: ProductEntry): ProductEntry {
  const { brand, groupId } = product
  return {
    ...product,
    ...(brand !== undefined && isBlank(brand) && { brand: '' }),
    ...(groupId !== undefined && { groupId: groupIn(groupId) }),
  }
}

function isBlank(text: string): boolean {
  return text.trim() === ''
}

function normalizeAsset(asset: AssetEntry): AssetEntry {
  return { ...asset, id: asset.id.toLowerCase() }
}
