// Reads a page of a result. A result of one page is read whole and given to its reader. A longer one is kept: page 0
// always computes it anew and is given out as soon as its rows are there, while the rest is written on. Other pages are
// cut from the kept result, or compute it if none is kept. In either case the page is read whole, so failures show
// before the first byte is sent.

import { reportLimits } from '../contract/report-request.ts'
import { assert } from '../lib/assert.ts'
import { parseRows } from '../warehouse/warehouse.ts'
import { assertAnswersFor } from './bound-advertiser.ts'
import { readKept } from '../days/kept-revisions.ts'
import type { KeptPages, KeptQuestion, PageAsked } from './kept-pages.ts'
import type { KeptTotals, Values } from './kept-result.ts'

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
  readonly blocks: AsyncIterable<Buffer>
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

/** A result that has begun, for all who asked for it. */
interface Opened<Row> {
  page(asked: PageAsked): Promise<PagedResult<Row>>
}

/** Computes with the signal that is aborted once nobody needs the rows any more. */
type Compute<Row> = (signal: AbortSignal) => Promise<Computed<Row>>

/** Only the rows of the page are parsed and formatted. */
export async function answerPage<Row extends object>(
  keptPages: KeptPages,
  asked: KeptQuestion,
  compute: Compute<Row>
): Promise<PagedResult<Row>> {
  const kept = asked.page === 0 ? null : await keptPages.read<Row>(asked)
  if (kept !== null) return kept
  const opened = await keptPages.questions.ask<Opened<Row>>(asked, (controller) =>
    readKept(() => openResult(keptPages, { asked, compute, controller }))
  )
  return await opened.page(asked)
}

interface Opening<Row> {
  readonly asked: KeptQuestion
  readonly compute: Compute<Row>
  readonly controller: AbortController
}

/** Null if the rows to be read may have been swept meanwhile. */
async function openResult<Row extends object>(
  keptPages: KeptPages,
  { asked, compute, controller }: Opening<Row>
): Promise<Opened<Row> | null> {
  const { advertiserId, blocks, readTotals, format, areRowsKept } = await compute(controller.signal)
  const source = blocks[Symbol.asyncIterator]()
  let isHandedOver = false
  try {
    const first = await source.next()
    const kept = areRowsKept === undefined ? Promise.resolve(true) : areRowsKept()
    // Waited for below, unless reading fails before.
    kept.catch(() => undefined)
    const firstBlock = first.done === true ? null : first.value
    const firstRow = firstBlock === null ? null : readFirstRow(firstBlock)
    if (firstRow !== null) assertAnswersFor(advertiserId, firstRow.at(-1))
    const totals = readTotals(firstRow)
    controller.signal.throwIfAborted()
    const { limit } = asked
    const rest = joinBlocks(firstBlock, source)
    if (totals.totalRows > limit) {
      if (!(await kept)) return null
      const rowCount = Math.min(totals.totalRows, reachableRows(limit))
      const begun = { totals, advertiserId, rowCount, blocks: rest, format, controller }
      const result = await keptPages.begin(asked, begun)
      isHandedOver = true
      return { page: (one) => keptPages.page<Row>(result, one) }
    }
    const rows = await readRows(rest, { advertiserId, rowCount: totals.totalRows, format })
    if (!(await kept)) return null
    keptPages.drop(asked.question)
    return { page: async ({ page }) => ({ ...totals, rows: page > 0 ? [] : rows }) }
  } finally {
    if (!isHandedOver) await source.return?.()
  }
}

function readFirstRow(block: Buffer): Values | null {
  return parseRows(block.subarray(0, block.indexOf('\n') + 1))[0] ?? null
}

async function* joinBlocks(
  first: Buffer | null,
  rest: AsyncIterator<Buffer>
): AsyncGenerator<Buffer> {
  try {
    if (first !== null) yield first
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
      yield next.value
    }
  } finally {
    await rest.return?.()
  }
}

interface Reading<Row> {
  readonly advertiserId: number
  readonly rowCount: number
  readonly format: (values: Values) => Row
}

/** A stream that was abandoned ends early without an error; what it gave must never pass as whole. */
async function readRows<Row>(
  blocks: AsyncIterable<Buffer>,
  { advertiserId, rowCount, format }: Reading<Row>
): Promise<readonly Row[]> {
  const rows: Row[] = []
  for await (const block of blocks) {
    for (const values of parseRows(block)) {
      assertAnswersFor(advertiserId, values.at(-1))
      rows.push(format(values))
    }
  }
  assert(rows.length === rowCount, 'a result has the rows that its first one tells')
  return rows
}
