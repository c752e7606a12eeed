import type { ComponentChildren } from 'preact'
import { descriptionOf, Term, Words } from './term.tsx'

export interface TableColumn<Row> {
  readonly name: string
  readonly label: string
  readonly isFigure?: boolean
  /** What explains the heading, by its name in the glossary. */
  readonly term?: string | undefined
  readonly cell: (row: Row) => ComponentChildren
}

export interface Sorting {
  readonly by: string
  readonly isDescending: boolean
  readonly isSortable: (name: string) => boolean
  readonly onSort: (name: string) => void
}

interface TableProps<Row> {
  /** Read out by screen readers; also names the frame that scrolls. */
  readonly caption: string
  readonly columns: readonly TableColumn<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row, index: number) => string
  readonly sorting?: Sorting
  readonly footer?: ComponentChildren
  /** A row that stays below the headings: the sums of all rows. */
  readonly totals?: Row | undefined
}

/** Scrolls sideways if it is too wide, also with the keyboard; the first column stays in place. */
export function Table<Row>(props: TableProps<Row>) {
  const { caption, columns, rows, keyOf, sorting, footer, totals } = props
  return (
    // A group, since the section around it is a landmark already, often of the same name.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- people without a mouse scroll with the keyboard.
    <div class="table-frame" role="group" aria-label={caption} tabIndex={0}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <Heading key={column.name} column={column} sorting={sorting} />
            ))}
          </tr>
          {totals !== undefined && (
            <tr class="totals">
              {columns.map((column, place) =>
                place === 0 ? (
                  <th key={column.name} scope="row">
                    {column.cell(totals)}
                  </th>
                ) : (
                  <td
                    key={column.name}
                    data-column={column.name}
                    class={column.isFigure === true ? 'figure' : undefined}
                  >
                    {column.isFigure === true && column.cell(totals)}
                  </td>
                )
              )}
            </tr>
          )}
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={keyOf(row, index)}>
              {columns.map((column, place) =>
                place === 0 ? (
                  <th
                    key={column.name}
                    scope="row"
                    data-column={column.name}
                    onMouseEnter={tellWhole}
                  >
                    {column.cell(row)}
                  </th>
                ) : (
                  <td
                    key={column.name}
                    data-column={column.name}
                    class={column.isFigure === true ? 'figure' : undefined}
                    onMouseEnter={tellWhole}
                  >
                    {column.cell(row)}
                  </td>
                )
              )}
            </tr>
          ))}
        </tbody>
        {footer !== undefined && <tfoot>{footer}</tfoot>}
      </table>
    </div>
  )
}

/** A cell that is cut tells its whole text. */
function tellWhole({ currentTarget: cell }: { readonly currentTarget: HTMLElement }): void {
  const isCut = [cell, ...cell.children].some((one) => one.scrollWidth > one.clientWidth)
  if (isCut) cell.title = cell.textContent
  else cell.removeAttribute('title')
}

interface HeadingProps<Row> {
  readonly column: TableColumn<Row>
  readonly sorting: Sorting | undefined
}

function Heading<Row>({ column, sorting }: HeadingProps<Row>) {
  const { name, label, isFigure, term } = column
  const className = isFigure === true ? 'figure' : undefined
  if (sorting?.isSortable(name) !== true) {
    return (
      <th scope="col" class={className}>
        {term === undefined ? label : <Term term={term}>{label}</Term>}
      </th>
    )
  }
  const isSorted = sorting.by === name
  const direction = sorting.isDescending ? 'descending' : 'ascending'
  return (
    // oxlint-disable-next-line jsx-a11y/control-has-associated-label -- the words in the button name it.
    <th scope="col" class={className} aria-sort={isSorted ? direction : 'none'}>
      <button
        type="button"
        class="sort"
        aria-describedby={descriptionOf(term)}
        onClick={() => sorting.onSort(name)}
      >
        <Words term={term}>{label}</Words>
        <span aria-hidden="true" class="arrow">
          {isSorted ? (sorting.isDescending ? '↓' : '↑') : ''}
        </span>
      </button>
    </th>
  )
}
