// How text is laid out: the width that it must fit, colours, wrapped lines.
import { styleText } from 'node:util'
import type { Environment, Terminal } from './command.ts'

export interface Layout {
  /** Columns of the terminal; null: lines may be as long as they are. */
  readonly width: number | null
  readonly hasColor: boolean
}

/** For output that no terminal shows. */
export const plainLayout: Layout = { width: null, hasColor: false }

/** A terminal that does not say how wide it is has this many columns. */
const widthDefault = 80

interface Wishes {
  readonly isWide: boolean
  readonly isColorless: boolean
}

export function layoutOf(
  output: Terminal['stdout'],
  environment: Environment,
  { isWide, isColorless }: Wishes = { isWide: false, isColorless: false }
): Layout {
  const isTerminal = output.isTTY === true
  return {
    width: isTerminal && !isWide ? output.columns || widthDefault : null,
    hasColor: !isColorless && wantsColor(environment, isTerminal),
  }
}

/**
 * The custom of other programs: NO_COLOR with any text wins (https://no-color.org), then FORCE_COLOR colours what no
 * terminal shows, unless it is 0 or false.
 */
function wantsColor(environment: Environment, isTerminal: boolean): boolean {
  const { NO_COLOR: no = '', FORCE_COLOR: forced, TERM: kind } = environment
  if (no !== '') return false
  if (forced !== undefined) return !['0', 'false'].includes(forced)
  return isTerminal && kind !== 'dumb'
}

type Style = Parameters<typeof styleText>[0]

export function paint({ hasColor }: Layout, style: Style, text: string): string {
  // Whether there are colours was decided above; Node would look at its own output instead.
  return hasColor ? styleText(style, text, { validateStream: false }) : text
}

/** A line may be broken after blanks, and after the commas of a list; `1,000` is no list. */
function piecesOf(text: string): readonly string[] {
  return text.match(/(?:[^\s,]|,(?=\d{3}(?!\d)))*,*\s*/gu)?.filter((piece) => piece !== '') ?? []
}

export function longestPiece(text: string): number {
  return piecesOf(text).reduce((most, piece) => Math.max(most, lengthOf(piece.trimEnd())), 0)
}

/** In code points: most of them take one column of a terminal. */
export function lengthOf(text: string): number {
  let length = 0
  for (const _ of text) length += 1
  return length
}

/** Breaks text into lines of at most `width`; a longer word is never broken, since it may be there to be copied. */
export function wrapText(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const piece of piecesOf(text)) {
    if (line !== '' && lengthOf((line + piece).trimEnd()) > width) {
      lines.push(line.trimEnd())
      line = ''
    }
    line += piece
  }
  return [...lines, line.trimEnd()]
}

/** Wraps a line that is wider than the terminal; what follows is indented further. */
export function fitLine(line: string, { width }: Layout): string {
  const [indent = ''] = /^ */u.exec(line) ?? []
  if (width === null || lengthOf(line) <= width) return line
  const further = `${indent}  `
  const room = Math.max(20, width - further.length)
  return `${indent}${wrapText(line.trimStart(), room).join(`\n${further}`)}`
}

export function padTo(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - lengthOf(text)))
}
