import { answerJson, type HandlerTable } from '../../http/handler.ts'
import { findSite, type CatalogSnapshot } from '../../catalog/snapshot.ts'
import { unknownIdKinds, unknownIdsMax } from '../../contract/unknown-ids.ts'
import type { UnknownId, UnknownIds } from '../../contract/unknown-ids.ts'
import { upkeepOperations } from '../../contract/upkeep-operations.ts'
import { handle } from '../handle.ts'
import type { AdminDeps } from './deps.ts'

type Named = Awaited<ReturnType<AdminDeps['readNamedIds']>>

/** Ids that events and conversions name and the current catalog does not have. */
export function createListUnknownIds({
  readNamedIds,
  catalog,
}: Pick<AdminDeps, 'readNamedIds' | 'catalog'>): HandlerTable {
  return handle(upkeepOperations.listUnknownIds, async () => {
    const named = await readNamedIds()
    return answerJson(200, findUnknown(named, catalog.current()))
  })
}

function findUnknown(named: Named, catalog: CatalogSnapshot): UnknownIds {
  const sums = new Map<string, UnknownId>()
  for (const mention of mentionsIn(named)) {
    if (isKnown(mention, catalog)) continue
    const key = `${mention.kind}/${mention.parentId ?? ''}/${mention.id}`
    sums.set(key, addUp(sums.get(key), mention))
  }
  const ids = [...sums.values()].toSorted(byCount)
  return { ids: ids.slice(0, unknownIdsMax), total: ids.length, complete: named.isComplete }
}

function* mentionsIn({ places, ads, senders }: Named): Generator<UnknownId> {
  for (const { publisherId, siteId, marketId, events } of places) {
    yield { kind: 'market', id: marketId, events }
    yield { kind: 'publisher', id: publisherId, events, conversions: 0 }
    yield { kind: 'site', id: siteId, parentId: publisherId, events, conversions: 0 }
  }
  for (const { advertiserId, campaignId, adGroupId, events } of ads) {
    yield { kind: 'advertiser', id: advertiserId, events }
    yield { kind: 'campaign', id: campaignId, parentId: advertiserId, events }
    yield { kind: 'ad-group', id: adGroupId, parentId: campaignId, events }
  }
  for (const { publisherId, siteId, conversions } of senders) {
    yield { kind: 'publisher', id: publisherId, events: 0, conversions }
    yield { kind: 'site', id: siteId, parentId: publisherId, events: 0, conversions }
  }
}

/** A site belongs to its publisher; other ids are known wherever they are named. */
function isKnown({ kind, id, parentId }: UnknownId, catalog: CatalogSnapshot): boolean {
  switch (kind) {
    case 'market':
      return catalog.markets.has(id)
    case 'publisher':
      return catalog.publishers.has(id)
    case 'site': {
      const publisher = parentId === undefined ? undefined : catalog.publishers.get(parentId)
      return publisher !== undefined && findSite(publisher, id) !== undefined
    }
    case 'advertiser':
      return catalog.advertisers.has(id)
    case 'campaign':
      return catalog.campaigns.has(id)
    case 'ad-group':
      return catalog.adGroups.has(id)
  }
}

function addUp(sum: UnknownId | undefined, mention: UnknownId): UnknownId {
  if (sum === undefined) return mention
  return {
    ...sum,
    events: sum.events + mention.events,
    ...(mention.conversions !== undefined && {
      conversions: (sum.conversions ?? 0) + mention.conversions,
    }),
  }
}

function byCount(one: UnknownId, other: UnknownId): number {
  return (
    countOf(other) - countOf(one) ||
    unknownIdKinds.indexOf(one.kind) - unknownIdKinds.indexOf(other.kind) ||
    one.id - other.id ||
    (one.parentId ?? 0) - (other.parentId ?? 0)
  )
}

function countOf({ events, conversions = 0 }: UnknownId): number {
  return events + conversions
}
