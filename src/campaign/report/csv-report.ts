import type { ReportRequest } from '../../contract/report-request.ts'
import { listColumns } from '../../contract/report-columns.ts'
import { csvRow } from '../../reports/csv.ts'
import type { Labels } from '../../reports/locale.ts'
import type { ReportRow } from '../../reports/report.ts'
import { cellOf } from './cells.ts'

interface CsvReport {
  readonly rows: AsyncIterable<readonly ReportRow[]>
  readonly request: ReportRequest
  readonly labels: Labels
  /** Called once when the rows are read or given up. */
  readonly done: () => void
}

/**
 * The file in pieces, one per block of rows. The header goes with the first block, so that rows that
 * fail at once fail before anything is sent.
 */
export async function* csvChunks({
  rows,
  request,
  labels,
  done,
}: CsvReport): AsyncGenerator<string> {
  const columns = listColumns(request)
  let pending = csvRow(columns.map((column) => ({ text: labels[column] })))
  try {
    for await (const block of rows) {
      for (const row of block) pending += csvRow(columns.map((column) => cellOf[column](row)))
      yield pending
      pending = ''
    }
    if (pending !== '') yield pending
  } finally {
    done()
  }
}
