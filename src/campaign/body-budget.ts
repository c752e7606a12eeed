// How many bytes of bodies this port holds at once: the process is that of the pipeline, and of the
// warehouse where that is embedded. Bytes count as they come, so that announcing them holds nothing.

/** A large body has a budget of its own, so that catalogs never keep out what all others send. */
const budgets = {
  ordinary: { bodyBytesMax: 1_048_576, bytesMax: 67_108_864, perKeyMax: 8_388_608 },
  large: { bodyBytesMax: Infinity, bytesMax: 142_606_336, perKeyMax: 75_497_472 },
} as const

/** So many bytes every key may send however full the budget is: the body of a report has fewer. */
const bytesPerKeyAlways = 65_536

type Kind = keyof typeof budgets

export type BodyFull = 'own-full' | 'all-full'

/** What one body takes of the budget. */
export interface BodyShare {
  /** Null: there is room for them. */
  add(bytes: number): BodyFull | null
  /** Gives all of it back; once the body is not needed any more. */
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
