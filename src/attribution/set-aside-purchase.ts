// Sets aside a purchase that cannot be attributed, with the reason, and answers it with the credit that it
// had, so that nothing waits for it. A replay makes it pending again.

import { addDays } from '../domain/day.ts'
import { readFinalDays } from '../days/final-days.ts'
import { warehouseNow } from '../warehouse/instant.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { known } from './batch-sql.ts'
import { frozenVersion } from './frozen-sql.ts'
import type { Range } from './attribution-batch.ts'
import { pend } from '../days/announce.ts'

export const purchaseType = 'purchase'

/** The range must hold exactly one purchase. Doing it again changes nothing. */
export async function setAsidePurchase(
  warehouse: Warehouse,
  { from, to, keyFrom, keyTo }: Range,
  reason: string
): Promise<void> {
  const at = await warehouseNow(warehouse)
  await warehouse.barrier(['pending_purchase', 'purchase', 'delivery', 'attribution'])
  const params = { from, to, keyFrom, keyTo, at }
  // This comes first, so that no purchase is answered without a record of it.
  await warehouse.command(setAsideSql, { ...params, reason })
  await warehouse.command(emptySql, params)
  await warehouse.barrier(['attribution'])
  await warehouse.command(keepSql, params)
}

/**
 * Returns the keys of those that are pending now. Purchases of final days stay as they are: the data they
 * would be attributed from may be gone.
 */
export async function pendPurchases(
  warehouse: Warehouse,
  keys: readonly string[]
): Promise<readonly string[]> {
  if (keys.length === 0) return []
  const { announcedBefore } = await readFinalDays(warehouse)
  const firstDay = announcedBefore === null ? '1970-01-01' : addDays(announcedBefore, -1)
  await warehouse.barrier(['purchase'])
  const found = await warehouse.rows<{ key: string }>(
    `SELECT lower(hex(purchase_key)) AS key ${pendable} LIMIT 10000`,
    { keys, firstDay }
  )
  const pending = found.map(({ key }) => key)
  if (pending.length === 0) return []
  await pend(warehouse, ['purchase'], (at) =>
    warehouse.command(pendSql, { keys: pending, firstDay, at })
  )
  return pending
}

/** Names the purchase as a conversion does, but not the shopper. */
const setAsideSql = `
INSERT INTO set_aside (key, set_aside_at, reason, record)
SELECT lower(hex(p.purchase_key)), {at:DateTime64(6, 'UTC')}, {reason:String},
  concat('{"type":"${purchaseType}","receivedAtMs":', toString(toUnixTimestamp64Milli(p.first.1)),
    ',"publisherId":', toString(p.publisher_id),
    ',"transactionId":', toJSONString(any(d.transaction_id)), '}')
FROM (${known}) AS p
LEFT JOIN (
  SELECT purchase_key, transaction_id FROM delivery
  WHERE (day, publisher_id, purchase_key, delivery_id) IN (
    SELECT toDate(first.1), publisher_id, purchase_key, first.2 FROM (${known})
  )
) AS d ON d.purchase_key = p.purchase_key
GROUP BY p.purchase_key, p.first, p.publisher_id
SETTINGS join_use_nulls = 0`

const days = `SELECT arrayJoin(days) AS day, purchase_key FROM (${known})`

const emptySql = `
INSERT INTO attribution (day, purchase_key, read_at, publisher_id, delivery_id, received_at)
SELECT day, purchase_key, {at:DateTime64(6, 'UTC')}, publisher_id, first.2, first.1
FROM (SELECT arrayJoin(days) AS day, purchase_key, publisher_id, first FROM (${known}))
WHERE (day, purchase_key) NOT IN (
  SELECT day, purchase_key FROM attribution WHERE (day, purchase_key) IN (${days})
)`

const at = `{at:DateTime64(6, 'UTC')}`

const keepSql = `
INSERT INTO attribution
SELECT * REPLACE (if(is_frozen = 1, ${frozenVersion(at)}, ${at}) AS read_at)
FROM attribution FINAL
WHERE (day, purchase_key) IN (${days})`

const pendable = `
FROM purchase
WHERE purchase_key IN (SELECT toFixedString(unhex(arrayJoin({keys:Array(String)})), 16))
GROUP BY purchase_key
HAVING toDate(min(first).1) >= {firstDay:Date}`

const pendSql = `
INSERT INTO pending_purchase (shipped_at, day, purchase_key)
SELECT {at:DateTime64(6, 'UTC')}, arrayMin(groupUniqArrayArray(days)), purchase_key ${pendable}`
