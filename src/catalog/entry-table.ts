// The table `catalog_entry`: what the catalog and the keys are stored in, as JSON bodies of a kind and
// an id. The greatest version of an entry counts.
import type { Clock } from '../lib/clock.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'

export type EntryKind =
  | 'market'
  | 'publisher'
  | 'advertiser'
  | 'campaign'
  | 'adGroup'
  | 'creativeSize'
  | 'asset'
  | 'assignment'
  | 'key'
  | 'key-revoked'

export interface Entry {
  readonly kind: EntryKind
  readonly id: string
  readonly body: object
}

export interface StoredEntry {
  readonly kind: EntryKind
  readonly id: string
  /** JSON text. */
  readonly body: string
}

/** More entries than a node can hold in memory; the products, which are many, stand elsewhere. */
const entriesMax = 5_000_000

export class EntryTable {
  readonly #warehouse: Warehouse
  readonly #kinds: readonly EntryKind[]
  readonly #clock: Clock
  #lastVersion = 0

  constructor(warehouse: Warehouse, clock: Clock, kinds: readonly EntryKind[]) {
    this.#warehouse = warehouse
    this.#clock = clock
    this.#kinds = kinds
  }

  /**
   * A text that differs whenever the entries may differ, at the cost of one narrow column. The sum is
   * in it because another node with a slower clock may write a version below the greatest, and the
   * count alone falls again when the engine merges replaced versions away. Versions of this node are
   * above all that were seen here, so that a change never loses to the one it was made upon.
   */
  async mark(): Promise<string> {
    const [row] = await this.#warehouse.rows<{ entries: number; newest: number; sum: string }>(
      `SELECT count() AS entries, max(version) AS newest, toString(sum(version)) AS sum
       FROM catalog_entry WHERE kind IN {kinds:Array(String)}`,
      { kinds: this.#kinds }
    )
    const { entries = 0, newest = 0, sum = '' } = row ?? {}
    this.#lastVersion = Math.max(this.#lastVersion, newest)
    return `${entries}/${newest}/${sum}`
  }

  async read(): Promise<readonly StoredEntry[]> {
    return await this.#warehouse.rows<StoredEntry>(
      `SELECT kind, id, body FROM catalog_entry FINAL
       WHERE kind IN {kinds:Array(String)}
       ORDER BY kind, id LIMIT {entriesMax:UInt64}`,
      { kinds: this.#kinds, entriesMax }
    )
  }

  /** One insert, so all of them or none; every entry gets the same new version, which comes back. */
  async append(entries: readonly Entry[]): Promise<number> {
    const version = this.nextVersion()
    const lines = entries.map(({ kind, id, body }) =>
      JSON.stringify({ kind, id, body: JSON.stringify(body), version })
    )
    await this.#warehouse.insert('catalog_entry', toLines(lines))
    return version
  }

  /**
   * Microseconds of the clock, but always growing: two changes in one millisecond keep their order.
   * For rows of other tables that belong to a coming `append`.
   */
  nextVersion(): number {
    this.#lastVersion = Math.max(this.#clock() * 1_000, this.#lastVersion + 1)
    return this.#lastVersion
  }
}

export function toLines(rows: readonly string[]): Buffer {
  return rows.length === 0 ? Buffer.alloc(0) : Buffer.from(`${rows.join('\n')}\n`)
}
