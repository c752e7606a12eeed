// What returns take back from the purchases of a batch (the rule: docs/attribution.md, "Returns"), as
// common table expressions of the attribution statement. Purchases without a return only cost a look for
// one.

import { isValidSql } from '../warehouse/effective-verdict.ts'

/**
 * Makes the purchases of a batch of returns pending that are known and not too old. Their attribution is
 * found under any of their days.
 */
export const pendReturnedSql = `
INSERT INTO pending_purchase (shipped_at, day, purchase_key)
SELECT {visibleAt:DateTime64(6, 'UTC')}, arrayMin(groupUniqArrayArray(days)), purchase_key
FROM purchase
WHERE purchase_key IN (
  SELECT purchase_key FROM returned_purchase WHERE shipped_at = {shippedAt:DateTime64(6, 'UTC')}
)
GROUP BY purchase_key
HAVING toDate(min(first).1) >= {firstDay:Date}`

/**
 * Units taken back, by purchase and product. Each return counts once, by its earliest valid delivery. There
 * may be more units than were bought.
 */
export const returnedSql = (keys: string, { isJudged }: { readonly isJudged: boolean }): string => `
  SELECT purchase_key, product.1 AS gtin_key, sum(product.2) AS quantity
  FROM (
    SELECT purchase_key, return_key,
      argMin((line_gtin_key, line_quantity), (received_at, delivery_id)) AS first
    FROM purchase_return
    WHERE purchase_key IN (${keys}) AND ${isJudged ? isValidSql(keys) : "verdict = 'valid'"}
    GROUP BY purchase_key, return_key
  )
  ARRAY JOIN arrayZip(first.1, first.2) AS product
  GROUP BY purchase_key, gtin_key`

/**
 * Units taken back from each line of the purchase: the valid lines of a product give up their units in
 * order, none more than it has. Running sums are used because a loop over the lines of each line would take
 * minutes for the largest purchases that fit into a request.
 */
const taken = ({ deliveries, returned }: Names): string => `
  SELECT purchase_key, arrayMap(x -> x.2, arraySort(x -> x.1, groupArray((line_index, line_taken)))) AS taken
  FROM (
    SELECT l.purchase_key AS purchase_key, l.line_index AS line_index,
      if(l.verdict = 'valid', least(l.quantity, greatest(0, r.quantity - l.quantity_before)), 0) AS line_taken
    FROM (
      SELECT purchase_key, gtin_key, quantity, verdict, line_index,
        sumIf(quantity, verdict = 'valid') OVER (PARTITION BY purchase_key, gtin_key ORDER BY line_index
          ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) - quantity AS quantity_before
      FROM ${deliveries}
      ARRAY JOIN line_gtin_key AS gtin_key, line_quantity AS quantity, line_verdict AS verdict,
        arrayEnumerate(line_gtin_key) AS line_index
      WHERE purchase_key IN (SELECT purchase_key FROM ${returned})
    ) AS l
    LEFT JOIN ${returned} AS r ON r.purchase_key = l.purchase_key AND r.gtin_key = l.gtin_key
  )
  GROUP BY purchase_key`

/**
 * The deliveries with what remains of each line. A value is the price in nanos times the quantity, so
 * the division gives that price back, exactly.
 */
export const remainingSql = (names: Names): string => `
  SELECT d.purchase_key AS purchase_key, d.delivery_id AS delivery_id, d.publisher_id AS publisher_id,
    d.site_id AS site_id, d.transaction_id AS transaction_id, d.received_at AS received_at,
    d.currency AS currency, d.user_identity AS user_identity, d.login_identity AS login_identity,
    d.line_gtin_key AS line_gtin_key, d.line_group_id AS line_group_id,
    arrayMap((quantity, taken) -> toInt32(quantity - taken),
      d.line_quantity, arrayResize(t.taken, length(d.line_quantity))) AS line_quantity,
    arrayMap((value, quantity, taken) -> if(taken = 0, value, value / greatest(quantity, 1) * (quantity - taken)),
      d.line_value, d.line_quantity, arrayResize(t.taken, length(d.line_quantity))) AS line_value,
    d.line_verdict AS line_verdict
  FROM ${names.deliveries} AS d
  LEFT JOIN (${taken(names)}) AS t ON t.purchase_key = d.purchase_key`

/** The tables to read from. */
interface Names {
  readonly deliveries: string
  readonly returned: string
}
