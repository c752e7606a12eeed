import { csvRow, type CsvCell } from '../../reports/csv.ts'

interface CsvReport<Row> {
  readonly rows: AsyncIterable<readonly Row[]>
  readonly header: readonly string[]
  readonly cells: (row: Row) => readonly CsvCell[]
  /** Called once when the rows are read or given up. */
  readonly done: () => void
}

/** Longer texts under construction outlive the young generation: one per block took three times as long. */
const chunkLength = 16_384

/**
 * The file in pieces. The header goes with the first rows, so that rows that fail at once fail before
 * anything is sent.
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
      for (const row of block) {
        pending += csvRow(cells(row))
        if (pending.length < chunkLength) continue
        yield pending
        pending = ''
      }
    }
    if (pending !== '') yield pending
  } finally {
    done()
  }
}
