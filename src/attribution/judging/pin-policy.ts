import { policyOf } from '../../access/delivery-verdict.ts'
import type { AccessKey } from '../../access/key.ts'
import type { CatalogSnapshot } from '../../catalog/snapshot.ts'
import type { PinnedPolicy } from './judgement-requests.ts'

export interface PolicyNow {
  readonly snapshot: CatalogSnapshot
  /** All keys, expired and revoked ones too. */
  readonly keys: readonly AccessKey[]
  /** Of publishers that do not say themselves whether they require a key. */
  readonly requiresKey: boolean
}

/** What decides about a publisher's deliveries now. Only keys that deliveries may come with are taken. */
export function pinPolicy(now: PolicyNow, publisherId: number): PinnedPolicy {
  return {
    policy: policyOf(now.snapshot, publisherId, now),
    keys: now.keys.filter(
      ({ scopes, publishers }) =>
        scopes.includes('delivery:write') &&
        (publishers === 'all' || publishers.includes(publisherId))
    ),
  }
}
