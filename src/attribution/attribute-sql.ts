// Attribution in SQL (the rule: docs/attribution.md). Materialized common table expressions keep ClickHouse
// from computing them again for every use. It still analyses the text of each once for every use, and of
// those inside of it: the fewer uses, the less a batch costs before it reads a row (1.7 s of CPU when what
// returns leave was used six times).

import { isValidSql } from '../warehouse/effective-verdict.ts'
import { batchKeys, known } from './batch-sql.ts'
import { remainingSql, returnedSql } from './returned-sql.ts'
import { crowd, crowdCount, none, touch, touchOfPersons } from './touch-sql.ts'

/** One row for each identity that a delivery carries. */
const identitiesOf = `arrayJoin(arrayDistinct(arrayFilter(i -> i != ${none}, [user_identity, login_identity])))`

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

/** ClickHouse's code of the failure by which the statement refuses a batch of too many lines. */
export const tooManyLinesCode = 30_001

/**
 * The winning deliveries as they came, before returns. Fails as soon as they have too many lines: counting them
 * beforehand looked up every delivery twice.
 */
const bought = (isJudged: boolean): string => `
  SELECT purchase_key, delivery_id, publisher_id, site_id, transaction_id, received_at, currency,
    user_identity, login_identity,
    line_gtin_key, line_group_id, line_quantity, line_value, line_verdict
  FROM delivery
  WHERE (day, publisher_id, purchase_key, delivery_id) IN (
    SELECT toDate(first.1), publisher_id, purchase_key, first.2 FROM ${isJudged ? `(${judgedWinner})` : 'known'}
  )
  QUALIFY throwIf(
    sum(length(line_verdict)) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) > {linesMax:UInt64},
    'too many lines', toInt32(${tooManyLinesCode})
  ) = 0
  LIMIT 1 BY purchase_key`

const person = `
  SELECT publisher_id, purchase_key, received_at, ${identitiesOf} AS identity FROM bought`

/** The lines that may be credited, with what returns leave of them. */
const line = (deliveries: 'bought' | 'remaining'): string => `
  SELECT purchase_key, gtin_key, group_id, line_index, quantity, value
  FROM ${deliveries}
  ARRAY JOIN line_gtin_key AS gtin_key, line_group_id AS group_id, line_quantity AS quantity,
    line_value AS value, line_verdict AS verdict, arrayMap(i -> i - 1, arrayEnumerate(line_gtin_key)) AS line_index
  WHERE verdict = 'valid'`

/**
 * Each product that was bought, under each identity of its purchase. A product comes once, however many
 * lines it has: thousands of equal lines would each join everything their shopper ever saw of the product.
 * They are told apart within the arrays of a purchase, since `DISTINCT` over all lines took a sixth of the
 * statement.
 */
const product = `
  SELECT publisher_id, purchase_key, received_at, login_identity, product.1 AS gtin_key, product.2 AS group_id,
    ${identitiesOf} AS identity
  FROM bought
  ARRAY JOIN arrayDistinct(arrayFilter((product, verdict) -> verdict = 'valid',
    arrayZip(line_gtin_key, line_group_id), line_verdict)) AS product`

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

/** What an attribution keeps of the touchpoint that won. */
const kept = [
  'touched_at',
  'served_ad_id',
  'market_id',
  'advertiser_id',
  'campaign_id',
  'ad_group_id',
  'gtin',
]

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
    ${kept.map((name) => `t.${name} AS ${name}`).join(', ')}
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
 * ad; among impressions, which are all direct, the latest wins, then the greater served ad. Candidates are sorted and
 * limited, because `argMax` of a tuple keeps columns for each group and took four times as long.
 */
const best = (products: string): string => `
  SELECT purchase_key, gtin_key, group_id,
    multiIf(NOT max(is_click), 'none', maxIf(is_direct, is_click), 'direct', 'in-group') AS click_rule,
    ${kept.map((name) => `anyIf(${name}, is_click) AS click_${name}`).join(', ')},
    ${kept.map((name) => `anyIf(${name}, NOT is_click) AS view_${name}`).join(', ')}
  FROM (
    SELECT * FROM (${candidate(products)})
    ORDER BY is_direct DESC, touched_at DESC, served_ad_id DESC
    LIMIT 1 BY purchase_key, gtin_key, group_id, is_click
  )
  GROUP BY purchase_key, gtin_key, group_id`

/** The arrays of an attribution, and what each holds of a credited line. */
const creditColumns = [
  ['line_index', 'l.line_index'],
  ['line_quantity', 'l.quantity'],
  ['line_value', 'l.value'],
  ['click_rule', 'b.click_rule'],
  ['click_at', 'b.click_touched_at'],
  ['click_served_ad_id', 'b.click_served_ad_id'],
  ['click_market_id', 'b.click_market_id'],
  ['click_advertiser_id', 'b.click_advertiser_id'],
  ['click_campaign_id', 'b.click_campaign_id'],
  ['click_ad_group_id', 'b.click_ad_group_id'],
  ['click_gtin', 'b.click_gtin'],
  ['view_at', 'b.view_touched_at'],
  ['view_served_ad_id', 'b.view_served_ad_id'],
  ['view_market_id', 'b.view_market_id'],
  ['view_advertiser_id', 'b.view_advertiser_id'],
  ['view_campaign_id', 'b.view_campaign_id'],
  ['view_ad_group_id', 'b.view_ad_group_id'],
  ['view_gtin', 'b.view_gtin'],
] as const

export const creditNames = creditColumns.map(([name]) => name)

/** Gives what remains of each line the credit of its product. */
const credit = ({ products, isReturned }: Pick<Form, 'products' | 'isReturned'>): string => `
  SELECT l.purchase_key AS purchase_key, (${creditColumns.map(([, name]) => name).join(', ')}) AS credit
  FROM (${line(isReturned ? 'remaining' : 'bought')}) AS l
  INNER JOIN (${best(products)}) AS b
    ON b.purchase_key = l.purchase_key AND b.gtin_key = l.gtin_key AND b.group_id = l.group_id`

const frozen = `
  SELECT purchase_key FROM frozen_purchase WHERE purchase_key IN (SELECT purchase_key FROM known)`

const afterReturns = (isJudged: boolean): string => `
returned AS MATERIALIZED (${returnedSql(batchKeys, { isJudged })}),
remaining AS MATERIALIZED (${remainingSql({ deliveries: 'bought', returned: 'returned' })}),
`

interface Form extends BatchForm {
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
 * frozen row (`frozen-sql.ts`), and keep an earlier delivery from moving the credit to another day.
 */
const attribute = ({ isJudged, isReturned, touches, products, crowds }: Form): string => `
INSERT INTO attribution (
  day, purchase_key, read_at, is_frozen,
  publisher_id, site_id, transaction_id, delivery_id, received_at, currency,
  ${creditNames.join(', ')}
)
WITH
known AS MATERIALIZED (${known}),
bought AS MATERIALIZED (${bought(isJudged)}),
${isReturned ? afterReturns(isJudged) : ''}person AS MATERIALIZED (${person}),
touch AS MATERIALIZED (${touches})${crowds}
SELECT
  day, purchase_key, {readAt:DateTime64(6, 'UTC')}, 0,
  publisher_id, site_id, transaction_id, delivery_id, received_at, currency,
  ${creditColumns.map((_, index) => `arrayMap(x -> x.${index + 1}, credits)`).join(', ')}
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
      arraySort(x -> x.1, groupArray(credit)) AS credits
    FROM (${credit({ products, isReturned })})
    GROUP BY purchase_key
  ) AS c ON c.purchase_key = k.purchase_key
)
SETTINGS join_use_nulls = 0, allow_custom_error_code_in_throwif = 1,
  max_rows_in_join = ${touchpointsMax}`

/** Which parts of a statement its batch needs. */
export interface BatchForm {
  /** Whether any delivery of its purchases was judged. Few are, and looking at judgements makes the statement larger. */
  readonly isJudged: boolean
  /** Whether anything of its purchases was returned. */
  readonly isReturned: boolean
}

interface Batch extends BatchForm {
  /** Whether most granules of touchpoints hold one of the batch's people. */
  readonly isLarge: boolean
}

/**
 * Fails with `crowdSuspectedCode` if an identity may be a crowd. Nothing has been written by then, because
 * ClickHouse reads the touchpoints, one side of the join, whole before the first line.
 */
export function attributeSql(batch: Batch): string {
  return attribute({
    ...batch,
    touches: touchOfPersons(touch(batch.isLarge)),
    products: product,
    crowds: '',
  })
}

/** The same with crowds counted exactly, which costs more than the rest of the statement. */
export function attributeWithCrowdsSql(batch: Batch): string {
  return attribute({
    ...batch,
    touches: touch(batch.isLarge),
    products: productWithoutCrowds,
    crowds: `, crowd_count AS MATERIALIZED (${crowdCount}), crowd AS MATERIALIZED (${crowd})`,
  })
}
