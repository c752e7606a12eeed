// Reads one page of a result whole, so the session of the warehouse is given back, and failures show, before
// the first byte is sent. A result of one page goes straight to the reader. A longer one is kept: page 0
// always computes it anew, and other pages are cut from the kept result, or compute it if none is kept.

import { reportLimits } from '../contract/report-request.ts'
import { assert } from '../lib/assert.ts'
import { assertAnswersFor } from './bound-advertiser.ts'
import { readKept } from '../days/kept-revisions.ts'
import type { KeptPages, KeptQuestion, KeptTotals, Values } from './kept-pages.ts'

export interface Totals extends KeptTotals {
  /** The rows of all pages. */
  readonly totalRows: number
  /** The last day up to which all days are sealed; null while none is. */
  readonly completeThrough: string | null
  /**
   * Days that received events after they were sealed, oldest first; their figures will change soon. Absent
   * if nothing is read from sealed days.
   */
  readonly renewingDays?: readonly string[]
  /** Amounts of all pages without a rate into the market's currency; they count as nothing. */
  readonly unconvertedCount: number
}

export interface PagedResult<Row> extends Totals {
  /** Names the kept result that the page is cut from; absent if the result has one page. */
  readonly resultId?: string
  /** All rows of the page. */
  readonly rows: readonly Row[]
}

/** A result as the warehouse gives it. */
export interface Computed<Row> {
  readonly advertiserId: number
  /** All rows, first to last, up to `reachableRows`; the last column is `boundAdvertiserSql`. */
  readonly blocks: AsyncIterable<readonly Values[]>
  /** Reads the totals that every row carries; null if there are no rows. */
  readonly readTotals: (row: Values | null) => Totals
  readonly format: (values: Values) => Row
  /** Asked once the rows have begun: whether everything to be read was there. If absent, it always is. */
  readonly areRowsKept?: () => Promise<boolean>
}

/** The number of rows that pages can reach: the last page that may be asked for is page 1,000. */
export function reachableRows(limit: number): number {
  return (reportLimits.pageMax + 1) * limit
}

/** Only the rows of the page are formatted; a long result is kept as the warehouse gave it. */
export async function answerPage<Row extends object>(
  keptPages: KeptPages,
  asked: KeptQuestion,
  compute: () => Promise<Computed<Row>>
): Promise<PagedResult<Row>> {
  const kept = asked.page === 0 ? null : await keptPages.read<Row>(asked)
  if (kept !== null) return kept
  return await readKept(() => answerOnce(keptPages, asked, compute))
}

/** Null if the rows to be read may have been swept meanwhile. */
async function answerOnce<Row extends object>(
  keptPages: KeptPages,
  asked: KeptQuestion,
  compute: () => Promise<Computed<Row>>
): Promise<PagedResult<Row> | null> {
  const { advertiserId, blocks, readTotals, format, areRowsKept } = await compute()
  const source = blocks[Symbol.asyncIterator]()
  try {
    const first = await source.next()
    if (areRowsKept !== undefined && !(await areRowsKept())) return null
    const firstBlock = first.done === true ? [] : first.value
    const firstRow = firstBlock[0] ?? null
    if (firstRow !== null) assertAnswersFor(advertiserId, firstRow.at(-1))
    const totals = readTotals(firstRow)
    const { limit, page } = asked
    const rowCount = Math.min(totals.totalRows, reachableRows(limit))
    const whole = wholeBlocks(firstBlock, source, rowCount)
    if (totals.totalRows > limit) {
      return await keptPages.keep(asked, { totals, blocks: whole, format })
    }
    // A page behind the last one has totals but no rows, so the query is ended.
    return { ...totals, rows: page > 0 ? [] : await formatAll(whole, format) }
  } finally {
    await source.return?.()
  }
}

/** A stream that was abandoned ends early without an error; what it gave must never pass as whole. */
async function* wholeBlocks(
  first: readonly Values[],
  rest: AsyncIterator<readonly Values[]>,
  rowCount: number
): AsyncGenerator<readonly Values[]> {
  let readCount = first.length
  yield first
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
    readCount += next.value.length
    yield next.value
  }
  assert(readCount === rowCount, 'a result has the rows that its first one tells')
}

async function formatAll<Row>(
  blocks: AsyncIterable<readonly Values[]>,
  format: (values: Values) => Row
): Promise<readonly Row[]> {
  const rows: Row[] = []
  for await (const block of blocks) for (const row of block) rows.push(format(row))
  return rows
}
