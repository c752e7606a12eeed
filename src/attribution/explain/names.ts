// What the catalog calls the ids of an explanation.

import { findSite } from '../../catalog/snapshot.ts'
import type { CatalogSnapshot } from '../../catalog/snapshot.ts'
import type { Explanation } from '../../contract/explanation.ts'
import { gtinKey } from '../../domain/gtin.ts'
import type { Warehouse } from '../../warehouse/warehouse.ts'
import type { TouchedAd } from './judge.ts'

export interface NamesDeps {
  readonly warehouse: Pick<Warehouse, 'rows'>
  readonly catalog: () => CatalogSnapshot
}

export interface NamedIds {
  readonly publisherId: number
  readonly siteIds: readonly number[]
  readonly ads: readonly Pick<TouchedAd, 'marketId' | 'campaignId' | 'adGroupId' | 'gtin'>[]
  readonly advertiserIds: readonly number[]
  /** As the shop sent them. */
  readonly gtins: readonly string[]
}

type Names = Explanation['names']

export async function readNames(
  { warehouse, catalog }: NamesDeps,
  { publisherId, siteIds, ads, advertiserIds, gtins }: NamedIds
): Promise<Names> {
  const snapshot = catalog()
  const publisher = snapshot.publishers.get(publisherId)
  const sites = [...new Set(siteIds)].flatMap((id) => {
    const site = publisher === undefined ? undefined : findSite(publisher, id)
    return site === undefined ? [] : [site]
  })
  const marketIds = [
    ...new Set([...ads.map((ad) => ad.marketId), ...sites.flatMap((site) => site.marketIds)]),
  ]
  return {
    publisher: publisher?.name ?? null,
    markets: pick(snapshot.markets, marketIds).map(({ id, code, timeZone }) => ({
      id,
      code,
      timeZone,
    })),
    campaigns: named(
      pick(
        snapshot.campaigns,
        ads.map(({ campaignId }) => campaignId)
      )
    ),
    adGroups: named(
      pick(
        snapshot.adGroups,
        ads.map(({ adGroupId }) => adGroupId)
      )
    ),
    products: await readTitles(warehouse, {
      marketIds,
      gtins: [...new Set([...gtins, ...ads.map(({ gtin }) => gtin)])],
    }),
    sites: named(sites),
    advertisers: named(pick(snapshot.advertisers, advertiserIds)),
  }
}

function pick<Entry>(
  entries: ReadonlyMap<number, Entry>,
  ids: readonly number[]
): readonly Entry[] {
  return [...new Set(ids)].flatMap((id) => entries.get(id) ?? [])
}

/** An ad may name a campaign of somebody else, whose name an advertiser must not be told. */
export function ownNames(
  { publisher, markets, campaigns, adGroups, products }: Names,
  { catalog, advertiserId }: Pick<NamesDeps, 'catalog'> & { readonly advertiserId: number }
) {
  const snapshot = catalog()
  const isOwn = (campaignId: number | undefined): boolean =>
    snapshot.campaigns.get(campaignId ?? 0)?.advertiserId === advertiserId
  return {
    publisher,
    markets,
    campaigns: campaigns.filter(({ id }) => isOwn(id)),
    adGroups: adGroups.filter(({ id }) => isOwn(snapshot.adGroups.get(id)?.campaignId)),
    products,
  }
}

function named(entries: readonly { readonly id: number; readonly name: string }[]) {
  return entries.map(({ id, name }) => ({ id, name }))
}

interface Titles {
  readonly marketIds: readonly number[]
  readonly gtins: readonly string[]
}

async function readTitles(
  warehouse: NamesDeps['warehouse'],
  { marketIds, gtins }: Titles
): Promise<Names['products']> {
  if (marketIds.length === 0 || gtins.length === 0) return []
  const keys = [...new Set(gtins.map(gtinKey))]
  const rows = await warehouse.rows<{ marketId: number; key: string; title: string }>(titlesSql, {
    marketIds,
    keys,
    rowsMax: marketIds.length * keys.length,
  })
  return rows.flatMap(({ marketId, key, title }) =>
    gtins.filter((gtin) => gtinKey(gtin) === key).map((gtin) => ({ marketId, gtin, title }))
  )
}

const titlesSql = `
SELECT market_id AS marketId, gtin_key AS key, title FROM product FINAL
WHERE market_id IN {marketIds:Array(Int32)} AND gtin_key IN {keys:Array(String)}
ORDER BY market_id, gtin_key LIMIT {rowsMax:UInt32}`
