import { isUtf8 } from 'node:buffer'
import { feedColumns, type FeedColumn } from '../../../contract/products.ts'
import { splitQuoted, splitTabs, type Delimiter } from './feed-fields.ts'
import { foreignTextFault, type Line } from '../line-reader.ts'

export interface FeedHeader {
  readonly delimiter: Delimiter
  readonly columnCount: number
  /** Positions; null for an optional column that the feed does not have. */
  readonly positions: Readonly<Record<FeedColumn, number | null>>
}

export type ParsedHeader =
  | { readonly ok: true; readonly header: FeedHeader }
  | { readonly ok: false; readonly messages: readonly string[] }

const delimiters: readonly Delimiter[] = ['\t', ',', ';']
const requiredColumns: readonly FeedColumn[] = ['gtin', 'title']
const rule =
  'The first line must name the columns, among them gtin and title, separated by tabs, commas or semicolons.'

/** What Excel's line before the header says, `sep=;`; null for any other line. */
export function delimiterSaid({ bytes }: Line): Delimiter | null {
  const said = /^"?sep=([\t,;])"?\r?$/i.exec(bytes?.toString('latin1') ?? '')?.[1]
  return delimiters.find((delimiter) => delimiter === said) ?? null
}

/** The line that names the columns: their order, and the delimiter unless a line before has said it. */
export function parseHeader(line: Line, said: Delimiter | null): ParsedHeader {
  const { bytes } = line
  const foreign = foreignTextFault(line)
  if (foreign !== null) return { ok: false, messages: [`The feed ${foreign}.`] }
  if (bytes === null) return { ok: false, messages: [rule, 'It is too long.'] }
  if (!isUtf8(bytes)) return { ok: false, messages: ['The feed must be UTF-8.'] }
  const text = bytes.toString('utf8').replace(/\r$/, '')
  const delimiter = said ?? findDelimiter(text)
  const fields = delimiter === '\t' ? splitTabs(text) : splitQuoted(text, delimiter)
  if (fields === null) return { ok: false, messages: [rule, 'A quote of it does not close.'] }

  const names = fields.map(columnName)
  const messages = [
    ...requiredColumns
      .filter((column) => !names.includes(column))
      .map((column) => `It has no column ${column}.`),
    ...feedColumns
      .filter((column) => names.indexOf(column) !== names.lastIndexOf(column))
      .map((column) => `It names the column ${column} twice.`),
  ]
  if (said === null && /^"?sep=/i.test(text))
    messages.push('Its sep= must name a tab, a comma or a semicolon.')
  if (messages.length > 0) return { ok: false, messages: [rule, ...messages] }
  return { ok: true, header: { delimiter, columnCount: names.length, positions: find(names) } }
}

/** The one that occurs most: names of columns hold none of them. */
function findDelimiter(text: string): Delimiter {
  const counts = delimiters.map((delimiter) => text.split(delimiter).length)
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ','
}

/** In any case, with blanks, and spelled as words: `Item Group ID` is `item_group_id`. */
function columnName(field: string): string {
  return field
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_]+/g, '_')
}

function find(names: readonly string[]): FeedHeader['positions'] {
  const position = (column: FeedColumn) => {
    const at = names.indexOf(column)
    return at === -1 ? null : at
  }
  return {
    gtin: position('gtin'),
    title: position('title'),
    brand: position('brand'),
    item_group_id: position('item_group_id'),
  }
}
