import { judgeDelivery, policyOf } from '../access/delivery-verdict.ts'
import type { Belief, KeyKind } from '../access/delivery-verdict.ts'
import type { KeyStore } from '../access/key-store.ts'
import type { CatalogSnapshot } from '../catalog/snapshot.ts'
import type { ConversionRecord, PresentedKey, ReturnRecord, SpoolRecord } from '../spool/record.ts'

export interface DeliveryJudgement {
  readonly verdict: Belief
  readonly keyKind: KeyKind
  /** Empty: it came with no key that there is. */
  readonly keyId: string
}

/** Says of each delivery whether it is believed. */
export interface DeliveryJudge {
  /**
   * Resolves when the list of keys is new enough to judge these records, and rejects while it cannot be
   * read: then they wait in the spool, as they do for a warehouse that is away.
   */
  prepare(records: readonly SpoolRecord[]): Promise<void>
  judge(record: ConversionRecord | ReturnRecord): DeliveryJudgement
}

export interface DeliveryJudgeDeps {
  readonly keys: Pick<KeyStore, 'findByHash' | 'findById' | 'readAfter'>
  readonly catalog: () => CatalogSnapshot
  /** Of publishers that do not say themselves whether they require a key. */
  readonly requiresKey: boolean
}

export function createDeliveryJudge(deps: DeliveryJudgeDeps): DeliveryJudge {
  const { keys, catalog, requiresKey } = deps
  return {
    async prepare(records) {
      const newestAtMs = newestKeyedAtMs(records)
      if (newestAtMs !== null) await keys.readAfter(newestAtMs)
    },
    judge(record) {
      const { publisherId, receivedAtMs, origin, presentedKey } = record
      const key = isWord(presentedKey) ? null : keys.findByHash(presentedKey)
      const facts = { publisherId, receivedAtMs, origin, keyId: key?.id ?? null }
      const policy = policyOf(catalog(), publisherId, { requiresKey })
      return {
        verdict: judgeDelivery(facts, policy, (id) => keys.findById(id)),
        keyKind: isWord(presentedKey) ? presentedKey : key === null ? 'unknown' : 'known',
        keyId: key?.id ?? '',
      }
    },
  }
}

/** The receipt of the newest delivery with a key; null if there is none. */
function newestKeyedAtMs(records: readonly SpoolRecord[]): number | null {
  let newestAtMs: number | null = null
  for (const record of records) {
    if (record.type === 'ad-event' || isWord(record.presentedKey)) continue
    newestAtMs = Math.max(newestAtMs ?? record.receivedAtMs, record.receivedAtMs)
  }
  return newestAtMs
}

/** The two words say that there is no key to look up. */
function isWord(presentedKey: PresentedKey): presentedKey is 'none' | 'malformed' {
  return presentedKey === 'none' || presentedKey === 'malformed'
}
