// Reads which deliveries are not believed and why, judgements included.

import type { Disbelief } from '../contract/explanation.ts'
import { disbeliefs } from '../contract/explanation.ts'
import type { NotBelievedOfPublisher } from '../contract/not-believed.ts'
import { minorDigits } from '../domain/currency.ts'
import { printInstant } from '../domain/instant.ts'
import { formatAmount, readNanos } from '../domain/money.ts'
import { inTableOrder } from '../warehouse/warehouse.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'

export interface NotBelievedQuestion {
  /** Null: of all publishers. */
  readonly publisherId: number | null
  /** By receipt; the start belongs to the range, the end does not. */
  readonly fromMs: number
  readonly toMs: number
}

/** Publishers that send in many currencies have many rows. More is a flood of made-up publishers. */
const rowsMax = 10_000

interface Row {
  readonly publisherId: number
  readonly kind: NotBelievedOfPublisher['kind']
  readonly reason: Disbelief
  readonly currency: string
  readonly deliveries: number
  readonly value: string
  readonly firstAtMs: number
  readonly lastAtMs: number
}

/** Most deliveries first. */
export async function readNotBelieved(
  warehouse: Pick<Warehouse, 'rows'>,
  { publisherId, fromMs, toMs }: NotBelievedQuestion
): Promise<readonly NotBelievedOfPublisher[]> {
  const rows = await warehouse.rows<Row>(notBelievedSql, {
    // No publisher has the id 0.
    publisherId: publisherId ?? 0,
    fromMs,
    toMs,
    disbeliefs,
    rowsMax,
  })
  const groups = new Map<string, readonly Row[]>()
  for (const row of rows) {
    const name = `${row.publisherId} ${row.kind} ${row.reason}`
    groups.set(name, [...(groups.get(name) ?? []), row])
  }
  return [...groups.values()]
    .flatMap(toGroup)
    .toSorted((one, other) => other.deliveries - one.deliveries)
}

function toGroup(rows: readonly Row[]): readonly NotBelievedOfPublisher[] {
  const [first] = rows
  if (first === undefined) return []
  const { publisherId, kind, reason } = first
  const group = {
    publisherId,
    kind,
    reason,
    deliveries: rows.reduce((sum, row) => sum + row.deliveries, 0),
    values: kind === 'return' ? [] : rows.map(toValue),
    firstReceivedAt: printInstant(Math.min(...rows.map((row) => row.firstAtMs))),
    lastReceivedAt: printInstant(Math.max(...rows.map((row) => row.lastAtMs))),
  }
  return [group]
}

function toValue({ currency, value }: Row) {
  return { currency, value: formatAmount(readNanos(value), minorDigits(currency)) }
}

// A judgement of a delivery is never older than the delivery, so only those since the start of the range are
// looked at. Older deliveries that these name are left out by the range itself.
const judgements = `
  SELECT purchase_key, delivery_id, max(latest).3 AS verdict
  FROM delivery_judgement
  WHERE latest.1 >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
  GROUP BY purchase_key, delivery_id`

const isInRange = `
  received_at >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
  AND received_at < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
  AND ({publisherId:Int32} = 0 OR publisher_id = {publisherId:Int32})`

const looked = `(toString(verdict) IN {disbeliefs:Array(String)}
  OR (purchase_key, delivery_id) IN (SELECT purchase_key, delivery_id FROM (${judgements})))`

// Deliveries are grouped by the key of their table, so that one that was shipped twice counts once. Somebody may send
// any number that is not believed.
const conversions = `
  SELECT publisher_id AS sender, 'conversion' AS kind, purchase_key, delivery_id, toString(any(verdict)) AS stored,
    any(received_at) AS at, toString(any(currency)) AS home, arraySum(any(line_value)) AS value
  FROM delivery
  WHERE day >= toDate(fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC'))
    AND ${isInRange} AND ${looked}
  GROUP BY day, publisher_id, purchase_key, delivery_id`

const returns = `
  SELECT any(publisher_id) AS sender, 'return' AS kind, purchase_key, delivery_id, toString(any(verdict)) AS stored,
    any(received_at) AS at, '' AS home, toDecimal128(0, 9) AS value
  FROM purchase_return
  WHERE ${isInRange} AND ${looked}
  GROUP BY purchase_key, return_key, delivery_id`

/** One row per publisher, kind, reason and currency. */
const notBelievedSql = `
SELECT d.sender AS publisherId, d.kind AS kind,
  if(j.verdict = '', d.stored, j.verdict) AS reason, d.home AS currency,
  count() AS deliveries, toString(sum(d.value)) AS value,
  toUnixTimestamp64Milli(min(d.at)) AS firstAtMs,
  toUnixTimestamp64Milli(max(d.at)) AS lastAtMs
FROM (${conversions} UNION ALL ${returns}) AS d
LEFT JOIN (${judgements}) AS j
  ON j.purchase_key = d.purchase_key AND j.delivery_id = d.delivery_id
WHERE reason IN {disbeliefs:Array(String)}
GROUP BY publisherId, kind, reason, currency
ORDER BY deliveries DESC, publisherId, kind, reason, currency
LIMIT {rowsMax:UInt32}
SETTINGS join_use_nulls = 0, ${inTableOrder}`
