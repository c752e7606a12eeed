// Reads what was returned of one purchase, and what remains of its lines (docs/attribution.md, "Returns").

import type { DeliveryStanding } from '../../contract/explanation.ts'
import { gtinKey as keyOfGtin } from '../../domain/gtin.ts'
import { nanosScale, formatDecimal, parseDecimal } from '../../domain/money.ts'
import { assert } from '../../lib/assert.ts'
import { isValidSql } from '../../warehouse/effective-verdict.ts'
import type { Warehouse } from '../../warehouse/warehouse.ts'
import { readJudgements, standingOf } from './deliveries.ts'
import type { DeliveryJudgement, DeliveryLine, PurchaseId, StoredVerdict } from './deliveries.ts'

export const returnLimits = {
  /** The earliest deliveries of returns are listed; what they take back is summed over all. */
  listedMax: 100,
  productsMax: 100,
} as const

export interface ReturnDelivery {
  readonly returnId: string
  readonly deliveryId: string
  readonly receivedAtMs: number
  readonly standing: DeliveryStanding
  /** Null if the stored verdict counts. */
  readonly judgedAtMs: number | null
  /** A repeat with other content than the delivery of the return that counts. */
  readonly isConflict: boolean
  readonly products: readonly { readonly gtin: string; readonly quantity: number }[]
}

export interface PurchaseReturns {
  /** By receipt, then by id. */
  readonly listed: readonly ReturnDelivery[]
  readonly leftOutCount: number
  /** Units that the returns which count take back, by product; may be more than were bought. */
  readonly units: ReadonlyMap<string, number>
}

export interface ReturnQuestion extends PurchaseId {
  /** When it was declared that the purchase is never read again: what was shipped later is too late. */
  readonly finalSinceMs: number | null
}

export async function readReturns(
  reader: Pick<Warehouse, 'rows'>,
  { purchaseKey, finalSinceMs }: ReturnQuestion
): Promise<PurchaseReturns> {
  const { listedMax, productsMax } = returnLimits
  const params = { purchaseKey, finalSinceMs: finalSinceMs ?? endOfTimeMs }
  const [rows, sums, judgements] = await Promise.all([
    reader.rows<ReturnRow>(listSql, { ...params, listedMax, productsMax }),
    reader.rows<{ gtinKey: string; quantity: number }>(unitsSql, params),
    readJudgements(reader, { purchaseKey }),
  ])
  return {
    listed: rows.map((row) => toReturn(row, judgements.get(row.deliveryId))),
    leftOutCount: (rows[0]?.totalCount ?? 0) - rows.length,
    units: new Map(sums.map(({ gtinKey, quantity }) => [gtinKey, quantity])),
  }
}

const endOfTimeMs = Date.UTC(2200, 0, 1)

/** The quantity that remains of each line, in order: the valid lines of a product give up theirs first to last. */
export function remainingQuantities(
  lines: readonly DeliveryLine[],
  units: PurchaseReturns['units']
): readonly number[] {
  const left = new Map(units)
  return lines.map(({ gtinKey, quantity, verdict }) => {
    if (verdict !== 'valid') return quantity
    const taken = Math.min(quantity, left.get(gtinKey) ?? 0)
    left.set(gtinKey, (left.get(gtinKey) ?? 0) - taken)
    return quantity - taken
  })
}

export interface TakenBack {
  readonly receivedAtMs: number
  readonly quantity: number
}

/** What each return that counts took from each line, in order; those that are not listed are missing. */
export function takenBack(
  lines: readonly DeliveryLine[],
  returns: PurchaseReturns['listed']
): readonly (readonly TakenBack[])[] {
  const left = lines.map(({ quantity, verdict }) => (verdict === 'valid' ? quantity : 0))
  const taken: TakenBack[][] = lines.map(() => [])
  for (const { receivedAtMs, products } of returns.filter((one) => one.standing === 'counted')) {
    const units = unitsOf(products)
    for (const [index, line] of lines.entries()) {
      const quantity = Math.min(left[index] ?? 0, units.get(line.gtinKey) ?? 0)
      if (quantity <= 0) continue
      left[index] = (left[index] ?? 0) - quantity
      units.set(line.gtinKey, (units.get(line.gtinKey) ?? 0) - quantity)
      taken[index]?.push({ receivedAtMs, quantity })
    }
  }
  return taken
}

function unitsOf(products: ReturnDelivery['products']): Map<string, number> {
  const units = new Map<string, number>()
  for (const { gtin, quantity } of products) {
    const productKey = keyOfGtin(gtin)
    units.set(productKey, (units.get(productKey) ?? 0) + quantity)
  }
  return units
}

/** The value of a line holds its price in nanos times its quantity, so the division is exact. */
export function remainingValue({ value, quantity }: DeliveryLine, remaining: number): string {
  if (remaining === quantity) return value
  const nanos = parseDecimal(value, nanosScale)
  assert(nanos !== null && quantity > 0, 'what is taken back is taken from a valid line')
  return formatDecimal((nanos / BigInt(quantity)) * BigInt(remaining), nanosScale, nanosScale)
}

interface ReturnRow {
  readonly returnId: string
  readonly deliveryId: string
  readonly receivedAtMs: number
  readonly verdict: StoredVerdict
  readonly isLate: 0 | 1
  readonly content: string
  readonly products: readonly (readonly [gtin: string, quantity: number])[]
  /** The delivery of the return that counts; the id is '' if none does. */
  readonly firstId: string
  readonly firstAtMs: number
  readonly firstContent: string
  readonly totalCount: number
}

function toReturn(row: ReturnRow, judgement: DeliveryJudgement | undefined): ReturnDelivery {
  const { returnId, deliveryId, receivedAtMs, products } = row
  return {
    returnId,
    deliveryId,
    receivedAtMs,
    standing: standingOf(
      { ...row, verdict: row.isLate === 1 ? 'too-late' : (judgement?.verdict ?? row.verdict) },
      { deliveryId: row.firstId, receivedAtMs: row.firstAtMs }
    ),
    judgedAtMs: judgement?.judgedAtMs ?? null,
    isConflict: row.firstId !== '' && row.content !== row.firstContent,
    products: products.map(([gtin, quantity]) => ({ gtin, quantity })),
  }
}

const key = `toFixedString(unhex({purchaseKey:String}), 16)`
const ofPurchase = `purchase_key = ${key}`

const isInTime = `shipped_at <= fromUnixTimestamp64Milli({finalSinceMs:Int64}, 'UTC')`

const listSql = `
SELECT return_id AS returnId, lower(hex(delivery_id)) AS deliveryId,
  toUnixTimestamp64Milli(received_at) AS receivedAtMs, verdict, NOT (${isInTime}) AS isLate, lower(hex(content_hash)) AS content,
  arraySlice(arrayZip(line_gtin, line_quantity), 1, {productsMax:UInt32}) AS products,
  if(has_first, lower(hex(first.2)), '') AS firstId, toUnixTimestamp64Milli(first.1) AS firstAtMs,
  lower(hex(first.3)) AS firstContent, toUInt32(count() OVER ()) AS totalCount
FROM (
  SELECT *, countIf(is_valid) OVER (PARTITION BY return_key) > 0 AS has_first,
    minIf((received_at, delivery_id, content_hash), is_valid) OVER (PARTITION BY return_key) AS first
  FROM (
    SELECT *, ${isValidSql(key)} AND ${isInTime} AS is_valid
    FROM purchase_return WHERE ${ofPurchase} LIMIT 1 BY delivery_id
  )
)
ORDER BY received_at, delivery_id
LIMIT {listedMax:UInt32}`

const unitsSql = `
SELECT product.1 AS gtinKey, sum(product.2) AS quantity
FROM (
  SELECT argMin((line_gtin_key, line_quantity), (received_at, delivery_id)) AS first
  FROM purchase_return
  WHERE ${ofPurchase} AND ${isValidSql(key)} AND ${isInTime}
  GROUP BY return_key
)
ARRAY JOIN arrayZip(first.1, first.2) AS product
GROUP BY gtinKey
LIMIT 1000000`
