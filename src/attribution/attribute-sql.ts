// Attribution in SQL (the rule: docs/attribution.md). The statements name the purchases of a batch by
// their range of `shipped_at` in `pending_purchase`, so no list of keys is sent. Materialized common table
// expressions keep ClickHouse from computing them again for every use. It still analyses the text of each
// once for every use, and of those inside of it: the fewer uses, the less a batch costs before it reads a
// row (1.7 s of CPU when what returns leave was used six times).

import { isValidSql, judgedKeysSql } from '../warehouse/effective-verdict.ts'
import { remainingSql, returnedSql } from './returned-sql.ts'

/** The rows of a batch. The keys divide it where a single instant of shipping holds too many. */
export const batchRows = `
  FROM pending_purchase
  WHERE shipped_at >= {from:DateTime64(6, 'UTC')} AND shipped_at <= {to:DateTime64(6, 'UTC')}
    AND purchase_key >= toFixedString(unhex({keyFrom:String}), 16)
    AND purchase_key <= toFixedString(unhex({keyTo:String}), 16)`

const batchKeys = `
  SELECT DISTINCT purchase_key ${batchRows}`

/**
 * From when to when the deliveries of a batch were received, which bounds the weeks of touchpoints that
 * the main statement reads, whether any of them was judged, and the instant at which the reading of the batch
 * begins. A judgement that becomes visible after this makes its purchase pending under a later instant.
 */
export const batchSpanSql = `
SELECT toString(now64(6)) AS readAt, toString(min(first.1)) AS receivedMin,
  toString(arrayMax(groupUniqArrayArray(days))) AS dayMax,
  toUInt8((SELECT count() FROM (${judgedKeysSql(batchKeys)})) > 0) AS isJudged
FROM purchase WHERE purchase_key IN (${batchKeys})`

const none = `toFixedString('', 16)`

/** One row for each identity that a delivery carries. */
const identitiesOf = `arrayJoin(arrayDistinct(arrayFilter(i -> i != ${none}, [user_identity, login_identity])))`

/** The purchases of the batch, with their winner so far and all days on which they were ever filed. */
export const known = `
  SELECT purchase_key, any(publisher_id) AS publisher_id, groupUniqArrayArray(days) AS days, min(first) AS first
  FROM purchase
  WHERE purchase_key IN (${batchKeys})
  GROUP BY purchase_key`

/** The number of lines of the purchases of a batch, as if no delivery had been judged. */
export const lineCountSql = `
SELECT sum(length(line_verdict)) AS lineCount FROM delivery
WHERE (day, publisher_id, purchase_key, delivery_id) IN (
  SELECT toDate(first.1), publisher_id, purchase_key, first.2 FROM (${known})
)`

/**
 * The winning delivery of each purchase by judgements: least receipt, then least delivery id. Without them it is
 * `first` of the purchase, which is only what was once valid. `days` are those of all deliveries that ever
 * were, so these are read by the sorting key.
 */
const judgedWinner = `
  SELECT purchase_key, publisher_id, min((received_at, delivery_id)) AS first
  FROM delivery
  WHERE (day, publisher_id, purchase_key) IN (SELECT arrayJoin(days), publisher_id, purchase_key FROM known)
    AND ${isValidSql(batchKeys)}
  GROUP BY purchase_key, publisher_id`

/** The winning deliveries as they came, before returns. */
const bought = (isJudged: boolean): string => `
  SELECT purchase_key, delivery_id, publisher_id, site_id, transaction_id, received_at, currency,
    user_identity, login_identity,
    line_gtin_key, line_group_id, line_quantity, line_value, line_verdict
  FROM delivery
  WHERE (day, publisher_id, purchase_key, delivery_id) IN (
    SELECT toDate(first.1), publisher_id, purchase_key, first.2 FROM ${isJudged ? `(${judgedWinner})` : 'known'}
  )
  LIMIT 1 BY purchase_key`

const person = `
  SELECT publisher_id, purchase_key, received_at, ${identitiesOf} AS identity FROM bought`

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
const touch = (isLarge: boolean): string => `
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
const touchOfPersons = (touches: string): string => `
  SELECT * FROM (
    SELECT *, throwIf(
        count() OVER (PARTITION BY publisher_id, identity) > {crowdMax:UInt32},
        'a crowd is suspected', toInt32(${crowdSuspectedCode})
      ) AS is_crowd
    FROM (${touches})
  )
  WHERE is_crowd = 0`

/** Touchpoints so far, at each instant, of identities that have more than a person makes. */
const crowdCount = `
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
const crowd = `
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

/**
 * Marks where the purchases of the batch were counted so far. An earlier delivery moves a purchase within
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
    FROM (
      SELECT purchase_key, received_at FROM attribution
      WHERE (day, purchase_key) IN (SELECT arrayJoin(days), purchase_key FROM known)
        AND notEmpty(line_index)
    ) AS a
    INNER JOIN known AS k ON k.purchase_key = a.purchase_key
  )
)
GROUP BY from_at, to_at`

/** The lines that may be credited, of the deliveries as they came or of what remains of them. */
const linesOf = (deliveries: 'bought' | 'remaining'): string => `
  SELECT publisher_id, purchase_key, received_at, user_identity, login_identity,
    gtin_key, group_id, quantity, value, line_index
  FROM ${deliveries}
  ARRAY JOIN line_gtin_key AS gtin_key, line_group_id AS group_id, line_quantity AS quantity,
    line_value AS value, line_verdict AS verdict, arrayMap(i -> i - 1, arrayEnumerate(line_gtin_key)) AS line_index
  WHERE verdict = 'valid'`

/**
 * Each product that was bought, under each identity of its purchase. A product comes once, however many
 * lines it has: thousands of equal lines would each join everything their shopper ever saw of the product.
 */
const product = `
  SELECT publisher_id, purchase_key, received_at, login_identity, gtin_key, group_id, ${identitiesOf} AS identity
  FROM (
    SELECT DISTINCT publisher_id, purchase_key, received_at, user_identity, login_identity, gtin_key, group_id
    FROM (${linesOf('bought')})
  )`

/** The same without the identities of crowds, which join nothing and distinguish nobody. */
const productWithoutCrowds = `
  SELECT * REPLACE (
    if((purchase_key, login_identity) IN (SELECT purchase_key, identity FROM crowd), ${none}, login_identity) AS login_identity
  )
  FROM (${product})
  WHERE (purchase_key, identity) NOT IN (SELECT purchase_key, identity FROM crowd)`

// What a line and a touchpoint have in common: the product or its group. The hashes only serve to join;
// the condition tells apart two that collide.
const productKey = 'cityHash64(gtin_key)'
const groupKey = `cityHash64('group', group_id)`

/**
 * Every pair of a purchased product and a touchpoint of the same person that may earn credit. The
 * person is the same by the logged-in id, or by the user id where not both carry a logged-in id
 * and those differ. A crowd's identity is no identity.
 *
 * Joining by identity alone paired every line of a purchase with everything its shopper ever saw. A pair may
 * come twice, by product and by group, which does not change which one is best.
 */
const candidate = (products: string): string => `
  SELECT l.purchase_key AS purchase_key, l.gtin_key AS gtin_key, l.group_id AS group_id,
    t.kind = 'click' AS is_click, t.gtin_key = l.gtin_key AS is_direct,
    t.touched_at AS touched_at, t.served_ad_id AS served_ad_id,
    (t.market_id, t.advertiser_id, t.campaign_id, t.ad_group_id, t.gtin) AS ad
  FROM (
    SELECT *, arrayJoin(if(group_id = '', [${productKey}], [${productKey}, ${groupKey}])) AS common
    FROM (${products})
  ) AS l
  INNER JOIN (
    SELECT *,
      arrayJoin(if(kind = 'click' AND group_id != '', [${productKey}, ${groupKey}], [${productKey}])) AS common
    FROM touch
  ) AS t ON t.identity = l.identity AND t.common = l.common
  WHERE t.publisher_id = l.publisher_id AND t.touched_at <= l.received_at
    AND (t.login_identity = ${none} OR l.login_identity = ${none} OR t.login_identity = l.login_identity)
    AND if(t.kind = 'click',
      t.touched_at >= l.received_at - toIntervalMillisecond({clickMs:Int64})
        AND (t.gtin_key = l.gtin_key OR (t.group_id != '' AND t.group_id = l.group_id)),
      t.touched_at >= l.received_at - toIntervalMillisecond({viewMs:Int64}) AND t.gtin_key = l.gtin_key)`

/**
 * The best of each product. Among clicks direct beats in-group, then the latest wins, then the greater served
 * ad; among impressions the latest wins, then the greater served ad.
 */
const best = (products: string): string => `
  SELECT purchase_key, gtin_key, group_id,
    multiIf(countIf(is_click) = 0, 'none', maxIf(is_direct, is_click) = 1, 'direct', 'in-group') AS click_rule,
    argMaxIf((touched_at, served_ad_id, ad), (is_direct, touched_at, served_ad_id), is_click) AS click,
    argMaxIf((touched_at, served_ad_id, ad), (touched_at, served_ad_id), NOT is_click) AS view
  FROM (${candidate(products)})
  GROUP BY purchase_key, gtin_key, group_id`

/** Gives what remains of each line the credit of its product. */
const credit = (products: string): string => `
  SELECT l.purchase_key AS purchase_key, l.line_index AS line_index, l.quantity AS quantity, l.value AS value,
    b.click_rule AS click_rule, b.click AS click, b.view AS view
  FROM (SELECT purchase_key, gtin_key, group_id, line_index, quantity, value FROM (${linesOf('remaining')})) AS l
  INNER JOIN (${best(products)}) AS b
    ON b.purchase_key = l.purchase_key AND b.gtin_key = l.gtin_key AND b.group_id = l.group_id`

const creditColumns = [
  ['line_index', 'x -> x.1'],
  ['line_quantity', 'x -> x.2'],
  ['line_value', 'x -> x.3'],
  ['click_rule', 'x -> x.4'],
  ['click_at', 'x -> x.5.1'],
  ['click_served_ad_id', 'x -> x.5.2'],
  ['click_market_id', 'x -> x.5.3.1'],
  ['click_advertiser_id', 'x -> x.5.3.2'],
  ['click_campaign_id', 'x -> x.5.3.3'],
  ['click_ad_group_id', 'x -> x.5.3.4'],
  ['click_gtin', 'x -> x.5.3.5'],
  ['view_at', 'x -> x.6.1'],
  ['view_served_ad_id', 'x -> x.6.2'],
  ['view_market_id', 'x -> x.6.3.1'],
  ['view_advertiser_id', 'x -> x.6.3.2'],
  ['view_campaign_id', 'x -> x.6.3.3'],
  ['view_ad_group_id', 'x -> x.6.3.4'],
  ['view_gtin', 'x -> x.6.3.5'],
] as const

const frozen = `
  SELECT purchase_key FROM frozen_purchase WHERE purchase_key IN (SELECT purchase_key FROM known)`

interface Form {
  readonly isJudged: boolean
  readonly touches: string
  readonly products: string
  readonly crowds: string
}

/** A batch with more touchpoints is divided. A touchpoint counts under its product and under its group. */
const touchpointsMax = 8_000_000

/**
 * Replaces the whole attribution of every purchase of the batch. Without credit, or without a delivery
 * that may win, the row is empty. A purchase that moved to an earlier day gets an empty row under the day
 * that it left. A frozen purchase gets only empty rows: they answer what is pending, lose against the
 * frozen row, and keep an earlier delivery from moving the credit to another day.
 */
const attribute = ({ isJudged, touches, products, crowds }: Form): string => `
INSERT INTO attribution (
  day, purchase_key, read_at, is_frozen,
  publisher_id, site_id, transaction_id, delivery_id, received_at, currency,
  ${creditColumns.map(([name]) => name).join(', ')}
)
WITH
known AS MATERIALIZED (${known}),
bought AS MATERIALIZED (${bought(isJudged)}),
returned AS MATERIALIZED (${returnedSql(batchKeys, { isJudged })}),
remaining AS MATERIALIZED (${remainingSql({ deliveries: 'bought', returned: 'returned' })}),
person AS MATERIALIZED (${person}),
touch AS MATERIALIZED (${touches})${crowds}
SELECT
  day, purchase_key, {readAt:DateTime64(6, 'UTC')}, 0,
  publisher_id, site_id, transaction_id, delivery_id, received_at, currency,
  ${creditColumns.map(([, lambda]) => `arrayMap(${lambda}, credits)`).join(', ')}
FROM (
  SELECT
    arrayJoin(k.days) AS day, k.purchase_key AS purchase_key, k.publisher_id AS publisher_id,
    b.site_id AS site_id, b.transaction_id AS transaction_id, b.delivery_id AS delivery_id,
    b.received_at AS received_at, b.currency AS currency,
    if(day = toDate(b.received_at) AND k.purchase_key NOT IN (${frozen}), c.credits, []) AS credits
  FROM known AS k
  LEFT JOIN bought AS b ON b.purchase_key = k.purchase_key
  LEFT JOIN (
    SELECT purchase_key,
      arraySort(x -> x.1, groupArray((line_index, quantity, value, click_rule, click, view))) AS credits
    FROM (${credit(products)})
    GROUP BY purchase_key
  ) AS c ON c.purchase_key = k.purchase_key
)
SETTINGS join_use_nulls = 0, allow_custom_error_code_in_throwif = 1,
  max_rows_in_join = ${touchpointsMax}`

interface Batch {
  /** Whether most granules of touchpoints hold one of the batch's people. */
  readonly isLarge: boolean
  /** Whether any delivery of its purchases was judged. Few are, and looking at judgements makes the statement larger. */
  readonly isJudged: boolean
}

/**
 * Fails with `crowdSuspectedCode` if an identity may be a crowd. Nothing has been written by then, because
 * ClickHouse reads the touchpoints, one side of the join, whole before the first line.
 */
export function attributeSql({ isLarge, isJudged }: Batch): string {
  return attribute({
    isJudged,
    touches: touchOfPersons(touch(isLarge)),
    products: product,
    crowds: '',
  })
}

/** The same with crowds counted exactly, which costs more than the rest of the statement. */
export function attributeWithCrowdsSql({ isLarge, isJudged }: Batch): string {
  return attribute({
    isJudged,
    touches: touch(isLarge),
    products: productWithoutCrowds,
    crowds: `, crowd_count AS MATERIALIZED (${crowdCount}), crowd AS MATERIALIZED (${crowd})`,
  })
}
