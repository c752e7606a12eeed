import { columns, type Column, type PrintedRow } from './expected-report.ts'

export interface Comparison {
  /** Cells that were compared. */
  readonly figures: number
  /** Each names its row and column, what was expected and what came. */
  readonly differences: readonly string[]
}

export type CsvRow = Readonly<Record<string, string>>

const keyColumns = ['GTIN', 'MARKET', 'PUBLISHER_ID', 'CAMPAIGN_ID', 'AD_GROUP_ID'] as const

interface Sides {
  readonly name: string
  readonly expected: readonly PrintedRow[]
  readonly actual: readonly CsvRow[]
}

/** Compares cell by cell, as printed; a row on one side only is one difference. */
export function compareReports({ name, expected, actual }: Sides): Comparison {
  const differences: string[] = []
  const rest = new Map<string, CsvRow>()
  for (const row of actual) {
    if (rest.has(keyOf(row))) differences.push(`${name}: ${keyOf(row)} stands there twice`)
    rest.set(keyOf(row), row)
  }

  for (const row of expected) {
    const found = rest.get(keyOf(row))
    rest.delete(keyOf(row))
    if (found === undefined) differences.push(`${name}: ${keyOf(row)} is missing`)
    else
      differences.push(...cellFaults(row, found).map((fault) => `${name}: ${keyOf(row)}: ${fault}`))
  }
  for (const key of rest.keys()) differences.push(`${name}: ${key} is not expected`)
  return { figures: expected.length * columns.length, differences }
}

function cellFaults(expected: PrintedRow, actual: CsvRow): readonly string[] {
  return columns
    .filter((column) => expected[column] !== actual[column])
    .map((column) => `${column} is ${shown(actual, column)}, expected "${expected[column]}"`)
}

function shown(row: CsvRow, column: Column): string {
  const cell = row[column]
  return cell === undefined ? 'missing' : `"${cell}"`
}

function keyOf(row: CsvRow): string {
  return keyColumns.map((column) => `${column} ${row[column] ?? '?'}`).join(', ')
}
