// The report by ad group, narrow enough for a terminal of 80 columns.
import { markets } from './catalog.ts'
import type { CsvRow } from './comparison.ts'
import { nanosOf, printRatio } from './decimal.ts'

interface Sums {
  readonly name: string
  readonly currency: string
  readonly impressions: number
  readonly clicks: number
  readonly conversions: number
  readonly valueNanos: bigint
  readonly spendNanos: bigint
}

const titles = ['Ad group', 'Impr.', 'Clicks', 'CTR', 'Conv.', 'Value', 'Spend', 'ROAS', '']
const textColumns: ReadonlySet<number> = new Set([0, titles.length - 1])
const nanosPerUnit = 1_000_000_000n

/** One line for each ad group and currency, then the totals of each currency; money rounded as it is paid. */
export function reportTable(rows: readonly CsvRow[]): string {
  const currencies = [...new Set(rows.map(currencyOf))].toSorted()
  const groups = currencies.flatMap((currency) => {
    const own = rows.filter((row) => currencyOf(row) === currency)
    const names = [...new Set(own.map(adGroupOf))].toSorted()
    return names.map((name) =>
      sumUp(
        name,
        own.filter((row) => adGroupOf(row) === name)
      )
    )
  })
  const totals = currencies.map((currency) =>
    sumUp(
      'Total',
      rows.filter((row) => currencyOf(row) === currency)
    )
  )
  const lines = [...groups, ...totals].map(cellsOf)
  const widths = titles.map((title, index) =>
    Math.max(title.length, ...lines.map((cells) => cells[index]?.length ?? 0))
  )
  const print = (cells: readonly string[]) =>
    cells
      .map((cell, index) => fit(cell, { index, width: widths[index] }))
      .join('  ')
      .trimEnd()
  const rule = widths.map((width) => '─'.repeat(width)).join('  ')
  const [body, foot] = [lines.slice(0, groups.length), lines.slice(groups.length)]
  return [print(titles), rule, ...body.map(print), rule, ...foot.map(print)].join('\n')
}

function currencyOf(row: CsvRow): string {
  return row['CURRENCY'] ?? ''
}

function adGroupOf(row: CsvRow): string {
  return row['AD_GROUP_NAME'] ?? ''
}

/** The rows are of one currency. */
function sumUp(name: string, rows: readonly CsvRow[]): Sums {
  const count = (column: string) => rows.reduce((sum, row) => sum + Number(row[column] ?? 0), 0)
  const money = (column: string) =>
    rows.reduce((nanos, row) => nanos + nanosOf(row[column] ?? '0'), 0n)
  return {
    name,
    currency: rows[0] === undefined ? '' : currencyOf(rows[0]),
    impressions: count('IMPRESSIONS'),
    clicks: count('CLICKS'),
    conversions: count('CONVERSIONS'),
    valueNanos: money('CONVERSION_VALUE'),
    spendNanos: money('AD_SPEND_REVENUE'),
  }
}

function cellsOf(sums: Sums): readonly string[] {
  const { name, currency, impressions, clicks, conversions, valueNanos, spendNanos } = sums
  const digits = markets.find((market) => market.currency === currency)?.minorDigits ?? 2
  const money = (over: bigint) => printRatio({ over, under: nanosPerUnit, digits })
  const rate = printRatio({ over: BigInt(clicks) * 100n, under: BigInt(impressions), digits: 2 })
  return [
    name,
    String(impressions),
    String(clicks),
    rate === '' ? '' : `${rate} %`,
    String(conversions),
    money(valueNanos),
    money(spendNanos),
    printRatio({ over: valueNanos, under: spendNanos, digits: 2 }),
    currency,
  ]
}

interface Place {
  readonly index: number
  readonly width: number | undefined
}

function fit(cell: string, { index, width = 0 }: Place): string {
  return textColumns.has(index) ? cell.padEnd(width) : cell.padStart(width)
}
