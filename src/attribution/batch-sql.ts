// What a batch of purchases is, and what has to be known and marked before it is attributed. Statements name
// its purchases by their range of `shipped_at` in `pending_purchase`, so no list of keys is sent.

import { judgedKeysSql } from '../warehouse/effective-verdict.ts'

/** The rows of a batch. The keys divide it where a single instant of shipping holds too many. */
export const batchRows = `
  FROM pending_purchase
  WHERE shipped_at >= {from:DateTime64(6, 'UTC')} AND shipped_at <= {to:DateTime64(6, 'UTC')}
    AND purchase_key >= toFixedString(unhex({keyFrom:String}), 16)
    AND purchase_key <= toFixedString(unhex({keyTo:String}), 16)`

export const batchKeys = `
  SELECT DISTINCT purchase_key ${batchRows}`

/** The purchases of the batch, with their winner so far and all days on which they were ever filed. */
export const known = `
  SELECT purchase_key, any(publisher_id) AS publisher_id, groupUniqArrayArray(days) AS days, min(first) AS first
  FROM purchase
  WHERE purchase_key IN (${batchKeys})
  GROUP BY purchase_key`

/** The rows that attribution wrote before of the purchases. */
const former = (purchases: string): string => `
  FROM attribution
  WHERE (day, purchase_key) IN (SELECT arrayJoin(days), purchase_key FROM ${purchases})`

/**
 * From when to when the deliveries of the batch were received, which bounds the weeks of touchpoints that the main
 * statement reads, and whether any was judged, has returns, was credited before or is frozen. A judgement or a return that this
 * does not see makes its purchase pending under an instant later than that of the reading, which began before.
 */
export const batchSpanSql = `
WITH (SELECT (countIf(notEmpty(line_index)) > 0, max(is_frozen)) ${former(`(${known})`)}) AS was
SELECT toString(min(first.1)) AS receivedMin,
  toString(arrayMax(groupUniqArrayArray(days))) AS dayMax,
  toUInt8((SELECT count() FROM (${judgedKeysSql(batchKeys)})) > 0) AS isJudged,
  toUInt8((SELECT count() FROM purchase_return WHERE purchase_key IN (${batchKeys})) > 0) AS isReturned,
  was.1 AS wasCredited, was.2 AS isFrozen
FROM purchase WHERE purchase_key IN (${batchKeys})`

/**
 * Marks where the purchases of the batch were counted so far, if any was. An earlier delivery moves a purchase within
 * its day, possibly across the midnight of a market, and the new row replaces the one that told from where.
 * So the whole span between the two places is marked. Within one hour, one hour more is marked: a link
 * between days is longer than that, and some markets have their midnight at half past. If a delivery was
 * judged, all days on which the purchase may be filed are marked.
 */
export const touchFormerSql = `
INSERT INTO touched_span (from_at, to_at, market_id, touched_until)
WITH known AS MATERIALIZED (${known})
SELECT toDateTime(toStartOfHour(least_at), 'UTC') AS from_at, toDateTime(toStartOfHour(greatest_at), 'UTC') + if(least_at != greatest_at AND toStartOfHour(least_at) = toStartOfHour(greatest_at), 7199, 3599) AS to_at, -1,
  {readAt:DateTime64(6, 'UTC')} + toIntervalSecond(300)
FROM (
  SELECT if(is_judged, toDateTime64(arrayMin(days), 3, 'UTC'), least(stood_at, first_at)) AS least_at,
    if(is_judged, toDateTime64(arrayMax(days), 3, 'UTC') + 86399, greatest(stood_at, first_at)) AS greatest_at
  FROM (
    SELECT a.received_at AS stood_at, k.first.1 AS first_at, k.days AS days,
      a.purchase_key IN (${judgedKeysSql(batchKeys)}) AS is_judged
    FROM (SELECT purchase_key, received_at ${former('known')} AND notEmpty(line_index)) AS a
    INNER JOIN known AS k ON k.purchase_key = a.purchase_key
  )
)
GROUP BY from_at, to_at`
