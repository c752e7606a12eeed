// The statements that count what a publisher sent. Each reads the rows of one publisher in the days asked
// for, which are UTC days, by which the tables are sorted.

import { judgementsSql } from '../warehouse/effective-verdict.ts'

const none = `toFixedString('', 16)`

const sent = `
  SELECT day, purchase_key, delivery_id, received_at, verdict, content_hash,
    user_identity = ${none} AND login_identity = ${none} AS is_nobody,
    NOT has({siteIds:Array(Int32)}, site_id) AS is_unknown_site,
    length(line_verdict) AS line_count,
    countEqual(line_verdict, 'out-of-range') AS out_of_range_count,
    countEqual(line_verdict, 'no-product') AS no_product_count
  FROM delivery FINAL
  WHERE day >= {fromDay:Date} AND day <= {toDay:Date} AND publisher_id = {publisherId:Int32}`

/** The attribution of a purchase has a row under each day of its deliveries, so no look-up is needed. */
const won = `
  SELECT day, purchase_key, argMax(delivery_id, read_at) AS winner_id,
    argMax(received_at, read_at) AS winner_at
  FROM attribution
  WHERE day >= {fromDay:Date} AND day <= {toDay:Date} AND publisher_id = {publisherId:Int32}
  GROUP BY day, purchase_key`

/** A delivery that no attribution has looked at yet may still turn out to be either. */
const judged = `
  SELECT s.day AS day, s.purchase_key AS purchase_key, s.delivery_id AS delivery_id,
    s.received_at AS received_at, s.content_hash AS content_hash, s.is_nobody AS is_nobody,
    s.is_unknown_site AS is_unknown_site, s.line_count AS line_count,
    s.out_of_range_count AS out_of_range_count, s.no_product_count AS no_product_count,
    w.winner_id AS winner_id, w.winner_at AS winner_at,
    if(o.last.3 = '', toString(s.verdict), o.last.3) AS effective_verdict,
    multiIf(
      effective_verdict != 'valid', effective_verdict,
      w.winner_id = ${none}, 'waiting',
      w.winner_id = s.delivery_id, 'counted',
      'repeat') AS outcome
  FROM sent AS s
  LEFT JOIN won AS w ON w.day = s.day AND w.purchase_key = s.purchase_key
  LEFT JOIN (${judgementsSql('SELECT purchase_key FROM sent')}) AS o
    ON o.purchase_key = s.purchase_key AND o.delivery_id = s.delivery_id`

/** The winners of repeats only, on any day; they are few. */
const firstOfRepeats = `
  SELECT delivery_id, any(content_hash) AS content_hash
  FROM delivery
  WHERE (day, publisher_id, purchase_key, delivery_id) IN (
    SELECT toDate(winner_at), {publisherId:Int32}, purchase_key, winner_id
    FROM judged WHERE outcome = 'repeat'
  )
  GROUP BY delivery_id`

/** Counts deliveries by day and outcome, each in exactly one group. */
export const deliveriesSql = `
WITH sent AS MATERIALIZED (${sent}),
won AS MATERIALIZED (${won}),
judged AS MATERIALIZED (${judged})
SELECT toString(j.day) AS day,
  if(j.outcome = 'repeat' AND f.delivery_id = j.winner_id AND f.content_hash != j.content_hash,
    'conflicting-repeat', j.outcome) AS outcome,
  count() AS count,
  countIf(is_nobody) AS withoutShopper,
  countIf(is_unknown_site) AS unknownSites,
  sum(line_count) AS lines,
  sum(out_of_range_count) AS linesOutOfRange,
  sum(no_product_count) AS linesWithoutProduct,
  toUnixTimestamp64Milli(max(received_at)) AS lastAtMs
FROM judged AS j
LEFT JOIN (${firstOfRepeats}) AS f ON f.delivery_id = j.winner_id
GROUP BY day, outcome
ORDER BY day, outcome
SETTINGS join_use_nulls = 0`

/** An event that came too late for the day of its receipt is counted on the day on which it came. */
const eventDay = `if(verdict = 'too-late', filed_day, toDate(received_at))`

/**
 * Counted events are filed under the day of serving, where FINAL finds the earliest receipt of each, inside
 * the range or not (0004-intake.sql). Only then is the range applied.
 */
const events = `
FROM intake_event FINAL
WHERE publisher_id = {publisherId:Int32}
  AND filed_day >= {filedFrom:Date} AND filed_day <= {filedTo:Date}
  AND ${eventDay} >= {fromDay:Date} AND ${eventDay} <= {toDay:Date}`

// Conditions must not run before FINAL, or a repeat would replace the event it repeats.
const afterFinal = 'SETTINGS optimize_move_to_prewhere_if_final = 0'

export const eventsSql = `
SELECT toString(${eventDay}) AS day, toString(kind) AS kind, toString(verdict) AS outcome,
  count() AS count,
  countIf(NOT has({siteIds:Array(Int32)}, site_id)) AS unknownSites,
  countIf(NOT has({marketIds:Array(Int32)}, market_id)) AS unknownMarkets,
  toUnixTimestamp64Milli(max(received_at)) AS lastAtMs
${events}
GROUP BY day, kind, outcome
ORDER BY day, kind, outcome
${afterFinal}`

const deliveriesOfDays = `
  FROM delivery
  WHERE day >= {fromDay:Date} AND day <= {toDay:Date} AND publisher_id = {publisherId:Int32}`

/**
 * A record that was set aside and shipped later is an ordinary delivery by now. Deliveries are looked at by the keys of
 * what was set aside, which are few.
 */
export const setAsideSql = `
SELECT toString(s.day) AS day, count() AS count
FROM intake_set_aside AS s FINAL
WHERE s.publisher_id = {publisherId:Int32} AND s.day >= {fromDay:Date} AND s.day <= {toDay:Date}
  AND s.key NOT IN (
    SELECT lower(hex(delivery_id)) ${deliveriesOfDays}
      AND lower(hex(delivery_id)) IN (
        SELECT key FROM intake_set_aside
        WHERE publisher_id = {publisherId:Int32} AND day >= {fromDay:Date} AND day <= {toDay:Date}
      )
  )
GROUP BY day ORDER BY day`

/** A transaction as it looks: composed characters, no invisible ones, no blanks at the ends. */
const lookSql = `replaceRegexpAll(
    replaceRegexpAll(normalizeUTF8NFKC(transaction_id), '\\\\p{Cf}+', ''),
    '^[\\\\s\\\\p{Z}]+|[\\\\s\\\\p{Z}]+$', '')`

/**
 * Most transactions are as they look. The few that are not are found first, and only transactions that look
 * like one of them are grouped.
 */
export const lookAlikesSql = `
SELECT toUInt32(sum(spellings)) AS count
FROM (
  SELECT uniqExact(transaction_id) AS spellings ${deliveriesOfDays}
    AND ${lookSql} IN (
      SELECT DISTINCT ${lookSql} AS look ${deliveriesOfDays}
        AND transaction_id != ${lookSql} AND look != ''
      LIMIT {oddMax:UInt32}
    )
  GROUP BY ${lookSql}
  HAVING spellings > 1
)`

const mostNamed = `
GROUP BY id ORDER BY count DESC, id LIMIT {idsMax:UInt32}`

export const unknownConversionSitesSql = `
SELECT site_id AS id, count() AS count
FROM delivery FINAL
WHERE day >= {fromDay:Date} AND day <= {toDay:Date} AND publisher_id = {publisherId:Int32}
  AND NOT has({siteIds:Array(Int32)}, site_id)
${mostNamed}`

export const unknownAdSitesSql = `
SELECT site_id AS id, count() AS count ${events}
  AND NOT has({siteIds:Array(Int32)}, site_id)
${mostNamed}
${afterFinal}`

export const unknownAdMarketsSql = `
SELECT market_id AS id, count() AS count ${events}
  AND NOT has({marketIds:Array(Int32)}, market_id)
${mostNamed}
${afterFinal}`
