import { judgeDelivery, policyOf } from '../../access/delivery-verdict.ts'
import type { AccessKey, PartyIds } from '../../access/key.ts'
import type { CatalogSnapshot } from '../../catalog/snapshot.ts'
import { campaignOperations as operations } from '../../contract/campaign-operations.ts'
import type { AdvertiserEntry } from '../../contract/catalog-bundle.ts'
import {
  accountEntriesMax,
  outlooksMax,
  type AdvertiserAccount,
  type Me,
} from '../../contract/me.ts'
import { printInstant } from '../../domain/instant.ts'
import { answerJson, type HandlerTable } from '../../http/handler.ts'
import { liveFrom } from '../../spool/record.ts'
import type { CampaignDeps } from '../deps.ts'
import { advertiserIn, handle, handleAt } from '../handle.ts'

/** What the key may do, and what the catalog holds of one advertiser, for people who choose among it. */
export function createAccountHandlers({
  catalog,
  clock,
  requiresDeliveryKey = false,
}: Pick<CampaignDeps, 'catalog' | 'clock' | 'requiresDeliveryKey'>): HandlerTable {
  return {
    ...handle(operations.readMe, async ({ key, sourceAddress }) => {
      await Promise.resolve()
      const snapshot = catalog.current()
      const deliveries = describeDeliveries(key, {
        snapshot,
        requiresKey: requiresDeliveryKey,
        receivedAtMs: clock(),
        sourceAddress,
      })
      return answerJson(200, { ...describeKey(key, snapshot), deliveries })
    }),
    ...handleAt(
      operations.readAdvertiserAccount,
      advertiserIn(catalog),
      async (_call, advertiser) => {
        await Promise.resolve()
        return answerJson(200, describeAccount(catalog.current(), advertiser))
      }
    ),
  }
}

/** Names only those that the key is for, and nobody else. */
function describeKey(
  key: AccessKey,
  { advertisers, publishers }: CatalogSnapshot
): Omit<Me, 'deliveries'> {
  return {
    name: key.name,
    signOn: key.isSignOn,
    scopes: key.scopes,
    advertisers: nameAll(key.advertisers, advertisers),
    publishers: nameAll(key.publishers, publishers),
    expiresAt: key.expiresAtMs === null ? null : printInstant(key.expiresAtMs),
  }
}

interface DeliveryQuestion {
  readonly snapshot: CatalogSnapshot
  readonly requiresKey: boolean
  readonly receivedAtMs: number
  readonly sourceAddress: string | null
}

/** As if a delivery came right now, from where this call came. */
function describeDeliveries(key: AccessKey, question: DeliveryQuestion): Me['deliveries'] {
  const { snapshot, requiresKey, receivedAtMs, sourceAddress } = question
  const ids = key.publishers === 'all' ? [...snapshot.publishers.keys()] : key.publishers
  return ids.slice(0, outlooksMax).map((publisherId) => {
    const policy = policyOf(snapshot, publisherId, { requiresKey })
    const origin = liveFrom(sourceAddress)
    const facts = { publisherId, receivedAtMs, origin, keyId: key.id }
    return {
      publisherId,
      // Shipping never finds the key of the configuration, whose hash is in no list.
      judgedAs: judgeDelivery(facts, policy, () => (key.isConfigured ? null : key)),
      requiresKey: policy.requiresKey,
      hasSources: policy.sources.length > 0,
    }
  })
}

function nameAll(
  ids: PartyIds,
  entries: ReadonlyMap<number, { readonly name: string }>
): Me['advertisers'] {
  if (ids === 'all') return ids
  return ids.map((id) => ({ id, name: entries.get(id)?.name ?? null }))
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
