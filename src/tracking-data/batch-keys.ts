import { BatchKey, GcmWorkspace } from './gcm-batch.ts'
import { RecentMap } from './recent-map.ts'

/** Derived keys that are held ready, over all root keys. One costs about 18 KB with its cipher. */
const defaultBatchKeysMax = 256

/**
 * Making a key ready takes about as long as opening four messages without. A key that is dropped and
 * comes again therefore never makes opening more than twice as dear as it is without this cache.
 */
const usesUntilReady = 4

export interface DerivedKey {
  readonly bytes: Uint8Array
  /** Since it was last made ready. */
  useCount: number
}

/**
 * Keys made ready to open many messages at once, for those derived keys that have proved themselves:
 * whoever asks has opened a message with the key before, so junk makes nothing ready.
 */
export class BatchKeyCache {
  /** By identity: two root keys can have derived keys of the same nonce prefix. */
  readonly #keys: RecentMap<DerivedKey, BatchKey>
  /** Only when first needed: few of those who hold a cipher open many messages at once. */
  #workspace: GcmWorkspace | undefined

  constructor(batchKeysMax: number = defaultBatchKeysMax) {
    this.#keys = new RecentMap(batchKeysMax)
  }

  get size(): number {
    return this.#keys.size
  }

  /** Undefined until the key was asked for often enough to be worth it, and when it is not trusted. */
  find(derived: DerivedKey): BatchKey | undefined {
    const known = this.#keys.get(derived)
    if (known !== undefined) return known.isTrusted ? known : undefined
    derived.useCount += 1
    if (derived.useCount < usesUntilReady) return undefined
    derived.useCount = 0
    this.#workspace ??= new GcmWorkspace()
    const key = new BatchKey(derived.bytes, this.#workspace)
    this.#keys.set(derived, key)
    return key
  }
}
