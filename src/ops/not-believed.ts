// What operators and their alerts see of deliveries that are not believed, and of publishers that believe
// everybody.

import { policyOf } from '../access/delivery-verdict.ts'
import type { CatalogSnapshot } from '../catalog/snapshot.ts'
import { isActive } from '../catalog/snapshot.ts'
import { notBelievedLimits } from '../contract/not-believed.ts'
import type {
  BelieveEverybody,
  NotBelievedOfAll,
  NotBelievedOfPublisher,
} from '../contract/not-believed.ts'
import type { Clock } from '../lib/clock.ts'
import { readNotBelieved } from '../reports/not-believed.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'

const dayMs = 86_400_000
const statusDays = 30

/** Metrics are asked for every few seconds, by several collectors. */
const recentMsMax = 60_000

/** Of the last 30 days. */
export async function readNotBelievedOfAll(
  warehouse: Pick<Warehouse, 'rows'>,
  nowMs: number
): Promise<NotBelievedOfAll> {
  const range = { fromMs: nowMs - statusDays * dayMs, toMs: nowMs + dayMs }
  const groups = await readNotBelieved(warehouse, { publisherId: null, ...range })
  return { groups: groups.slice(0, notBelievedLimits.groupsMax), total: groups.length }
}

interface Recent {
  readonly atMs: number
  readonly groups: Promise<readonly NotBelievedOfPublisher[]>
}

/** Reads the groups of the last 24 hours, at most once a minute; rejects while they cannot be read. */
export function createRecentNotBelieved({
  warehouse,
  clock,
}: {
  readonly warehouse: Pick<Warehouse, 'rows'>
  readonly clock: Clock
}): () => Promise<readonly NotBelievedOfPublisher[]> {
  let read: Recent | null = null
  return async () => {
    const nowMs = clock()
    if (read === null || Math.abs(nowMs - read.atMs) > recentMsMax) {
      const range = { fromMs: nowMs - dayMs, toMs: nowMs + dayMs }
      read = { atMs: nowMs, groups: readNotBelieved(warehouse, { publisherId: null, ...range }) }
    }
    return (await read.groups).slice(0, notBelievedLimits.groupsMax)
  }
}

/** Active publishers whose deliveries count from anywhere and without a key, by id. */
export function findBelieveEverybody(
  snapshot: CatalogSnapshot,
  installation: { readonly requiresKey: boolean }
): BelieveEverybody {
  const found = [...snapshot.publishers.values()]
    .filter((publisher) => {
      const { sources, requiresKey } = policyOf(snapshot, publisher.id, installation)
      return isActive(publisher) && sources.length === 0 && !requiresKey
    })
    .map(({ id, name }) => ({ id, name }))
    .toSorted((one, other) => one.id - other.id)
  return { publishers: found.slice(0, notBelievedLimits.publishersMax), total: found.length }
}
