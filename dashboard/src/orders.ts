// The credited lines of a page as orders: lines of one purchase stand together, since the list is ordered by purchase.
import { formatDecimal, nanosScale, parseDecimal } from '../../src/domain/money.ts'

export type CreditedLine = Readonly<Record<string, string>>

export interface Order {
  readonly key: string
  readonly first: CreditedLine
  readonly lines: readonly CreditedLine[]
  readonly units: string
  /** Null if the lines have several currencies, or some amount could not be converted. */
  readonly value: string | null
}

/** What all lines of an order have in a column; null if they have several values. */
export function commonOf({ lines }: Order, name: string): string | null {
  const values = new Set(lines.map((line) => line[name] ?? ''))
  const [value = null] = values
  return values.size === 1 ? value : null
}

export function ordersOf(rows: readonly CreditedLine[]): readonly Order[] {
  const orders = new Map<string, CreditedLine[]>()
  for (const row of rows) {
    const key = keyOf(row)
    const lines = orders.get(key)
    if (lines === undefined) orders.set(key, [row])
    else lines.push(row)
  }
  return [...orders].flatMap(([key, lines]) => {
    const [first] = lines
    if (first === undefined) return []
    return {
      key,
      first,
      lines,
      units: String(lines.reduce((sum, line) => sum + BigInt(line['UNITS'] ?? '0'), 0n)),
      value: sumOf(lines),
    }
  })
}

/** Purchases without a transaction id are told apart by their instants. */
function keyOf(row: CreditedLine): string {
  const id = row['TRANSACTION_ID'] ?? ''
  return JSON.stringify([row['PUBLISHER_ID'], id, id === '' ? row['PURCHASED_AT'] : ''])
}

function sumOf(lines: readonly CreditedLine[]): string | null {
  if (new Set(lines.map((line) => line['CURRENCY'])).size > 1) return null
  const [only] = lines
  if (lines.length === 1) return only?.['CONVERSION_VALUE'] ?? null
  let sum = 0n
  for (const line of lines) {
    const nanos = parseDecimal(line['CONVERSION_VALUE'] ?? '', nanosScale)
    if (nanos === null) return null
    sum += nanos
  }
  return formatDecimal(sum, nanosScale, nanosScale)
}
