// A report by groups as it leaves the port: a row for each group and currency, or with `convertTo` one for each group.
import {
  isConvertedColumn,
  isDimension,
  listConvertedColumns,
  listGroupColumns,
  type GroupColumn,
  type GroupRequest,
} from '../../../contract/group-request.ts'
import type { JsonGroups } from '../../../contract/report-json.ts'
import type { CsvCell } from '../../../domain/csv.ts'
import type { GroupRow } from '../../../reports/groups-rows.ts'
import { convertedLabelsOf, labelsOf } from '../../../reports/locale.ts'
import type { GroupsResult } from '../../../reports/run-groups.ts'
import { addUpInto } from '../../../reports/sums.ts'
import { cellOf, printIfAny, printInOneCurrency, printWithOrders, valueOf } from './print.ts'

type JsonGroup = JsonGroups['rows'][number]
type ConvertedGroup = NonNullable<JsonGroups['converted']>['rows'][number]
type Values = Readonly<Record<string, string | null>>

/** One page; the totals are of all pages. */
export function jsonGroups(result: GroupsResult, request: GroupRequest): JsonGroups {
  const { groupBy, convertTo = null, page, limit } = request
  const columns = listGroupColumns(groupBy)
  return {
    rows: result.rows.flatMap((row) =>
      convertTo === null ? toGroupRow(row, columns) : toRowsByCurrency(row, columns)
    ),
    totals: (result.sums ?? []).map(printWithOrders),
    page,
    limit,
    totalRows: result.totalRows,
    ...(convertTo !== null && {
      converted: {
        rows: result.rows.map((row) => toConvertedGroup(row, columns, convertTo)),
        totals: printIfAny(addUpInto(convertTo, result.sums ?? [])),
      },
    }),
    completeThrough: result.completeThrough,
    renewingDays: [...(result.renewingDays ?? [])],
    unconverted: result.unconvertedCount,
  }
}

function toGroupRow(row: GroupRow, columns: readonly GroupColumn[]): JsonGroup {
  const values = columns.map((column) => [column, valueOf(groupCell(column, row))])
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Every column was set just now.
  return Object.fromEntries(values) as JsonGroup
}

function groupCell(column: GroupColumn, row: GroupRow): CsvCell {
  return column === 'ORDERS' ? { number: row.orders ?? '' } : cellOf[column](row)
}

/** What the row is of, with other figures. */
function withFigures(row: GroupRow, columns: readonly GroupColumn[], figures: Values) {
  const values = columns.map((column) => [
    column,
    isDimension(column) ? valueOf(groupCell(column, row)) : (figures[column] ?? null),
  ])
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Every column was set just now.
  return Object.fromEntries(values) as JsonGroup
}

function toRowsByCurrency(row: GroupRow, columns: readonly GroupColumn[]): readonly JsonGroup[] {
  return (row.byCurrency ?? []).map((sums) => withFigures(row, columns, printWithOrders(sums)))
}

function convertedSums({ byCurrency = [] }: GroupRow, convertTo: string) {
  const sums = addUpInto(convertTo, byCurrency)
  if (sums === null) throw new Error('a group has figures in a currency')
  return printInOneCurrency(sums)
}

function toConvertedGroup(
  row: GroupRow,
  columns: readonly GroupColumn[],
  convertTo: string
): ConvertedGroup {
  const { WITHOUT_RATE, ...figures } = convertedSums(row, convertTo)
  return { ...withFigures(row, columns, figures), WITHOUT_RATE }
}

interface GroupsCsv {
  readonly header: readonly string[]
  readonly cells: (row: GroupRow) => readonly CsvCell[]
}

/** The columns of the file and their cells. */
export function csvOfGroups(request: GroupRequest, locale: string | undefined): GroupsCsv {
  const { groupBy, convertTo = null } = request
  const columns = listGroupColumns(groupBy)
  const labels = labelsOf(locale)
  if (convertTo === null) {
    return {
      header: columns.map((column) => labels[column]),
      cells: (row) => columns.map((column) => groupCell(column, row)),
    }
  }
  return {
    header:
      locale === undefined
        ? listConvertedColumns(groupBy)
        : [
            ...columns.map((name) => `${isConvertedColumn(name) ? '≈ ' : ''}${labels[name]}`),
            ...convertedLabelsOf(locale),
          ],
    cells: (row) => convertedCells(row, columns, convertTo),
  }
}

function convertedCells(
  row: GroupRow,
  columns: readonly GroupColumn[],
  convertTo: string
): readonly CsvCell[] {
  const { WITHOUT_RATE, ...figures } = convertedSums(row, convertTo)
  const shown: Values = figures
  const cell = (column: GroupColumn): CsvCell => {
    if (isDimension(column)) return groupCell(column, row)
    return column === 'CURRENCY' ? { text: convertTo } : { number: shown[column] ?? '' }
  }
  const originals = (row.byCurrency ?? []).map(printWithOrders)
  return [
    ...columns.map(cell),
    { text: listAmounts(originals) },
    { text: listAmounts(WITHOUT_RATE) },
  ]
}

type Amounts = Readonly<Record<'CURRENCY' | 'AD_SPEND_REVENUE' | 'CONVERSION_VALUE', string>>

/** Spend and value of each currency. */
function listAmounts(amounts: readonly Amounts[]): string {
  return amounts
    .map((one) => `${one.CURRENCY} ${one.AD_SPEND_REVENUE} / ${one.CONVERSION_VALUE}`.trim())
    .join('; ')
}
