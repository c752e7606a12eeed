import { Type } from 'typebox'
import {
  parseStoredBundle,
  type CatalogBundle,
  type CatalogResult,
} from '../contract/catalog-bundle.ts'
import { catalogId, uuidText } from '../contract/fields.ts'
import { compileParser } from '../contract/validate.ts'
import { assert } from '../lib/assert.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { changesOf, type CatalogChanges } from './catalog-changes.ts'
import { checkBundle, type MarketHasEvents } from './check-bundle.ts'
import {
  EntryStore,
  type Entry,
  type EntryKind,
  type EntryStoreOptions,
  type StoredEntry,
} from './entry-store.ts'
import { normalizeBundle } from './normalize-bundle.ts'
import { keepBounds } from './contradictions.ts'
import { keepTrust, trustChangesOf } from './publisher-trust.ts'
import { ProductTable } from './product-table.ts'
import {
  assignmentId,
  emptySnapshot,
  extendSnapshot,
  type Assignment,
  type CatalogSnapshot,
} from './snapshot.ts'

export interface CatalogStoreOptions extends EntryStoreOptions {
  /** Default: one look into the events of the warehouse. */
  readonly marketHasEvents?: MarketHasEvents
}

export type ApplyResult =
  | { readonly ok: true; readonly counts: CatalogResult; readonly changes: CatalogChanges }
  | { readonly ok: false; readonly messages: readonly string[] }

export interface CatalogStore {
  /** Never waits and never throws; at most a few seconds behind other nodes, never behind this one. */
  current(): CatalogSnapshot
  /** All entries of the bundle or none; what is applied shows in `current` when this resolves. */
  apply(bundle: CatalogBundle): Promise<ApplyResult>
  /** What `apply` would answer right now; nothing is stored. */
  check(bundle: CatalogBundle): Promise<ApplyResult>
  /**
   * Makes the asset the advertised one of the ad group and size. The caller has checked it. Resolves with
   * the id of the asset that was it before, or null.
   */
  attach(assignment: Assignment): Promise<string | null>
  refresh(): Promise<void>
  /** The products, which are too many for `current`. */
  readonly products: ProductTable
  close(): Promise<void>
}

const parseAssignments = compileParser(
  Type.Array(
    Type.Object({ adGroupId: catalogId(), creativeSizeId: catalogId(), assetId: uuidText() })
  )
)

/** The kinds of entries, and the field of a bundle that lists each. Assignments are in none. */
const bundleKinds = [
  ['market', 'markets'],
  ['publisher', 'publishers'],
  ['advertiser', 'advertisers'],
  ['campaign', 'campaigns'],
  ['adGroup', 'adGroups'],
  ['creativeSize', 'creativeSizes'],
  ['asset', 'assets'],
] as const satisfies readonly (readonly [EntryKind, keyof CatalogBundle])[]

/** Loads the catalog and keeps it fresh. The warehouse must be migrated, and is not closed here. */
export async function openCatalogStore(options: CatalogStoreOptions): Promise<CatalogStore> {
  const store = new WarehouseCatalogStore(options)
  await store.entries.open()
  return store
}

class WarehouseCatalogStore implements CatalogStore {
  readonly products: ProductTable
  readonly entries: EntryStore
  readonly #marketHasEvents: MarketHasEvents
  #snapshot: CatalogSnapshot = emptySnapshot

  constructor(options: CatalogStoreOptions) {
    const { warehouse, clock, marketHasEvents } = options
    this.products = new ProductTable(warehouse, clock)
    this.entries = new EntryStore(options, {
      what: 'catalog',
      kinds: [...bundleKinds.map(([kind]) => kind), 'assignment'],
      onEntries: (entries) => (this.#snapshot = readSnapshot(entries)),
    })
    this.#marketHasEvents = marketHasEvents ?? ((ids) => findMarketsWithEvents(warehouse, ids))
  }

  current(): CatalogSnapshot {
    return this.#snapshot
  }

  async refresh(): Promise<void> {
    await this.entries.refresh()
  }

  async apply(bundle: CatalogBundle): Promise<ApplyResult> {
    return await this.#whenValid(bundle, (normal) => this.#write(normal))
  }

  async check(bundle: CatalogBundle): Promise<ApplyResult> {
    return await this.#whenValid(bundle, async () => undefined)
  }

  async attach(assignment: Assignment): Promise<string | null> {
    return await this.entries.change(async () => {
      const before = this.#snapshot.assignments.get(assignmentId(assignment))?.assetId ?? null
      if (before === assignment.assetId) return before
      await this.entries.append([assignmentEntry(assignment)])
      this.#snapshot = extendSnapshot(this.#snapshot, {}, [assignment])
      return before
    })
  }

  async close(): Promise<void> {
    await this.entries.close()
  }

  async #whenValid(
    bundle: CatalogBundle,
    act: (normal: CatalogBundle) => Promise<void>
  ): Promise<ApplyResult> {
    return await this.entries.change(async () => {
      const said = normalizeBundle(bundle)
      const normal = keepBounds(keepTrust(said, this.#snapshot), this.#snapshot)
      const messages = await checkBundle(normal, this.#snapshot, this.#marketHasEvents)
      if (messages.length > 0) return { ok: false, messages }
      const trustChanges = trustChangesOf(normal, this.#snapshot)
      const changes = changesOf(normal, this.#snapshot)
      await act(normal)
      return {
        ok: true,
        counts: { ...countsOf(normal), ...(trustChanges.length > 0 && { trustChanges }) },
        changes,
      }
    })
  }

  /**
   * The products go first, then the one insert that makes the rest of the bundle true. If the second fails,
   * the caller is told and the products stay: no report reads them before their market is known, and
   * repeating the bundle replaces them. In the other order, campaigns could appear whose products were lost.
   */
  async #write(bundle: CatalogBundle): Promise<void> {
    const entries = toEntries(bundle)
    const products = bundle.products ?? []
    if (products.length > 0) {
      const marketIds = [...new Set(products.map(({ marketId }) => marketId))]
      await this.products.write(products, await this.products.nextVersion(marketIds))
    }
    if (entries.length > 0) await this.entries.append(entries)
    this.#snapshot = extendSnapshot(this.#snapshot, bundle)
  }
}

/**
 * Which of the markets have events in the warehouse. Events that are still in a spool are not seen, so
 * nothing stops an operator from changing a currency within seconds of the market's first event.
 */
async function findMarketsWithEvents(
  warehouse: Warehouse,
  marketIds: readonly number[]
): Promise<ReadonlySet<number>> {
  await warehouse.barrier(['ad_event'])
  const rows = await warehouse.rows<{ market_id: number }>(
    `SELECT DISTINCT market_id FROM ad_event
     WHERE market_id IN {marketIds:Array(Int32)}
     ORDER BY market_id LIMIT {marketsMax:UInt64}`,
    { marketIds, marketsMax: marketIds.length }
  )
  return new Set(rows.map((row) => row.market_id))
}

function countsOf(bundle: CatalogBundle): CatalogResult {
  return { entries: toEntries(bundle).length, products: bundle.products?.length ?? 0 }
}

function toEntries(bundle: CatalogBundle): readonly Entry[] {
  return bundleKinds.flatMap(([kind, field]) =>
    (bundle[field] ?? []).map((body) => ({ kind, id: String(body.id), body }))
  )
}

function assignmentEntry(assignment: Assignment): Entry {
  return { kind: 'assignment', id: assignmentId(assignment), body: assignment }
}

/** The entries were checked when they were written. Checked again, they are of the types they claim. */
function readSnapshot(entries: readonly StoredEntry[]): CatalogSnapshot {
  const bodies = groupBodies(entries)
  const bundle = parseStoredBundle(
    Object.fromEntries(bundleKinds.map(([kind, field]) => [field, bodies.get(kind) ?? []]))
  )
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
