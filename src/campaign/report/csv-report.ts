import { csvRow, type CsvCell } from '../../reports/csv.ts'

interface CsvReport<Row> {
  readonly rows: AsyncIterable<readonly Row[]>
  readonly header: readonly string[]
  readonly cells: (row: Row) => readonly CsvCell[]
  /** Called once when the rows are read or given up. */
  readonly done: () => void
}

/**
 * The file in pieces, one per block of rows. The header goes with the first block, so that rows that
 * fail at once fail before anything is sent.
 */
export async function* csvChunks<Row>({
  rows,
  header,
  cells,
  done,
}: CsvReport<Row>): AsyncGenerator<string> {
  let pending = csvRow(header.map((text) => ({ text })))
  try {
    for await (const block of rows) {
      for (const row of block) pending += csvRow(cells(row))
      yield pending
      pending = ''
    }
    if (pending !== '') yield pending
  } finally {
    done()
  }
}
