// Whether a delivery of a conversion or a return is believed. Judged at shipping and again whenever an
// operator asks for it, so it depends on nothing but what is stored with the delivery, the policy and the keys.

import type { CatalogSnapshot } from '../catalog/snapshot.ts'
import { isFromSources } from '../catalog/trusted-sources.ts'
import type { Disbelief } from '../contract/explanation.ts'
import type { Origin } from '../spool/record.ts'
import type { AccessKey } from './key.ts'

/** `unknown`: it had the form of a key, but there is no such key. */
export type KeyKind = 'none' | 'malformed' | 'unknown' | 'known'

/** What is stored with a delivery. */
export interface DeliveryFacts {
  readonly publisherId: number
  readonly receivedAtMs: number
  readonly origin: Origin
  /** The key it came with. Null: with none that there is. */
  readonly keyId: string | null
}

export interface DeliveryPolicy {
  /** Empty: any sender. */
  readonly sources: readonly string[]
  readonly requiresKey: boolean
  readonly isKnownPublisher: boolean
}

export type KeyById = (id: string) => AccessKey | null

export type Belief = 'valid' | Disbelief

/**
 * A key may have been created by a node whose clock is ahead of that of the tracker. Nodes more than
 * 60 s from the warehouse's clock are not ready, so two that are differ by at most twice that. It costs no
 * security: nobody knows a key before it is created.
 */
export const createdToleranceMs = 120_000

/** `requiresKey` of the installation holds for publishers that say nothing, and for unknown ones. */
export function policyOf(
  snapshot: CatalogSnapshot,
  publisherId: number,
  installation: { readonly requiresKey: boolean }
): DeliveryPolicy {
  const publisher = snapshot.publishers.get(publisherId)
  return {
    sources: publisher?.conversionSources ?? [],
    requiresKey: publisher?.requireKey ?? installation.requiresKey,
    isKnownPublisher: publisher !== undefined,
  }
}

/**
 * The source list comes first: who is not on it is told so whatever their key, and `unauthenticated` then
 * means a sender of the right place that lacks a key. An operator vouches for a backfill.
 */
export function judgeDelivery(
  facts: DeliveryFacts,
  policy: DeliveryPolicy,
  keyById: KeyById
): Belief {
  const { origin, keyId } = facts
  if (origin.kind === 'backfill') return 'valid'
  if (policy.sources.length > 0 && !isFromSources(policy.sources, origin.address)) {
    return 'untrusted-source'
  }
  if (!policy.requiresKey) return 'valid'
  const key = keyId === null ? null : keyById(keyId)
  if (key !== null && isDeliveryKey(key, facts)) return 'valid'
  return policy.isKnownPublisher ? 'unauthenticated' : 'unknown-publisher'
}

/** Whether the key was good for this publisher's deliveries at the instant of receipt. */
export function isDeliveryKey(
  key: AccessKey,
  { publisherId, receivedAtMs }: Pick<DeliveryFacts, 'publisherId' | 'receivedAtMs'>
): boolean {
  const { scopes, publishers, createdAtMs, expiresAtMs, revokedAtMs, compromisedSinceMs } = key
  if (!scopes.includes('delivery:write')) return false
  if (publishers !== 'all' && !publishers.includes(publisherId)) return false
  if (receivedAtMs < createdAtMs - createdToleranceMs) return false
  return [expiresAtMs, revokedAtMs, compromisedSinceMs].every(
    (endMs) => endMs === null || receivedAtMs < endMs
  )
}
