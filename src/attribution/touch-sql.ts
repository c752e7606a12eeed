// The touchpoints of a batch's people, and which identities are crowds, as common table expressions of the
// attribution statement.

/** The identity of a shopper who carries none. */
export const none = `toFixedString('', 16)`

/**
 * The touchpoints of the batch's people, each served ad and kind once with its earliest receipt.
 * That is found among all receipts: a lower bound on the receipt would drop the event that counts
 * and let its repeat count instead, so the lower bound is on the day of serving (14 days before the
 * purchase, and a click may come 7 days after serving, and a day for the clocks).
 *
 * An identity belongs to one publisher (it is hashed with it), so the identity alone finds the rows, in
 * half the time that the tuple took. For a few purchases the tuple is added as a hint for the primary key,
 * which begins with the publisher. A large batch has people in every granule, and finding that out took as
 * long as reading them.
 *
 * Rows are sorted and limited, because grouping by the earliest took ten times as long: nearly every group
 * is one row.
 */
export const touch = (isLarge: boolean): string => `
  SELECT publisher_id, identity, kind, served_ad_id, received_at AS touched_at, login_identity,
    market_id, advertiser_id, campaign_id, ad_group_id, gtin, gtin_key, group_id
  FROM touchpoint
  PREWHERE identity IN (SELECT identity FROM person)
    ${isLarge ? '' : 'AND indexHint((publisher_id, identity) IN (SELECT publisher_id, identity FROM person))'}
  WHERE received_at < toDateTime64({dayMax:Date} + 1, 3, 'UTC')
    AND served_day >= toDate({receivedMin:DateTime64(3, 'UTC')}) - 23
    AND served_day <= {dayMax:Date} + 1
  ORDER BY touched_at
  LIMIT 1 BY publisher_id, identity, kind, served_ad_id`

/** ClickHouse's code of the failure by which the plain statement refuses a batch. */
export const crowdSuspectedCode = 30_000

/**
 * Fails if any identity has more touchpoints than a person makes. They are counted in passing, because a
 * separate look-up read all touchpoints of the batch twice.
 */
export const touchOfPersons = (touches: string): string => `
  SELECT * FROM (
    SELECT *, throwIf(
        count() OVER (PARTITION BY publisher_id, identity) > {crowdMax:UInt32},
        'a crowd is suspected', toInt32(${crowdSuspectedCode})
      ) AS is_crowd
    FROM (${touches})
  )
  WHERE is_crowd = 0`

/** Touchpoints so far, at each instant, of identities that have more than a person makes. */
export const crowdCount = `
  SELECT publisher_id, identity, touched_at,
    sum(touched_count) OVER (PARTITION BY publisher_id, identity ORDER BY touched_at
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS count_so_far
  FROM (
    SELECT publisher_id, identity, touched_at, count() AS touched_count
    FROM touch
    WHERE (publisher_id, identity) IN (
      SELECT publisher_id, identity FROM touch
      GROUP BY publisher_id, identity HAVING count() > {crowdMax:UInt32}
    )
    GROUP BY publisher_id, identity, touched_at
  )`

/** The identities of purchases that are a crowd: too many touchpoints in the 15 days up to it. */
export const crowd = `
  SELECT b.purchase_key AS purchase_key, b.identity AS identity
  FROM (
    SELECT publisher_id, purchase_key, identity, received_at,
      received_at - toIntervalMillisecond({crowdMs:Int64} + 1) AS before_at
    FROM person
    WHERE (publisher_id, identity) IN (SELECT publisher_id, identity FROM crowd_count)
  ) AS b
  ASOF LEFT JOIN crowd_count AS u
    ON u.publisher_id = b.publisher_id AND u.identity = b.identity AND u.touched_at <= b.received_at
  ASOF LEFT JOIN crowd_count AS d
    ON d.publisher_id = b.publisher_id AND d.identity = b.identity AND d.touched_at <= b.before_at
  WHERE ifNull(u.count_so_far, 0) - ifNull(d.count_so_far, 0) > {crowdMax:UInt32}`
