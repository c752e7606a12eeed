// Purchases and returns that were delivered with different content in the last 30 days. The count and the
// list share one definition.

import type { Conflict, ConflictPage } from '../contract/conflicts.ts'
import { printInstant } from '../domain/instant.ts'
import { judgementsSql, voidVerdict } from '../warehouse/effective-verdict.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'

/** Returns the newest conflicts, up to the limit, and the number of all. */
export type ReadConflicts = (limit: number) => Promise<ConflictPage>

export function createConflictReader(
  warehouse: Pick<Warehouse, 'rows' | 'barrier'>
): ReadConflicts {
  return async (limit) => {
    await warehouse.barrier(['delivery', 'purchase_return', 'delivery_judgement'])
    const rows = await warehouse.rows<ConflictRow>(conflictsSql, { limit })
    return { conflicts: rows.map(toConflict), total: rows[0]?.total ?? 0 }
  }
}

interface ConflictRow {
  readonly kind: Conflict['kind']
  readonly publisherId: number
  readonly transactionId: string
  readonly returnId: string
  readonly deliveries: number
  readonly voidDeliveries: number
  readonly firstAtMs: number
  readonly lastAtMs: number
  readonly total: number
}

function toConflict({ kind, returnId, firstAtMs, lastAtMs, ...row }: ConflictRow): Conflict {
  return {
    kind,
    publisherId: row.publisherId,
    transactionId: row.transactionId,
    ...(kind === 'return' && { returnId }),
    deliveries: row.deliveries,
    voidDeliveries: row.voidDeliveries,
    firstReceivedAt: printInstant(firstAtMs),
    lastReceivedAt: printInstant(lastAtMs),
  }
}

const recentDeliveries = 'day >= today() - 30'
const recentReturns = 'received_at >= today() - 30'

// Two hashes of a purchase are compared, the least and the greatest, since sets of hashes would take hundreds of MB for
// the purchases of a month. The first pass reads all of them: it keeps 64 bits of a hash, which takes half of the
// memory, and writes to disk what exceeds 32 MB.
const conflicting = 'HAVING min(content_hash) != max(content_hash)'
const mayBeConflicting = 'HAVING uniqUpTo(1)(content_hash) > 1'
const conflictSettings =
  'max_bytes_before_external_group_by = 32000000, max_bytes_ratio_before_external_group_by = 0'

/**
 * What a judgement of many deliveries took away is no conflict with what it left: nobody has to look at
 * it. A void is how a conflict is settled by hand, and stays visible.
 */
const isListed = (differing: string): string => `
  (purchase_key, delivery_id) NOT IN (
    SELECT purchase_key, delivery_id
    FROM (${judgementsSql(`SELECT purchase_key FROM ${differing}`)})
    WHERE last.3 NOT IN ('valid', '${voidVerdict}')
  )`

/** The tables `conflicting_purchase` and `conflicting_return` of a statement: what is in the list. */
const conflictTablesSql = `
WITH differing_purchase AS MATERIALIZED (
  SELECT purchase_key FROM delivery WHERE ${recentDeliveries}
  GROUP BY purchase_key ${mayBeConflicting}
),
differing_return AS MATERIALIZED (
  SELECT purchase_key, return_key FROM purchase_return WHERE ${recentReturns}
  GROUP BY purchase_key, return_key ${mayBeConflicting}
),
conflicting_purchase AS MATERIALIZED (
  SELECT purchase_key FROM delivery
  WHERE ${recentDeliveries} AND purchase_key IN (SELECT purchase_key FROM differing_purchase)
    AND ${isListed('differing_purchase')}
  GROUP BY purchase_key ${conflicting}
),
conflicting_return AS MATERIALIZED (
  SELECT purchase_key, return_key FROM purchase_return
  WHERE ${recentReturns} AND (purchase_key, return_key) IN (SELECT purchase_key, return_key FROM differing_return)
    AND ${isListed('differing_return')}
  GROUP BY purchase_key, return_key ${conflicting}
)`

const countSql = `
${conflictTablesSql}
SELECT (SELECT count() FROM conflicting_purchase) + (SELECT count() FROM conflicting_return) AS total
SETTINGS ${conflictSettings}`

/** The number of conflicts in the list. */
export async function countConflicts(warehouse: Pick<Warehouse, 'rows'>): Promise<number> {
  const [row] = await warehouse.rows<{ total: number }>(countSql)
  return row?.total ?? 0
}

const voidsOf = (keys: string): string => `
  SELECT purchase_key, delivery_id FROM (${judgementsSql(keys)}) WHERE last.3 = '${voidVerdict}'`

/**
 * Names and receipts are read only for the conflicts. A delivery that was shipped twice and is not merged
 * yet counts once, hence the exact counts by id.
 */
const conflictsSql = `
${conflictTablesSql}
SELECT kind, publisher_id AS publisherId, transaction_id AS transactionId, return_id AS returnId,
  deliveries, voidDeliveries, toUnixTimestamp64Milli(first_at) AS firstAtMs,
  toUnixTimestamp64Milli(last_at) AS lastAtMs, count() OVER () AS total
FROM (
  SELECT 'purchase' AS kind, any(d.publisher_id) AS publisher_id,
    any(d.transaction_id) AS transaction_id, '' AS return_id, uniqExact(d.delivery_id) AS deliveries,
    uniqExactIf(d.delivery_id, (d.purchase_key, d.delivery_id) IN (
      ${voidsOf('SELECT purchase_key FROM conflicting_purchase')}
    )) AS voidDeliveries,
    min(d.received_at) AS first_at, max(d.received_at) AS last_at
  FROM delivery AS d
  WHERE ${recentDeliveries} AND d.purchase_key IN (SELECT purchase_key FROM conflicting_purchase)
  GROUP BY d.purchase_key
  UNION ALL
  SELECT 'return', any(r.publisher_id), any(r.transaction_id), any(r.return_id),
    uniqExact(r.delivery_id),
    uniqExactIf(r.delivery_id, (r.purchase_key, r.delivery_id) IN (
      ${voidsOf('SELECT purchase_key FROM conflicting_return')}
    )),
    min(r.received_at), max(r.received_at)
  FROM purchase_return AS r
  WHERE ${recentReturns} AND (r.purchase_key, r.return_key) IN (SELECT purchase_key, return_key FROM conflicting_return)
  GROUP BY r.purchase_key, r.return_key
)
ORDER BY last_at DESC, kind, publisherId, transactionId, returnId
LIMIT {limit:UInt32}
SETTINGS ${conflictSettings}`
