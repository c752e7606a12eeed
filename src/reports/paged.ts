// One page of a result, read whole: the session of the warehouse is given back before the first byte goes
// to the reader, and what fails fails before that. A result of one page goes straight to the reader. A
// longer one is kept: page 0 computes it anew, the other pages are cut from what page 0 gave, or compute
// it when nothing is kept (any more).

import { reportLimits } from '../contract/report-request.ts'
import { assert } from '../lib/assert.ts'
import { assertAnswersFor } from './bound-advertiser.ts'
import { readKept } from '../days/kept-revisions.ts'
import type { KeptPages, KeptQuestion, KeptTotals, Values } from './kept-pages.ts'

export interface Totals extends KeptTotals {
  /** Of all pages. */
  readonly totalRows: number
  /** The last day from which on back all is sealed; null while nothing is. */
  readonly completeThrough: string | null
  /**
   * Days that input has reached since they were sealed, oldest first; their figures will be others soon.
   * Absent where nothing is read from seals.
   */
  readonly renewingDays?: readonly string[]
  /** Amounts of all pages that have no rate into the market's currency and count as nothing. */
  readonly unconvertedCount: number
}

export interface PagedResult<Row> extends Totals {
  /** Names the kept result that the page is cut from; absent when the result is one page. */
  readonly resultId?: string
  /** All rows of the page. */
  readonly rows: readonly Row[]
}

/** A result as the engine gives it. */
export interface Computed<Row> {
  readonly advertiserId: number
  /** All rows, first to last, up to `reachableRows`; the last column is `boundAdvertiserSql`. */
  readonly blocks: AsyncIterable<readonly Values[]>
  /** What each row says of all of them; null: there are none. */
  readonly readTotals: (row: Values | null) => Totals
  readonly format: (values: Values) => Row
  /** Asked once the rows have begun: whether all that was to be read was there. Absent: it always is. */
  readonly areRowsKept?: () => Promise<boolean>
}

/** How many rows the pages of a result reach: the last that may be asked for is page 1,000. */
export function reachableRows(limit: number): number {
  return (reportLimits.pageMax + 1) * limit
}

/** Of a long result only the rows of the page are formatted: the engine's own rows are kept. */
export async function answerPage<Row extends object>(
  keptPages: KeptPages,
  asked: KeptQuestion,
  compute: () => Promise<Computed<Row>>
): Promise<PagedResult<Row>> {
  const kept = asked.page === 0 ? null : await keptPages.read<Row>(asked)
  if (kept !== null) return kept
  return await readKept(() => answerOnce(keptPages, asked, compute))
}

/** Null where what was to be read may have been swept meanwhile. */
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
    // Behind the last page: the totals stay, and the query that gave them is let go.
    return { ...totals, rows: page > 0 ? [] : await formatAll(whole, format) }
  } finally {
    await source.return?.()
  }
}

/** A stream that was let go ends early without a word; what it gave must never look whole. */
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
