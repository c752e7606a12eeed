// Bounds the bytes of bodies that this port holds at once, because the pipeline, and the warehouse where it
// is embedded, run in the same process. Bytes count when they arrive; announcing a length reserves nothing.

/** A large body has a budget of its own, so that catalogs never keep out what all others send. */
const budgets = {
  ordinary: { bodyBytesMax: 1_048_576, bytesMax: 67_108_864, perKeyMax: 8_388_608 },
  large: { bodyBytesMax: Infinity, bytesMax: 142_606_336, perKeyMax: 75_497_472 },
} as const

/** Every key may always send this much, however full the budget is: enough for the body of a report. */
const bytesPerKeyAlways = 65_536

type Kind = keyof typeof budgets

export type BodyFull = 'own-full' | 'all-full'

/** The share of the budget that one body holds. */
export interface BodyShare {
  /** Null if there is room for them. */
  add(bytes: number): BodyFull | null
  /** Gives all of it back, when the body is no longer needed. */
  close(): void
}

export class BodyBudget {
  readonly #bytes = { ordinary: 0, large: 0 }
  readonly #bytesByKey = { ordinary: new Map<string, number>(), large: new Map<string, number>() }

  open(keyId: string, bodyBytesMax: number): BodyShare {
    const kind: Kind = bodyBytesMax <= budgets.ordinary.bodyBytesMax ? 'ordinary' : 'large'
    const { bytesMax, perKeyMax } = budgets[kind]
    const byKey = this.#bytesByKey[kind]
    let held = 0
    const change = (bytes: number): void => {
      held += bytes
      this.#bytes[kind] += bytes
      const own = (byKey.get(keyId) ?? 0) + bytes
      if (own > 0) byKey.set(keyId, own)
      else byKey.delete(keyId)
    }
    return {
      add: (bytes) => {
        const ownBytes = (byKey.get(keyId) ?? 0) + bytes
        if (ownBytes > perKeyMax) return 'own-full'
        const isFull = this.#bytes[kind] + bytes > bytesMax
        if (isFull && ownBytes > bytesPerKeyAlways) return 'all-full'
        change(bytes)
        return null
      },
      close: () => change(-held),
    }
  }
}
