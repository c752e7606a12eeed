// What is pending: the looks by which batches of purchases are planned.

import { lastReadingSql } from './frozen-sql.ts'

const pendingRows = `
  SELECT shipped_at, day, purchase_key
  FROM pending_purchase
  WHERE shipped_at > {after:DateTime64(6, 'UTC')} AND shipped_at <= {until:DateTime64(6, 'UTC')}
  ORDER BY shipped_at
  LIMIT {rowsMax:UInt32} WITH TIES`

export const anyPendingSql = `
SELECT 1 AS one FROM pending_purchase
WHERE shipped_at > {after:DateTime64(6, 'UTC')} AND shipped_at <= {until:DateTime64(6, 'UTC')}
LIMIT 1`

/**
 * Counts pending purchases by the instant of their shipping, oldest first, and how many of them no reading
 * that began late enough has answered yet. The attribution of a purchase has a row under each of its days,
 * so the day of any of its deliveries finds it.
 */
export const pendingSql = `
WITH pending AS MATERIALIZED (${pendingRows})
SELECT toString(shipped_at) AS shippedAt, count() AS pendingCount, countIf(is_due) AS dueCount
FROM (
  SELECT
    p.shipped_at AS shipped_at,
    a.read_at IS NULL OR a.read_at < p.shipped_at + toIntervalMillisecond({settleMs:Int64}) AS is_due
  FROM pending AS p
  LEFT JOIN (
    SELECT day, purchase_key, ${lastReadingSql} AS read_at
    FROM attribution
    WHERE (day, purchase_key) IN (SELECT day, purchase_key FROM pending)
    GROUP BY day, purchase_key
  ) AS a ON a.day = p.day AND a.purchase_key = p.purchase_key
)
GROUP BY shipped_at
ORDER BY shipped_at`
