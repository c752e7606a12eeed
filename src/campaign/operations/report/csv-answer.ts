// The common parts of the CSV files of this port: the days that are asked for, the headers and the file itself.
import type { DaysAsked } from '../../../days/sealed-days.ts'
import type { Answer } from '../../../http/handler.ts'
import { csvRow, type CsvCell } from '../../../domain/csv.ts'
import type { PagedResult } from '../../../reports/paged.ts'

/**
 * Instants of events lie in the years 2020 to 2100; the months around them hold every zone. A range
 * beyond asks for no more, but its days may be ones that the warehouse cannot write or count with.
 */
const eventDays = { first: '2019-12-01', last: '2101-01-31' } as const

export function withinEventDays<Asked extends DaysAsked>(asked: Asked): Asked {
  const { startDate, endDate } = asked
  return { ...asked, startDate: clampDay(startDate), endDate: clampDay(endDate) }
}

/** ISO days of four-digit years sort as text. */
function clampDay(day: string): string {
  if (day < eventDays.first) return eventDays.first
  return day > eventDays.last ? eventDays.last : day
}

interface Print<Row> {
  /** The name begins with it; letters and dashes only, so that nothing needs quoting. */
  readonly what: string
  readonly advertiserId: number
  readonly request: DaysAsked & { readonly page: number }
  readonly header: readonly string[]
  readonly cells: (row: Row) => readonly CsvCell[]
}

export function csvAnswer<Row>(result: PagedResult<Row>, print: Print<Row>): Answer {
  const { what, advertiserId, request } = print
  const { startDate, endDate, page } = request
  const pagePart = page === 0 ? '' : `-page-${page}`
  const file = `${what}-advertiser-${advertiserId}-${startDate}-to-${endDate}${pagePart}.csv`
  return {
    status: 200,
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${file}"`,
      ...resultHeaders(result),
    },
    body: { text: csvFile(result.rows, print) },
    mayCompress: true,
  }
}

export function resultHeaders(result: PagedResult<unknown>): Readonly<Record<string, string>> {
  const { totalRows, completeThrough, unconvertedCount, resultId } = result
  const renewingCount = result.renewingDays?.length ?? 0
  return {
    'x-total-rows': String(totalRows),
    ...(resultId !== undefined && { 'x-result-id': resultId }),
    ...(completeThrough !== null && { 'x-complete-through': completeThrough }),
    ...(renewingCount > 0 && { 'x-renewing-days': String(renewingCount) }),
    ...(unconvertedCount > 0 && { 'x-unconverted': String(unconvertedCount) }),
  }
}

/** Longer texts under construction outlive the young generation: one per page took three times as long. */
const pieceLength = 16_384

/** The file of a page, at most 10,000 rows, as bytes. */
export function csvFile<Row>(
  rows: readonly Row[],
  { header, cells }: Pick<Print<Row>, 'header' | 'cells'>
): Buffer {
  const pieces: Buffer[] = []
  let pending = csvRow(header.map((text) => ({ text })))
  for (const row of rows) {
    pending += csvRow(cells(row))
    if (pending.length < pieceLength) continue
    pieces.push(Buffer.from(pending))
    pending = ''
  }
  pieces.push(Buffer.from(pending))
  return Buffer.concat(pieces)
}
