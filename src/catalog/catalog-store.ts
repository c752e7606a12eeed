import { Type } from 'typebox'
import {
  parseStoredBundle,
  type CatalogBundle,
  type CatalogResult,
} from '../contract/catalog-bundle.ts'
import { catalogId, uuidText } from '../contract/fields.ts'
import { compileParser } from '../contract/validate.ts'
import { assert } from '../lib/assert.ts'
import type { Clock } from '../lib/clock.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { checkBundle, type MarketHasEvents } from './check-bundle.ts'
import { EntryTable, type Entry, type EntryKind, type StoredEntry } from './entry-table.ts'
import { Exclusive } from './exclusive.ts'
import { findMarketsWithEvents } from './market-events.ts'
import { normalizeBundle } from './normalize-bundle.ts'
import { Poller, type StoreLog } from './poller.ts'
import { ProductTable } from './product-table.ts'
import {
  assignmentId,
  emptySnapshot,
  extendSnapshot,
  type Assignment,
  type CatalogSnapshot,
} from './snapshot.ts'

export interface CatalogStoreOptions {
  readonly warehouse: Warehouse
  readonly clock: Clock
  readonly log: StoreLog
  /** Default 2 s: a change on another node shows within 5 s. */
  readonly refreshMs?: number
  /** Default: one look into the events of the warehouse. */
  readonly marketHasEvents?: MarketHasEvents
}

export type ApplyResult =
  | { readonly ok: true; readonly counts: CatalogResult }
  | { readonly ok: false; readonly messages: readonly string[] }

type CheckedBundle =
  | { readonly ok: true; readonly normal: CatalogBundle }
  | { readonly ok: false; readonly messages: readonly string[] }

export interface CatalogStore {
  /** Never waits and never throws; at most a few seconds behind other nodes, never behind this one. */
  current(): CatalogSnapshot
  /** All entries of the bundle or none; what is applied shows in `current` when this resolves. */
  apply(bundle: CatalogBundle): Promise<ApplyResult>
  /** What `apply` would answer right now; nothing is stored. */
  check(bundle: CatalogBundle): Promise<ApplyResult>
  /** Makes the asset the advertised one of the ad group and size. The caller has checked it. */
  attach(assignment: Assignment): Promise<void>
  refresh(): Promise<void>
  /** The products, which are too many for `current`. */
  readonly products: ProductTable
  close(): Promise<void>
}

const refreshMsDefault = 2_000

const parseAssignments = compileParser(
  Type.Array(
    Type.Object({ adGroupId: catalogId(), creativeSizeId: catalogId(), assetId: uuidText() })
  )
)

const catalogKinds = [
  'market',
  'publisher',
  'advertiser',
  'campaign',
  'adGroup',
  'creativeSize',
  'asset',
  'assignment',
] as const satisfies readonly EntryKind[]

/** Loads the catalog and keeps it fresh. The warehouse must be migrated, and is not closed here. */
export async function openCatalogStore(options: CatalogStoreOptions): Promise<CatalogStore> {
  const store = new WarehouseCatalogStore(options)
  await store.refresh()
  store.startPolling(options)
  return store
}

class WarehouseCatalogStore implements CatalogStore {
  readonly products: ProductTable
  readonly #table: EntryTable
  readonly #marketHasEvents: MarketHasEvents
  // A reading that began before a change must not replace what the change has made.
  readonly #exclusive = new Exclusive()
  #snapshot: CatalogSnapshot = emptySnapshot
  #mark: string | null = null
  #poller: Poller | null = null

  constructor({ warehouse, clock, marketHasEvents }: CatalogStoreOptions) {
    this.products = new ProductTable(warehouse, clock)
    this.#table = new EntryTable(warehouse, clock, catalogKinds)
    this.#marketHasEvents = marketHasEvents ?? ((ids) => findMarketsWithEvents(warehouse, ids))
  }

  startPolling({ refreshMs = refreshMsDefault, log }: CatalogStoreOptions): void {
    const poll = () => this.refresh()
    this.#poller = new Poller({ intervalMs: refreshMs, what: 'catalog', log, poll })
  }

  current(): CatalogSnapshot {
    return this.#snapshot
  }

  async refresh(): Promise<void> {
    await this.#exclusive.run(() => this.#load())
  }

  async apply(bundle: CatalogBundle): Promise<ApplyResult> {
    return await this.#exclusive.run(async () => {
      const checked = await this.#check(bundle)
      return checked.ok ? { ok: true, counts: await this.#write(checked.normal) } : checked
    })
  }

  async check(bundle: CatalogBundle): Promise<ApplyResult> {
    return await this.#exclusive.run(async () => {
      const checked = await this.#check(bundle)
      return checked.ok ? { ok: true, counts: countsOf(checked.normal) } : checked
    })
  }

  async attach(assignment: Assignment): Promise<void> {
    await this.#exclusive.run(async () => {
      await this.#load()
      const stored = this.#snapshot.assignments.get(assignmentId(assignment))
      if (stored?.assetId === assignment.assetId) return
      await this.#table.append([assignmentEntry(assignment)])
      this.#snapshot = extendSnapshot(this.#snapshot, {}, [assignment])
    })
  }

  async close(): Promise<void> {
    await this.#poller?.close()
  }

  /**
   * The products go first, and only then the one insert that makes the rest of the bundle true. When
   * the second fails, the caller is told so while the products stand: they name nothing but a market,
   * no report reads them before that market is known, and the repeat of the bundle replaces them. The
   * other order could show campaigns whose products were lost without a word.
   */
  async #write(bundle: CatalogBundle): Promise<CatalogResult> {
    const entries = toEntries(bundle)
    const products = bundle.products ?? []
    if (products.length > 0) {
      const marketIds = [...new Set(products.map(({ marketId }) => marketId))]
      await this.products.write(products, await this.products.nextVersion(marketIds))
    }
    if (entries.length > 0) await this.#table.append(entries)
    this.#snapshot = extendSnapshot(this.#snapshot, bundle)
    return countsOf(bundle)
  }

  async #check(bundle: CatalogBundle): Promise<CheckedBundle> {
    // References may be to what another node has just taken.
    await this.#load()
    const normal = normalizeBundle(bundle)
    const messages = await checkBundle(normal, this.#snapshot, this.#marketHasEvents)
    return messages.length > 0 ? { ok: false, messages } : { ok: true, normal }
  }

  async #load(): Promise<void> {
    const mark = await this.#table.mark()
    if (mark === this.#mark) return
    this.#snapshot = readSnapshot(await this.#table.read())
    this.#mark = mark
  }
}

function countsOf(bundle: CatalogBundle): CatalogResult {
  return { entries: toEntries(bundle).length, products: bundle.products?.length ?? 0 }
}

function toEntries(bundle: CatalogBundle): readonly Entry[] {
  return [
    ...entriesOf('market', bundle.markets),
    ...entriesOf('publisher', bundle.publishers),
    ...entriesOf('advertiser', bundle.advertisers),
    ...entriesOf('campaign', bundle.campaigns),
    ...entriesOf('adGroup', bundle.adGroups),
    ...entriesOf('creativeSize', bundle.creativeSizes),
    ...entriesOf('asset', bundle.assets),
  ]
}

function entriesOf(
  kind: EntryKind,
  bodies: readonly { readonly id: number | string }[] = []
): readonly Entry[] {
  return bodies.map((body) => ({ kind, id: String(body.id), body }))
}

function assignmentEntry(assignment: Assignment): Entry {
  return { kind: 'assignment', id: assignmentId(assignment), body: assignment }
}

/** What is read was checked when it was written; checked again, it is of the types it claims. */
function readSnapshot(entries: readonly StoredEntry[]): CatalogSnapshot {
  const bodies = groupBodies(entries)
  const bundle = parseStoredBundle({
    markets: bodies.get('market') ?? [],
    publishers: bodies.get('publisher') ?? [],
    advertisers: bodies.get('advertiser') ?? [],
    campaigns: bodies.get('campaign') ?? [],
    adGroups: bodies.get('adGroup') ?? [],
    creativeSizes: bodies.get('creativeSize') ?? [],
    assets: bodies.get('asset') ?? [],
  })
  const assignments = parseAssignments(bodies.get('assignment') ?? [])
  assert(bundle.ok && assignments.ok, 'stored entries are such as a bundle may hold')
  return extendSnapshot(emptySnapshot, bundle.value, assignments.value)
}

function groupBodies(entries: readonly StoredEntry[]): ReadonlyMap<EntryKind, readonly unknown[]> {
  const bodies = new Map<EntryKind, unknown[]>()
  for (const { kind, body } of entries) {
    const group = bodies.get(kind) ?? []
    group.push(JSON.parse(body))
    bodies.set(kind, group)
  }
  return bodies
}
