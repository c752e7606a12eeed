import { csvRow, type CsvCell } from '../../../reports/csv.ts'

interface CsvReport<Row> {
  readonly rows: readonly Row[]
  readonly header: readonly string[]
  readonly cells: (row: Row) => readonly CsvCell[]
}

/** Longer texts under construction outlive the young generation: one per page took three times as long. */
const pieceLength = 16_384

/** The file of a page, at most 10,000 rows, as bytes. */
export function csvFile<Row>({ rows, header, cells }: CsvReport<Row>): Buffer {
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
