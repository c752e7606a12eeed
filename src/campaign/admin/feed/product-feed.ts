import type { ProductTable } from '../../../catalog/product-table.ts'
import type { ProductEntry } from '../../../contract/catalog-bundle.ts'
import type { FeedResult } from '../../../contract/products.ts'
import { gtinKey } from '../../../domain/gtin.ts'
import { assert } from '../../../lib/assert.ts'
import type { FeedHeader } from './feed-header.ts'
import { toProduct } from './feed-product.ts'
import type { FeedRowText } from './feed-rows.ts'

export const limits = {
  /** Products per insert: some 5 MB of rows, and 50 parts for a million products. */
  batchRowsMax: 20_000,
  /** Rows listed by line; the rest is counted. */
  refusedMax: 1_000,
  /** Refused rows whose products must stay active under `replace`. */
  namedMax: 10_000,
} as const

interface FeedOptions {
  /** Null for a dry run. */
  readonly products: Pick<
    ProductTable,
    'nextVersion' | 'write' | 'countProducts' | 'deactivateOlder'
  > | null
  readonly marketId: number
  readonly replace: boolean
}

/** One feed on its way into the catalog, row by row: `begin`, `take` for each row, `finish`. */
export class ProductFeed {
  readonly #options: FeedOptions
  readonly #refused: { readonly line: number; readonly messages: readonly string[] }[] = []
  /** Keys of refused rows: the feed names those products although it has nothing to say of them. */
  readonly #namedKeys = new Set<string>()
  #header: FeedHeader | null = null
  #waiting: ProductEntry[] = []
  #takenCount = 0
  #refusedCount = 0
  /** Refused rows without a readable product. */
  #namelessCount = 0
  #firstVersion: number | null = null
  #end: Pick<FeedResult, 'repeated' | 'deactivated' | 'notReplaced'> = {}

  constructor(options: FeedOptions) {
    this.#options = options
  }

  /** Whether anything was written, or may have been. */
  get hasStored(): boolean {
    return this.#firstVersion !== null
  }

  begin(header: FeedHeader): void {
    this.#header = header
  }

  async take(row: FeedRowText | null): Promise<void> {
    if (row === null) return
    assert(this.#header !== null, 'rows follow a header')
    const result = toProduct(row, this.#header, this.#options.marketId)
    if (result.ok) {
      this.#waiting.push(result.product)
      if (this.#waiting.length >= limits.batchRowsMax) await this.#flush()
      return
    }
    this.#refusedCount += 1
    this.#keepName(result.gtin)
    if (this.#refused.length === limits.refusedMax) return
    this.#refused.push({ line: row.line, messages: result.messages })
  }

  /** The feed is whole: writes the rest, counts the repeats, and replaces when it shall. */
  async finish(): Promise<void> {
    await this.#flush()
    const { products, marketId, replace } = this.#options
    if (products === null) return
    const first = this.#firstVersion
    const hindrance = replace ? this.#hindrance() : null
    if (first === null) {
      this.#end = {
        repeated: 0,
        ...(hindrance !== null && { deactivated: 0, notReplaced: hindrance }),
      }
      return
    }
    const feed = { marketId, first, last: first + this.#takenCount }
    const repeated = this.#takenCount - (await products.countProducts(feed))
    this.#end = { repeated }
    if (!replace) return
    this.#end =
      hindrance === null
        ? { repeated, deactivated: await products.deactivateOlder(feed, [...this.#namedKeys]) }
        : { repeated, deactivated: 0, notReplaced: hindrance }
  }

  result(): FeedResult {
    return {
      taken: this.#takenCount,
      refused: this.#refused,
      refusedCount: this.#refusedCount,
      ...this.#end,
      ...(this.#options.products === null && { dryRun: true }),
    }
  }

  /** Why the feed cannot say which products are no longer wanted. */
  #hindrance(): string | null {
    if (this.#takenCount === 0) return 'no row was taken'
    if (this.#namelessCount > 0) {
      return `of ${this.#namelessCount} refused rows nobody can tell which product they name`
    }
    return this.#namedKeys.size > limits.namedMax ? 'too many rows were refused' : null
  }

  #keepName(gtin: string | null | undefined): void {
    if (gtin === undefined) this.#namelessCount += 1
    else if (gtin !== null && this.#namedKeys.size <= limits.namedMax) {
      this.#namedKeys.add(gtinKey(gtin))
    }
  }

  async #flush(): Promise<void> {
    const rows = this.#waiting
    this.#waiting = []
    const { products, marketId } = this.#options
    if (products !== null && rows.length > 0) {
      this.#firstVersion ??= await products.nextVersion([marketId])
      await products.write(rows, this.#firstVersion + this.#takenCount)
    }
    this.#takenCount += rows.length
  }
}
