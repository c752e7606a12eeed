import { answerJson, type Handler } from '../../http/handler.ts'
import type { CatalogSnapshot } from '../../catalog/snapshot.ts'
import type { AdvertiserEntry } from '../../contract/catalog-bundle.ts'
import { accountEntriesMax, type AdvertiserAccount } from '../../contract/me.ts'
import type { CampaignDeps } from '../deps.ts'
import { findAdvertiser, noAdvertiser } from './find-advertiser.ts'

/** What the catalog holds of one advertiser, for people who choose among it. */
export function createReadAccount({ catalog }: Pick<CampaignDeps, 'catalog'>): Handler {
  return async (call) => {
    await Promise.resolve()
    const snapshot = catalog.current()
    const advertiser = findAdvertiser(snapshot, call)
    return advertiser === undefined
      ? noAdvertiser
      : answerJson(200, describeAccount(snapshot, advertiser))
  }
}

function describeAccount(
  snapshot: CatalogSnapshot,
  advertiser: AdvertiserEntry
): AdvertiserAccount {
  const { id, name } = advertiser
  const isOwn = (entry: { readonly advertiserId: number }) => entry.advertiserId === id
  const campaigns = [...snapshot.campaigns.values()].filter(isOwn)
  const campaignIds = new Set(campaigns.map((campaign) => campaign.id))
  const adGroups = [...snapshot.adGroups.values()].filter((one) => campaignIds.has(one.campaignId))
  const adGroupIds = new Set(adGroups.map((adGroup) => adGroup.id))
  const lists = {
    markets: [...snapshot.markets.values()],
    publishers: listPublishers(snapshot, advertiser),
    campaigns,
    adGroups,
    creativeSizes: [...snapshot.creativeSizes.values()],
    assets: [...snapshot.assets.values()].filter(isOwn),
    assignments: [...snapshot.assignments.values()].filter((one) => adGroupIds.has(one.adGroupId)),
  }
  const isWhole = Object.values(lists).every((list) => list.length <= accountEntriesMax)
  return {
    id,
    name,
    markets: lists.markets.slice(0, accountEntriesMax),
    publishers: lists.publishers.slice(0, accountEntriesMax),
    campaigns: lists.campaigns.slice(0, accountEntriesMax),
    adGroups: lists.adGroups.slice(0, accountEntriesMax),
    creativeSizes: lists.creativeSizes.slice(0, accountEntriesMax),
    assets: lists.assets.slice(0, accountEntriesMax),
    assignments: lists.assignments.slice(0, accountEntriesMax),
    isWhole,
  }
}

function listPublishers(
  snapshot: CatalogSnapshot,
  { access = [] }: AdvertiserEntry
): AdvertiserAccount['publishers'] {
  const marketIdsByPublisher = new Map<number, Set<number>>()
  for (const { publisherId, marketIds } of access) {
    const known = marketIdsByPublisher.get(publisherId) ?? new Set()
    marketIdsByPublisher.set(publisherId, new Set([...known, ...marketIds]))
  }
  return [...marketIdsByPublisher].map(([id, marketIds]) => ({
    id,
    name: snapshot.publishers.get(id)?.name ?? String(id),
    marketIds: [...marketIds],
  }))
}
