// The rows of the table by groups: by currency, or one for each group with what its amounts were converted from.
import type { JsonGroups } from '../../src/contract/report-json.ts'
import { columns, type Row } from './columns.ts'

export interface OriginalAmounts {
  readonly CURRENCY: string
  readonly AD_SPEND_REVENUE: string
  readonly CONVERSION_VALUE: string
}

interface Originals {
  /** The amounts of each currency. */
  readonly others: readonly OriginalAmounts[]
  /** The part of them that has no rate. */
  readonly withoutRate: readonly OriginalAmounts[]
}

export interface GroupRows {
  readonly rows: readonly Row[]
  /** Undefined where amounts of several currencies have no sum. */
  readonly totals: Row | undefined
  readonly totalRows: number
  /** Of each row, if amounts are converted; else null. */
  readonly originals: ReadonlyMap<Row, Originals> | null
}

export function groupRows({ rows, totals, totalRows, converted }: JsonGroups): GroupRows {
  if (converted === undefined) {
    const [total, ...others] = totals
    return { rows, totals: others.length === 0 ? total : undefined, totalRows, originals: null }
  }
  const byGroup = new Map<string, OriginalAmounts[]>()
  for (const row of rows) {
    const group = groupOf(row)
    byGroup.set(group, [...(byGroup.get(group) ?? []), row])
  }
  const found = converted.rows.map(({ WITHOUT_RATE: withoutRate, ...row }) => {
    const own: Row = row
    return [own, { others: byGroup.get(groupOf(own)) ?? [], withoutRate }] as const
  })
  const { WITHOUT_RATE: _without, ...total } = converted.totals ?? {}
  return {
    rows: found.map(([row]) => row),
    totals: converted.totals === null ? undefined : total,
    totalRows,
    originals: new Map(found),
  }
}

/** What a row is of. Its rows by currency are of the same. */
function groupOf(row: Row): string {
  const names = Object.entries(columns).flatMap(([name, { isFigure }]) =>
    isFigure || name === 'CURRENCY' ? [] : [name]
  )
  return JSON.stringify(names.map((name) => row[name] ?? ''))
}
