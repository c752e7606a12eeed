/**
 * Makes the purchases of a batch of returns pending, those that are known and not older than a day.
 * Any of the days of a purchase finds its attribution.
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
