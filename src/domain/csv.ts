// Strict RFC 4180: comma, CRLF, double quotes, no byte order mark. Text is made safe for spreadsheets.
// Numbers are not, so that -5 stays a number.
import { escapeForSpreadsheet } from './text.ts'
import { assert } from '../lib/assert.ts'

/** A number comes as the text to print (`formatDecimal`), '' where it has no value. */
export type CsvCell = { readonly text: string } | { readonly number: string }

/** One record with its line end. */
export function csvRow(cells: readonly CsvCell[]): string {
  let row = ''
  for (const [index, cell] of cells.entries()) {
    if (index > 0) row += ','
    row += 'text' in cell ? printText(cell.text) : printNumber(cell.number)
  }
  return `${row}\r\n`
}

/** Text with blanks at its ends is quoted too: many readers trim text without quotes, against RFC 4180. */
function printText(text: string): string {
  const safe = escapeForSpreadsheet(text)
  return /[",\r\n]|^ | $/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Numbers are not escaped, so anything else (`Infinity`, `1e21`, a formula) must be stopped here. */
function printNumber(number: string): string {
  assert(
    /^(?:-?[0-9]+(?:\.[0-9]+)?)?$/.test(number),
    'a number cell holds a plain decimal or nothing'
  )
  return number
}
