// The overlay of judgements over the verdicts with which deliveries were stored. The verdict that counts is
// that of the latest judgement, else the stored one. Every look-up names the purchases it is about, since the
// overlay may hold a judgement for each of millions of deliveries.

/** The verdict of a delivery that an operator voided. It is never stored with a delivery. */
export const voidVerdict = 'void'

/** The latest judgement of each judged delivery of some purchases, given as the text of a set. */
export const judgementsSql = (keys: string): string => `
  SELECT purchase_key, delivery_id, max(latest) AS last
  FROM delivery_judgement WHERE purchase_key IN (${keys})
  GROUP BY purchase_key, delivery_id`

/** Keys of those among some purchases of which a delivery was judged, be it one of a return. */
export const judgedKeysSql = (keys: string): string => `
  SELECT purchase_key FROM delivery_judgement WHERE purchase_key IN (${keys})`

/**
 * A condition on rows of `delivery` or `purchase_return`: whether they count, judgements included. A row that is
 * stored as valid is looked for among the judgements that say no, any other among those that say yes, in one
 * set, because ClickHouse analyses its text each time.
 */
export const isValidSql = (keys: string): string => `(
  (verdict = 'valid') != ((purchase_key, delivery_id, verdict = 'valid') IN (
    SELECT purchase_key, delivery_id, max(latest).3 != 'valid'
    FROM delivery_judgement WHERE purchase_key IN (${keys})
    GROUP BY purchase_key, delivery_id
  )))`
