// The table `product`, by market and by the key of the GTIN. There may be millions of products, so they
// are never held in memory. The greatest version of a product counts.
import type { ProductEntry } from '../contract/catalog-bundle.ts'
import { gtinKey } from '../domain/gtin.ts'
import type { Clock } from '../lib/clock.ts'
import type { Params, Warehouse } from '../warehouse/warehouse.ts'
import { anyCaseSql } from '../domain/any-case.ts'
import { toLines } from './entry-store.ts'

export interface ProductQuestion {
  readonly marketId: number
  /** The page begins after this product; null for the first page. */
  readonly after: string | null
  readonly limit: number
  readonly gtin: string | null
  /** Part of the title, in any case. */
  readonly title: string | null
}

export interface ProductList {
  readonly products: readonly ProductEntry[]
  /** Null on the last page. */
  readonly next: string | null
}

/** The rows of one feed: every version from the first to the last belongs to it. */
export interface FeedVersions {
  readonly marketId: number
  readonly first: number
  readonly last: number
}

type ProductName = Pick<ProductEntry, 'marketId' | 'gtin'>

/** Within this time, other nodes notice that there are inactive products. */
const staleMs = 2_000

/** How many products one statement deactivates, in a third of a second and about 20 MB. */
const stepRowsMax = 50_000

export class ProductTable {
  readonly #warehouse: Warehouse
  readonly #clock: Clock
  #lastVersion = 0
  #inactive: { readonly any: boolean; readonly askedAtMs: number } | null = null

  constructor(warehouse: Warehouse, clock: Clock) {
    this.#warehouse = warehouse
    this.#clock = clock
  }

  /**
   * A version above all that the products of the markets have. Microseconds of the clock, so that of
   * two loads at once the one that began later wins; each further row of a load gets the next one.
   */
  async nextVersion(marketIds: readonly number[]): Promise<number> {
    await this.#warehouse.barrier(['product'])
    const [row] = await this.#warehouse.rows<{ newest: number }>(
      'SELECT max(version) AS newest FROM product WHERE market_id IN {marketIds:Array(Int32)}',
      { marketIds }
    )
    const above = Math.max(row?.newest ?? 0, this.#lastVersion) + 1
    this.#lastVersion = Math.max(this.#clock() * 1_000, above)
    return this.#lastVersion
  }

  /** One insert. The products get the versions from `version` on, so that of equal ones the last wins. */
  async write(products: readonly ProductEntry[], version: number): Promise<void> {
    if (products.length === 0) return
    this.#lastVersion = Math.max(this.#lastVersion, version + products.length)
    await this.#warehouse.insert(
      'product',
      toLines(products.map((one, at) => rowOf(one, version + at)))
    )
    if (products.some((product) => product.active === false)) this.#inactive = null
  }

  /** The number of products in the rows of a feed, which may repeat some of them. */
  async countProducts({ marketId, first, last }: FeedVersions): Promise<number> {
    await this.#warehouse.barrier(['product'])
    const [row] = await this.#warehouse.rows<{ products: number }>(
      `SELECT count() AS products FROM (
         SELECT gtin_key FROM product
         WHERE market_id = {marketId:Int32} AND version >= {first:UInt64} AND version <= {last:UInt64}
         GROUP BY market_id, gtin_key
       ) SETTINGS optimize_aggregation_in_order = 1`,
      { marketId, first, last }
    )
    return row?.products ?? 0
  }

  /**
   * Deactivates the products that are older than the feed and not among the kept keys, and resolves
   * with their number. Rows of a load that began after the feed are newer and stay. It works in steps,
   * because ClickHouse in process runs no other statement with bound values meanwhile.
   */
  async deactivateOlder(feed: FeedVersions, keptKeys: readonly string[]): Promise<number> {
    let count = 0
    for (let after = ''; ;) {
      const step = await this.#deactivateStep(feed, { after, keptKeys })
      count += step.count
      if (step.count < stepRowsMax) return count
      after = step.upTo
    }
  }

  async #deactivateStep(
    { marketId, first, last }: FeedVersions,
    { after, keptKeys }: { readonly after: string; readonly keptKeys: readonly string[] }
  ): Promise<{ readonly count: number; readonly upTo: string }> {
    const older = `FROM product FINAL
      WHERE market_id = {marketId:Int32} AND gtin_key > {after:String}
        AND is_active = 1 AND version < {first:UInt64} AND gtin_key NOT IN {keptKeys:Array(String)}`
    const params: Params = { marketId, first, after, keptKeys, stepRowsMax }
    await this.#warehouse.barrier(['product'])
    const [row] = await this.#warehouse.rows<{ count: number; up_to: string }>(
      `SELECT count() AS count, max(gtin_key) AS up_to
       FROM (SELECT gtin_key ${older} ORDER BY market_id, gtin_key LIMIT {stepRowsMax:UInt64})`,
      params
    )
    const { count = 0, up_to: upTo = '' } = row ?? {}
    if (count === 0) return { count, upTo }
    await this.#warehouse.command(
      // No aliases here: with the names of columns, they would replace these in the conditions too.
      `INSERT INTO product
       SELECT market_id, gtin_key, gtin, title, brand, group_id, 0, {last:UInt64}
       ${older} AND gtin_key <= {upTo:String}`,
      { ...params, last, upTo }
    )
    this.#inactive = null
    return { count, upTo }
  }

  /** Ordered by key. Includes products that are no longer active. */
  async list({ marketId, after, limit, gtin, title }: ProductQuestion): Promise<ProductList> {
    const conditions = [
      'market_id = {marketId:Int32}',
      ...(after === null ? [] : ['gtin_key > {after:String}']),
      ...(gtin === null ? [] : ['gtin_key = {key:String}']),
      ...(title === null
        ? []
        : [`position(${anyCaseSql('title')}, ${anyCaseSql('{title:String}')}) > 0`]),
    ]
    await this.#warehouse.barrier(['product'])
    const rows = await this.#warehouse.rows<ProductRow>(
      `SELECT market_id, gtin_key, gtin, title, brand, group_id, is_active FROM product FINAL
       WHERE ${conditions.join(' AND ')}
       ORDER BY market_id, gtin_key LIMIT {rowsMax:UInt64}`,
      {
        marketId,
        rowsMax: limit + 1,
        ...(after !== null && { after: gtinKey(after) }),
        ...(gtin !== null && { key: gtinKey(gtin) }),
        ...(title !== null && { title }),
      }
    )
    const page = rows.slice(0, limit)
    const isLast = rows.length <= limit
    return { products: page.map(entryOf), next: isLast ? null : (page.at(-1)?.gtin_key ?? null) }
  }

  /**
   * Finds the products that are in the catalog and no longer active, as `productId` gives them.
   * Searching a million products costs about 20 ms, so there is no search while no product is inactive.
   */
  async findInactive(products: readonly ProductName[]): Promise<ReadonlySet<string>> {
    if (products.length === 0 || !(await this.#hasInactive())) return new Set()
    const rows = await this.#warehouse.rows<{ market_id: number; gtin_key: string }>(
      `SELECT market_id, gtin_key FROM product
       WHERE (market_id, gtin_key) IN
         (SELECT arrayJoin(arrayZip({marketIds:Array(Int32)}, {keys:Array(String)})))
       GROUP BY market_id, gtin_key HAVING argMax(is_active, version) = 0
       ORDER BY market_id, gtin_key LIMIT {rowsMax:UInt64}`,
      {
        marketIds: products.map(({ marketId }) => marketId),
        keys: products.map(({ gtin }) => gtinKey(gtin)),
        rowsMax: products.length,
      }
    )
    return new Set(rows.map((row) => productId({ marketId: row.market_id, gtin: row.gtin_key })))
  }

  async #hasInactive(): Promise<boolean> {
    const nowMs = this.#clock()
    if (this.#inactive !== null && nowMs - this.#inactive.askedAtMs < staleMs) {
      return this.#inactive.any
    }
    const rows = await this.#warehouse.rows('SELECT 1 FROM product WHERE is_active = 0 LIMIT 1')
    this.#inactive = { any: rows.length > 0, askedAtMs: nowMs }
    return this.#inactive.any
  }
}

/** Equal for equal products. */
export function productId({ marketId, gtin }: ProductName): string {
  return `${marketId}/${gtinKey(gtin)}`
}

interface ProductRow {
  readonly market_id: number
  readonly gtin_key: string
  readonly gtin: string
  readonly title: string
  readonly brand: string
  readonly group_id: string
  readonly is_active: number
}

function rowOf(product: ProductEntry, version: number): string {
  return JSON.stringify({
    market_id: product.marketId,
    gtin_key: gtinKey(product.gtin),
    gtin: product.gtin,
    title: product.title,
    brand: product.brand ?? '',
    group_id: product.groupId ?? '',
    is_active: product.active === false ? 0 : 1,
    version,
  })
}

function entryOf(row: ProductRow): ProductEntry {
  return {
    marketId: row.market_id,
    gtin: row.gtin,
    title: row.title,
    ...(row.brand !== '' && { brand: row.brand }),
    ...(row.group_id !== '' && { groupId: row.group_id }),
    ...(row.is_active === 0 && { active: false }),
  }
}
