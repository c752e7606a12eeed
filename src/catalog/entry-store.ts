// The table `catalog_entry`, which holds the catalog and the keys as JSON bodies of a kind and an id.
// The greatest version of an entry counts.
import type { Logger } from 'pino'
import type { Clock } from '../lib/clock.ts'
import { Loop } from '../lib/loop.ts'
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

/** The options of every store that is built on `EntryStore`. */
export interface EntryStoreOptions {
  readonly warehouse: Warehouse
  readonly clock: Clock
  readonly log: Pick<Logger, 'info' | 'error'>
  /** Default `entryStoreLimits.refreshMs`. */
  readonly refreshMs?: number
}

interface StoreParts {
  /** Names the entries in the log. */
  readonly what: string
  readonly kinds: readonly EntryKind[]
  /** Called with all entries when any of them has changed. */
  readonly onEntries: (entries: readonly StoredEntry[]) => void
}

export const entryStoreLimits = {
  /** A change on another node, such as a revocation, must work within 5 s. */
  refreshMs: 2_000,
  /** Nobody else writes to a warehouse in process. The reading still shows whether it can be read. */
  ownRefreshMs: 10_000,
  /** More than a node can hold in memory. Products, which are many, have a table of their own. */
  entriesMax: 5_000_000,
} as const

/** Reads the entries of some kinds, keeps up with other nodes, and makes one change at a time. */
export class EntryStore {
  readonly #options: EntryStoreOptions
  readonly #parts: StoreParts
  #lastVersion = 0
  #mark: string | null = null
  #readAtMs = -Infinity
  #last: Promise<unknown> = Promise.resolve()
  #polling: Loop | null = null

  constructor(options: EntryStoreOptions, parts: StoreParts) {
    this.#options = options
    this.#parts = parts
  }

  /** When the newest reading began. It may have missed what happened later. */
  get readAtMs(): number {
    return this.#readAtMs
  }

  /** Reads the entries and then again every few seconds. Rejects if the first reading fails. */
  async open(): Promise<void> {
    await this.refresh()
    const { refreshMs = entryStoreLimits.refreshMs, log } = this.#options
    const { what } = this.#parts
    this.#polling = new Loop({
      step: async () => {
        await this.refresh()
        return false
      },
      pauseMs: refreshMs,
      failurePauseMsMax: refreshMs,
      onFailure: (err, failureCount) => {
        if (failureCount === 1) log.error({ what, err }, 'refreshing failed; trying again')
      },
      onRecovery: () => log.info({ what }, 'refreshing works again'),
    })
  }

  async refresh(): Promise<void> {
    await this.change(async () => undefined)
  }

  /**
   * Runs the work alone, with entries that were read just before: another node may have changed them, and
   * a reading that began before a change must not replace what the change has made.
   */
  async change<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(async () => {
      await this.#read()
      return await work()
    })
    // The caller gets the failure; the next change goes on.
    this.#last = result.catch(() => undefined)
    return await result
  }

  /** One insert, so all entries or none. Each gets the same new version. Part of the work of `change`. */
  async append(entries: readonly Entry[]): Promise<void> {
    const { warehouse, clock } = this.#options
    // Microseconds of the clock, but always growing: two changes in one millisecond keep their order, and
    // a change never loses to the version that it was based on.
    this.#lastVersion = Math.max(clock() * 1_000, this.#lastVersion + 1)
    const version = this.#lastVersion
    const lines = entries.map(({ kind, id, body }) =>
      JSON.stringify({ kind, id, body: JSON.stringify(body), version })
    )
    await warehouse.insert('catalog_entry', toLines(lines))
  }

  async close(): Promise<void> {
    await this.#polling?.stop()
  }

  async #read(): Promise<void> {
    const { warehouse, clock } = this.#options
    const beganAtMs = clock()
    // A revocation, or the version that a change builds on, may be written on another node.
    await warehouse.barrier(['catalog_entry'])
    const mark = await this.#readMark()
    if (mark !== this.#mark) {
      this.#parts.onEntries(
        await warehouse.rows<StoredEntry>(
          `SELECT kind, id, body FROM catalog_entry FINAL
           WHERE kind IN {kinds:Array(String)}
           ORDER BY kind, id LIMIT {entriesMax:UInt64}`,
          { kinds: this.#parts.kinds, entriesMax: entryStoreLimits.entriesMax }
        )
      )
      this.#mark = mark
    }
    this.#readAtMs = beganAtMs
  }

  /**
   * A text that differs whenever the entries may differ, at the cost of reading one narrow column. The sum
   * is part of it because another node with a slower clock may write a version below the greatest, and the
   * count alone falls again when ClickHouse merges replaced versions away.
   */
  async #readMark(): Promise<string> {
    const [row] = await this.#options.warehouse.rows<{
      entries: number
      newest: number
      sum: string
    }>(
      `SELECT count() AS entries, max(version) AS newest, toString(sum(version)) AS sum
       FROM catalog_entry WHERE kind IN {kinds:Array(String)}`,
      { kinds: this.#parts.kinds }
    )
    const { entries = 0, newest = 0, sum = '' } = row ?? {}
    this.#lastVersion = Math.max(this.#lastVersion, newest)
    return `${entries}/${newest}/${sum}`
  }
}

export function toLines(rows: readonly string[]): Buffer {
  return rows.length === 0 ? Buffer.alloc(0) : Buffer.from(`${rows.join('\n')}\n`)
}
