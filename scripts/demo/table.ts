import { markets } from './catalog.ts'
import type { CsvRow } from './comparison.ts'
import { nanosOf, printAmount } from './decimal.ts'

interface TableColumn {
  readonly title: string
  readonly of: (row: CsvRow) => string
  readonly isNumber: boolean
  readonly widthMax: number
}

const number = (title: string, column: string): TableColumn => ({
  title,
  of: (row) => row[column] ?? '',
  isNumber: true,
  widthMax: 14,
})
const text = (title: string, column: string, widthMax: number): TableColumn => ({
  ...number(title, column),
  isNumber: false,
  widthMax,
})

const tableColumns: readonly TableColumn[] = [
  text('Product', 'PRODUCT_TITLE', 30),
  text('Market', 'MARKET', 6),
  text('Publisher', 'PUBLISHER_NAME', 16),
  text('Campaign', 'CAMPAIGN_NAME', 13),
  text('Ad group', 'AD_GROUP_NAME', 12),
  number('Impressions', 'IMPRESSIONS'),
  number('Clicks', 'CLICKS'),
  number('Conv.', 'CONVERSIONS'),
  number('Units', 'UNITS_SOLD'),
  number('Value', 'CONVERSION_VALUE'),
  number('Spend', 'AD_SPEND_REVENUE'),
  number('ROAS', 'RETURN_ON_AD_SPEND'),
  text('', 'CURRENCY', 3),
]

const summed = ['IMPRESSIONS', 'CLICKS', 'CONVERSIONS', 'UNITS_SOLD'] as const
const summedMoney = ['CONVERSION_VALUE', 'AD_SPEND_REVENUE'] as const

/** The rows with the most conversions, and the totals of all rows by currency. */
export function reportTable(rows: readonly CsvRow[], rowsMax: number): string {
  const top = rows
    .toSorted((one, other) => Number(other['CONVERSIONS']) - Number(one['CONVERSIONS']))
    .slice(0, rowsMax)
  const currencies = [...new Set(rows.map((row) => row['CURRENCY'] ?? ''))].toSorted()
  const totals = currencies.map((currency) => totalOf(rows, currency))

  const all = [...top, ...totals]
  const widths = tableColumns.map((column) =>
    Math.max(widthOf(column.title), ...all.map((row) => widthOf(cellOf(column, row))))
  )
  const rule = widths.map((width) => '─'.repeat(width)).join('  ')
  const head = tableColumns.map((column, index) =>
    fit(column.title, { column, width: widths[index] })
  )
  const line = (row: CsvRow) =>
    tableColumns
      .map((column, index) => fit(cellOf(column, row), { column, width: widths[index] }))
      .join('  ')
      .trimEnd()
  return [head.join('  ').trimEnd(), rule, ...top.map(line), rule, ...totals.map(line)].join('\n')
}

function totalOf(rows: readonly CsvRow[], currency: string): CsvRow {
  const own = rows.filter((row) => row['CURRENCY'] === currency)
  const digits = markets.find((market) => market.currency === currency)?.minorDigits ?? 2
  const total: Record<string, string> = {
    PRODUCT_TITLE: `Total of ${own.length} rows`,
    CURRENCY: currency,
  }
  for (const column of summed) {
    total[column] = String(own.reduce((sum, row) => sum + Number(row[column]), 0))
  }
  for (const column of summedMoney) {
    const sum = own.reduce((nanos, row) => nanos + nanosOf(row[column] ?? '0'), 0n)
    total[column] = printAmount(sum, digits)
  }
  return total
}

function cellOf({ of, widthMax }: TableColumn, row: CsvRow): string {
  let cell = of(row)
  if (widthOf(cell) <= widthMax) return cell
  while (widthOf(cell) > widthMax - 1) cell = Array.from(cell).slice(0, -1).join('')
  return `${cell}…`
}

interface Place {
  readonly column: TableColumn
  readonly width: number | undefined
}

function fit(cell: string, { column, width = 0 }: Place): string {
  const padding = ' '.repeat(Math.max(0, width - widthOf(cell)))
  return column.isNumber ? padding + cell : cell + padding
}

/** Terminals give characters of East Asian scripts two columns. */
function widthOf(cell: string): number {
  return Array.from(cell).reduce(
    (width, character) => width + (/[\u3000-\u9FFF\uFF00-\uFFEF]/.test(character) ? 2 : 1),
    0
  )
}
