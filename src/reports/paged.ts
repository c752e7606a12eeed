// One page of a result. A result of one page goes straight to the reader. A longer one is kept: page 0
// computes it anew, the other pages are cut from what page 0 gave, or compute it when nothing is kept
// (any more).

import type { KeptPages } from './kept-pages.ts'
import { noBlocks } from './blocks.ts'

export interface PagedResult<Row> {
  /** Of all pages. */
  readonly totalRows: number
  /** The last day from which on back all is sealed; null while nothing is. */
  readonly completeThrough: string | null
  /** Amounts of all pages that have no rate into the market's currency and count as nothing. */
  readonly unconvertedCount: number
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

/** `compute` gives all rows of the result, first to last. */
export async function answerPage<Row extends object>(
  keptPages: KeptPages,
  { question, page, limit }: PageAsked,
  compute: () => Promise<PagedResult<Row>>
): Promise<PagedResult<Row>> {
  if (page === 0 || keptPages.find(question) === null) {
    const result = await compute()
    if (result.totalRows <= limit) return page === 0 ? result : await emptyPage(result)
    await keptPages.keep(question, result, { rows: result.rows, limit })
  }
  const totals = keptPages.find(question) ?? noTotals
  return { ...totals, rows: keptPages.readPage<Row>(question, page) }
}

/** Behind the last page: the totals stay, and the query that gave them is let go. */
async function emptyPage<Row>(result: PagedResult<Row>): Promise<PagedResult<Row>> {
  await result.rows[Symbol.asyncIterator]().return?.()
  return { ...result, rows: noBlocks() }
}
