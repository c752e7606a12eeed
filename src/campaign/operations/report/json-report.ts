import type { JsonReport } from '../../../contract/report-json.ts'
import type { ReportRequest } from '../../../contract/report-request.ts'
import { readNanos } from '../../../domain/money.ts'
import { listColumns, type Column } from '../../../contract/report-columns.ts'
import type { ReportResult, ReportRow } from '../../../reports/report.ts'
import type { ReportSums } from '../../../reports/series.ts'
import { cellOf } from './cells.ts'
import { printSums } from './totals.ts'

type JsonRow = JsonReport['rows'][number]

/** One page, bounded by `limit` (at most 10,000 rows), so it is built in memory. */
export function jsonReport(result: ReportResult, request: ReportRequest): JsonReport {
  const columns = listColumns(request)
  const rows: JsonRow[] = []
  const totals = new Map<string, Totals>()
  for (const row of result.rows) {
    rows.push(toJsonRow(row, columns))
    addRow(totalsOf(totals, row.currency), row)
  }
  return {
    rows,
    totals: [...totals].toSorted(byCode).map(([currency, sums]) => printSums(sums, currency)),
    page: request.page,
    limit: request.limit,
    totalRows: result.totalRows,
    completeThrough: result.completeThrough,
    renewingDays: [...(result.renewingDays ?? [])],
    unconverted: result.unconvertedCount,
  }
}

/** As in the CSV, but unescaped, and null for a ratio over zero. */
function toJsonRow(row: ReportRow, columns: readonly Column[]): JsonRow {
  const values: Record<string, string | null> = {}
  for (const column of columns) {
    const cell = cellOf[column](row)
    if ('text' in cell) values[column] = cell.text
    else values[column] = cell.number === '' ? null : cell.number
  }
  return values
}

type Totals = { -readonly [Sum in keyof ReportSums]: ReportSums[Sum] }

function totalsOf(totals: Map<string, Totals>, currency: string): Totals {
  const known = totals.get(currency)
  if (known !== undefined) return known
  const made: Totals = {
    impressions: 0n,
    clicks: 0n,
    loads: 0n,
    conversions: 0n,
    unitsSold: 0n,
    valueNanos: 0n,
    spendNanos: 0n,
  }
  totals.set(currency, made)
  return made
}

function addRow(totals: Totals, row: ReportRow): void {
  totals.impressions += BigInt(row.impressions)
  totals.clicks += BigInt(row.clicks)
  totals.loads += BigInt(row.loads)
  totals.conversions += BigInt(row.conversions)
  totals.unitsSold += BigInt(row.unitsSold)
  totals.valueNanos += BigInt(readNanos(row.conversionValue))
  totals.spendNanos += BigInt(readNanos(row.adSpendRevenue))
}

function byCode([one]: readonly [string, Totals], [other]: readonly [string, Totals]): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}
