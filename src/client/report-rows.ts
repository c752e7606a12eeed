// All pages of a report as one stream of rows.
import { pipeline } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { listColumns, type Column } from '../contract/report-columns.ts'
import { reportLimits, type ReportBody } from '../contract/report-request.ts'
import { assert } from '../lib/assert.ts'
import { ClientError, withDetails } from './client-error.ts'
import type { OpenPage, ReportPage } from './report-page.ts'

/** A report request without a page: all pages are read. `limit` is the size of a page. */
export type ReportQuery = Omit<ReportBody, 'page'>

/**
 * The text of the CSV by column: amounts and ratios as decimals, never floats; a ratio
 * over zero is ''; text that a spreadsheet would run as a formula has the apostrophes of the file. DATE is
 * there with `dateBreakdown` only.
 */
export type ReportRow = Readonly<Record<Exclude<Column, 'DATE'>, string>> & {
  readonly DATE?: string
}

export interface ReportHead extends ReportPage {
  /** The header line: names of the columns, or their labels with a locale. */
  readonly labels: readonly string[]
}

interface Reading {
  readonly query: ReportQuery
  readonly isLocalized: boolean
  readonly openPage: (page: number) => Promise<OpenPage>
  readonly onHead: (head: ReportHead) => void
}

/** A record of the CSV of 22 columns of at most some hundred characters; more is not from the service. */
const recordBytesMax = 1_048_576

export async function* readRows(reading: Reading): AsyncGenerator<ReportRow, void, undefined> {
  const { query, openPage } = reading
  const limit = query.limit ?? reportLimits.limitMax
  const first = await openPage(0)
  const pageCount = Math.ceil(first.totalRows / limit)
  if (pageCount > reportLimits.pageMax + 1) {
    first.body.destroy()
    throw withDetails(tooLong(first.totalRows, limit), answered(first))
  }
  yield* readPage(first, { ...reading, isFirst: true })
  for (let page = 1; page < pageCount; page += 1) {
    const next = await openPage(page)
    if (next.totalRows !== first.totalRows || next.resultId !== first.resultId) {
      next.body.destroy()
      throw withDetails(changed(page), answered(next))
    }
    yield* readPage(next, { ...reading, isFirst: false })
  }
}

type PageReading = Pick<Reading, 'query' | 'isLocalized' | 'onHead'> & { readonly isFirst: boolean }

async function* readPage(
  page: OpenPage,
  { query, isLocalized, onHead, isFirst }: PageReading
): AsyncGenerator<ReportRow, void, undefined> {
  const columns = listColumns({ dateBreakdown: query.dateBreakdown ?? false })
  const parser = parse({ record_delimiter: '\r\n', max_record_size: recordBytesMax })
  // Whichever of the two fails or is given up takes the other along; the failure comes out below.
  pipeline(page.body, parser, () => {})
  let isHeader = true
  try {
    for await (const record of parser) {
      const fields: readonly string[] = record
      if (!isHeader) {
        yield toRow(columns, fields)
        continue
      }
      isHeader = false
      if (!isExpected(fields, { columns, isLocalized })) {
        throw withDetails(otherColumns(), answered(page))
      }
      if (isFirst) onHead(headOf(page, fields))
    }
  } catch (error) {
    if (error instanceof CsvError) throw withDetails(malformed(error), answered(page))
    throw error
  }
}

function headOf(page: ReportPage, labels: readonly string[]): ReportHead {
  const { totalRows, unconvertedCount, completeThrough, renewingDayCount } = page
  return { totalRows, unconvertedCount, completeThrough, renewingDayCount, labels }
}

interface Expected {
  readonly columns: readonly Column[]
  readonly isLocalized: boolean
}

/** New columns are appended, so that more than are known here are no fault. */
function isExpected(labels: readonly string[], { columns, isLocalized }: Expected): boolean {
  return columns.every((column, index) =>
    isLocalized ? labels[index] !== undefined : labels[index] === column
  )
}

function toRow(columns: readonly Column[], fields: readonly string[]): ReportRow {
  const row: Partial<Record<Column, string>> = {}
  columns.forEach((column, index) => {
    const field = fields[index]
    if (field !== undefined) row[column] = field
  })
  assert(isWhole(row), 'the parser holds every record to the length of the header')
  return row
}

const columnsOfEveryRow = listColumns({ dateBreakdown: false })

function isWhole(row: Partial<Record<Column, string>>): row is ReportRow {
  return columnsOfEveryRow.every((column) => row[column] !== undefined)
}

function answered({ attemptCount }: OpenPage) {
  return { attemptCount, status: 200 }
}

function otherColumns(): ClientError {
  return new ClientError(
    'ANSWER_UNEXPECTED',
    'the columns of the report are not those of the interface'
  )
}

function malformed(cause: CsvError): ClientError {
  return new ClientError(
    'ANSWER_UNEXPECTED',
    `the report is not the CSV it should be (${cause.code})`,
    { cause }
  )
}

function tooLong(totalRows: number, limit: number): ClientError {
  const readable = (reportLimits.pageMax + 1) * limit
  return new ClientError(
    'REPORT_TOO_LONG',
    `the report has ${totalRows} rows, and pages of ${limit} hold ${readable} at most: ` +
      'raise limit, narrow the range of days, or filter'
  )
}

function changed(page: number): ClientError {
  return new ClientError(
    'REPORT_CHANGED',
    `page ${page} is cut from another result than page 0: results are kept for 15 minutes on the node ` +
      'that made them, until the same key asks for the same again'
  )
}
