// One page of a result. A result of one page goes straight to the reader. A longer one is kept: page 0
// computes it anew, the other pages are cut from what page 0 gave, or compute it when nothing is kept
// (any more).

import type { KeptPages } from './kept-pages.ts'
import { formatBlocks, noBlocks } from './blocks.ts'
import type { Values } from './blocks.ts'

export interface Totals {
  /** Of all pages. */
  readonly totalRows: number
  /** The last day from which on back all is sealed; null while nothing is. */
  readonly completeThrough: string | null
  /** Amounts of all pages that have no rate into the market's currency and count as nothing. */
  readonly unconvertedCount: number
}

export interface PagedResult<Row> extends Totals {
  /** Names the kept result that the page is cut from; absent when the result is one page. */
  readonly resultId?: string
  /** The rows of the page. Throws in mid-stream when the engine fails: an end is a whole page. */
  readonly rows: AsyncIterable<readonly Row[]>
}

export const noTotals = { totalRows: 0, unconvertedCount: 0, completeThrough: null }

export interface PageAsked {
  /** `questionOf` of everything but the page. */
  readonly question: string
  readonly page: number
  readonly limit: number
}

/** All rows of a result, first to last, as the engine gives them, and how they are printed. */
export interface Computed<Row> extends Totals {
  readonly blocks: AsyncIterable<readonly Values[]>
  readonly format: (values: Values) => Row
}

/** Of a long result only the rows of the page are formatted: the engine's own rows are kept. */
export async function answerPage<Row extends object>(
  keptPages: KeptPages,
  { question, page, limit }: PageAsked,
  compute: () => Promise<Computed<Row>>
): Promise<PagedResult<Row>> {
  if (page === 0 || keptPages.find(question) === null) {
    const { blocks, format, ...totals } = await compute()
    if (totals.totalRows <= limit) {
      if (page === 0) return { ...totals, rows: formatBlocks(blocks, format) }
      // Behind the last page: the totals stay, and the query that gave them is let go.
      await blocks[Symbol.asyncIterator]().return?.()
      return { ...totals, rows: noBlocks() }
    }
    await keptPages.keep(question, totals, { blocks, format, limit })
  }
  const totals = keptPages.find(question) ?? noTotals
  return { ...totals, rows: keptPages.readPage<Row>(question, page) }
}
