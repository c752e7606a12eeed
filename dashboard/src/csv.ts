import type { AttributionProfile } from '../../src/contract/report-request.ts'
import { unescapeFromSpreadsheet } from '../../src/domain/text.ts'
import { createValueGuess } from './spreadsheet-values.ts'

/** The records of a CSV text, each cell as it is spelled, quotes included. */
export function readRecords(text: string): readonly (readonly string[])[] {
  const records: string[][] = []
  let cells: string[] = []
  let start = 0
  let isQuoted = false
  const close = (end: number) => cells.push(text.slice(start, end))
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at]
    // A doubled quote inside a quoted cell closes and opens it again.
    if (letter === '"') isQuoted = !isQuoted
    if (isQuoted || (letter !== ',' && letter !== '\n')) continue
    const isEnd = letter === '\n'
    close(isEnd && text[at - 1] === '\r' ? at - 1 : at)
    start = at + 1
    if (!isEnd) continue
    records.push(cells)
    cells = []
  }
  if (start < text.length) {
    close(text.length)
    records.push(cells)
  }
  return records
}

/** The text with only these columns, in this order. Cells are copied unchanged. */
export function pickColumns(text: string, names: readonly string[]): string {
  const [header = [], ...records] = readRecords(text)
  const places = names.map((name) => header.indexOf(name)).filter((place) => place >= 0)
  return [header, ...records]
    .map((cells) => `${places.map((place) => cells[place] ?? '').join(',')}\r\n`)
    .join('')
}

interface FileParts {
  readonly advertiser: string
  /** What its rows are, as `products`. */
  readonly rows: string
  /** Null if there are several, and empty if it is unknown. */
  readonly currency: string | null
  readonly startDate: string
  readonly endDate: string
  readonly profile: AttributionProfile
}

const profileParts: Readonly<Record<AttributionProfile, string>> = {
  IMP_1_DAY_CLK_14_DAYS: 'clicks14-impressions1',
  CLK_14_DAYS: 'clicks14',
  IMP_1_DAY: 'impressions1',
}
const namePartMax = 60

/** Says whose figures the file has, of what, and how they are counted: `velmora-coffee_products_EUR_…`. */
export function fileNameOf(parts: FileParts): string {
  const { advertiser, rows, currency, startDate, endDate, profile } = parts
  const names = [advertiser, rows].map(namePart).filter((part) => part !== '')
  return `${[...names, ...(currency ? [currency] : []), startDate, endDate, profileParts[profile]].join('_')}.csv`
}

/** Letters and digits of any script; everything else might be forbidden in the name of a file. */
function namePart(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  return Array.from(words.join('-')).slice(0, namePartMax).join('')
}

interface SpreadsheetRules {
  /** Of the reader's locale, like the next one. */
  readonly decimalPoint: string
  /** Stands between columns. */
  readonly listSeparator: ';' | ','
  readonly isFigure: (column: string) => boolean
  /** Of days and instants, which are spelled alike in all countries: a spreadsheet shall read them as dates. */
  readonly isDate: (column: string) => boolean
}

/**
 * The CSV as Excel opens it by a double click: with a byte order mark, with the separators of the reader's locale,
 * and with texts as texts: as numbers and dates, identifiers would lose their leading zeros and codes their spelling.
 */
export function forSpreadsheet(text: string, rules: SpreadsheetRules): string {
  const { decimalPoint, listSeparator: separator, isFigure, isDate } = rules
  const [header = [], ...records] = readRecords(text)
  const isReadAsValue = createValueGuess()
  const printCell = (cell: string, place: number) => {
    const column = header[place] ?? ''
    if (isFigure(column)) return cell.replace('.', decimalPoint)
    const spelled = withoutQuotes(cell)
    // Nothing that is read as a value has a quote, so none needs to be doubled.
    if (!isDate(column) && isReadAsValue(spelled)) return `"=""${spelled}"""`
    return cell.includes(separator) && !cell.startsWith('"') ? `"${cell}"` : cell
  }
  const lines = [header, ...records.map((cells) => cells.map(printCell))]
  return `\uFEFF${lines.map((cells) => `${cells.join(separator)}\r\n`).join('')}`
}

export function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // Some browsers read the file only after this turn.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

/** Each record by the names of the header, unquoted. */
export function readRows(text: string): readonly Readonly<Record<string, string>>[] {
  const [header = [], ...records] = readRecords(text)
  return records.map((cells) =>
    Object.fromEntries(header.map((name, place) => [name, unquote(cells[place] ?? '')]))
  )
}

/** The cell without its quotes and without the marks that stop a spreadsheet from running a text as a formula. */
function unquote(cell: string): string {
  return unescapeFromSpreadsheet(withoutQuotes(cell))
}

function withoutQuotes(cell: string): string {
  return cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell
}
