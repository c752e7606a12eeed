// Tables for people. A table that is wider than the terminal wraps its cells; where even their longest words do not
// fit beside each other, each row is shown as lines of its own. No value loses a character.
import {
  lengthOf,
  longestPiece,
  padTo,
  paint,
  plainLayout,
  wrapText,
  type Layout,
} from './layout.ts'

type Cells = readonly string[]

const gap = '  '

/** Aligned rows under a header. Cells can neither break the layout nor control the terminal. */
export function formatTable(
  header: Cells,
  rows: readonly Cells[],
  layout: Layout = plainLayout
): string {
  const [titles = [], ...body] = [header, ...rows].map((cells) => cells.map(printable))
  const whole = { titles, body }
  const widths = naturalWidths(whole)
  if (layout.width === null || widthOf(widths) <= layout.width) return align(whole, widths, layout)
  const table = withoutEmptyColumns(whole)
  const fitting = shrink(table, layout.width)
  return fitting === null ? stack(table, layout) : align(table, fitting, layout)
}

interface Table {
  readonly titles: Cells
  readonly body: readonly Cells[]
}

function measure({ titles, body }: Table, length: (cell: string) => number): number[] {
  const lines = [titles, ...body]
  return titles.map((_, column) =>
    lines.reduce((most, cells) => Math.max(most, length(cells[column] ?? '')), 0)
  )
}

function naturalWidths(table: Table): number[] {
  return measure(table, lengthOf)
}

function widthOf(widths: readonly number[]): number {
  return widths.reduce((total, one) => total + one, gap.length * (widths.length - 1))
}

/** A column in which no row has a value says nothing, and others need the room. */
function withoutEmptyColumns({ titles, body }: Table): Table {
  const says = titles.map((_, column) => body.some((cells) => cells[column] !== '-'))
  const rest = (cells: Cells) => cells.filter((_, column) => says[column] === true)
  return { titles: rest(titles), body: body.map(rest) }
}

/** The widths of columns whose cells are wrapped; null if even their longest words do not fit. */
function shrink(table: Table, width: number): readonly number[] | null {
  const least = measure(table, longestPiece)
  if (widthOf(least) > width) return null
  const widths = naturalWidths(table)
  // The widest column gives way first.
  for (let excess = widthOf(widths) - width; excess > 0; excess -= 1) {
    const spare = widths.map((one, column) => (one > (least[column] ?? 0) ? one : 0))
    const widest = spare.indexOf(Math.max(...spare))
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return widths
}

function align({ titles, body }: Table, widths: readonly number[], layout: Layout): string {
  const head = alignRow(titles, widths).map((line) => paint(layout, 'bold', line))
  return [...head, ...body.flatMap((cells) => alignRow(cells, widths))].join('\n')
}

function alignRow(cells: Cells, widths: readonly number[]): readonly string[] {
  const columns = widths.map((width, column) => wrapText(cells[column] ?? '', width))
  const height = Math.max(...columns.map((lines) => lines.length))
  return Array.from({ length: height }, (_, line) =>
    columns
      .map((lines, column) => padTo(lines[line] ?? '', widths[column] ?? 0))
      .join(gap)
      .trimEnd()
  )
}

/** A line for each cell, and an empty one between rows. */
function stack({ titles, body }: Table, layout: Layout): string {
  const titleWidth = Math.max(...titles.map(lengthOf))
  const width = Math.max(1, (layout.width ?? Infinity) - titleWidth - gap.length)
  const indent = ' '.repeat(titleWidth) + gap
  return body
    .map((cells) =>
      titles
        .map((title, column) => {
          const value = wrapText(cells[column] ?? '', width).join(`\n${indent}`)
          return `${paint(layout, 'bold', padTo(title, titleWidth))}${gap}${value}`.trimEnd()
        })
        .join('\n')
    )
    .join('\n\n')
}

/** Replaces control and format characters, such as escape sequences and changes of direction, by a mark. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD')
}
