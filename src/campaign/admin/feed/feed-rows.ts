// Rows of a feed out of its lines: one line each in TSV, one or more in CSV.
import { isUtf8 } from 'node:buffer'
import { endsInside, splitQuoted, splitTabs, type Delimiter } from './feed-fields.ts'
import { lineBytesMax, type Line } from '../line-reader.ts'

export interface FeedRowText {
  /** Where the row begins. */
  readonly line: number
  /** Null when the row cannot be told apart into fields. */
  readonly fields: readonly string[] | null
  /** The faults of the row as text; its fields may be there all the same. */
  readonly fault: string | null
}

/** A row whose quoted field goes on behind the lines so far. */
interface OpenRow {
  readonly line: number
  readonly texts: string[]
  bytes: number
  isText: boolean
}

/** Holds the lines of a row until it is whole, and at most `lineBytesMax` of them. */
export class RowReader {
  readonly #delimiter: Delimiter
  #open: OpenRow | null = null

  constructor(delimiter: Delimiter) {
    this.#delimiter = delimiter
  }

  /** The row that ends with the line; null when it goes on, and for lines and rows without any text. */
  push({ number, bytes }: Line): FeedRowText | null {
    const row = this.#open ?? { line: number, texts: [], bytes: 0, isText: true }
    if (bytes === null || row.bytes + bytes.length > lineBytesMax) {
      return this.#close(broken(row.line, tooLong(row.line, number)))
    }
    const text = decode(bytes)
    if (this.#open === null && text.trim() === '') return null
    row.texts.push(text)
    row.bytes += bytes.length + 1
    row.isText &&= isUtf8(bytes)
    if (this.#goesOn(text)) {
      this.#open = row
      return null
    }
    const whole = this.#close(this.#finish(row))
    return isBlank(whole) ? null : whole
  }

  /** The row that the end of the feed cut off. */
  end(): FeedRowText | null {
    const row = this.#open
    return row === null
      ? null
      : this.#close(broken(row.line, 'a quote left open makes the row reach to the end'))
  }

  #goesOn(text: string): boolean {
    if (this.#delimiter === '\t') return false
    return endsInside(text, { delimiter: this.#delimiter, isInside: this.#open !== null })
  }

  #finish({ line, texts, isText }: OpenRow): FeedRowText {
    const text = texts.join('\n')
    const delimiter = this.#delimiter
    const fields = delimiter === '\t' ? splitTabs(text) : splitQuoted(text, delimiter)
    if (fields === null) return broken(line, 'a quoted field must end with its closing quote')
    return { line, fields, fault: isText ? null : 'the row must be valid UTF-8' }
  }

  #close(row: FeedRowText): FeedRowText {
    this.#open = null
    return row
  }
}

/** Spreadsheets end a file with rows of separators alone. */
function isBlank({ fields, fault }: FeedRowText): boolean {
  return fault === null && fields !== null && fields.every((field) => field.trim() === '')
}

function broken(line: number, fault: string): FeedRowText {
  return { line, fields: null, fault }
}

/** A quote left open swallows the lines behind it, which must not go without a word. */
function tooLong(first: number, last: number): string {
  const rule = `the row must have at most ${lineBytesMax} bytes`
  return first === last ? rule : `${rule}; a quote left open makes it reach to line ${last}`
}

/** Without the carriage return of a line end. Invalid bytes are read as Latin-1: the GTIN is ASCII. */
function decode(bytes: Buffer): string {
  const end = bytes.at(-1) === 0x0d ? bytes.length - 1 : bytes.length
  return bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1', 0, end)
}
