// The statements of judging again.

import { judgementsSql } from '../../warehouse/effective-verdict.ts'

const ofRange = `
  publisher_id = {publisherId:Int32}
    AND received_at >= {from:DateTime64(3, 'UTC')} AND received_at < {to:DateTime64(3, 'UTC')}
    AND (purchase_key, delivery_id) > (toFixedString(unhex({afterKey:String}), 16), toFixedString(unhex({afterId:String}), 16))`

interface Source {
  readonly from: string
  readonly currency: string
  readonly value: string
}

/** A page in the order of purchase and delivery, each delivery once, with its latest judgement. */
const pageOf = ({ from, currency, value }: Source): string => `
WITH page AS MATERIALIZED (
  SELECT purchase_key, delivery_id, received_at, toString(verdict) AS stored, toString(origin) AS origin,
    toString(key_id) AS key_id, source_address, ${currency} AS currency, ${value} AS value
  ${from}
  ORDER BY purchase_key, delivery_id
  LIMIT 1 BY purchase_key, delivery_id
  LIMIT {pageRowsMax:UInt32}
)
SELECT lower(hex(p.purchase_key)) AS purchaseKey, lower(hex(p.delivery_id)) AS deliveryId,
  toUnixTimestamp64Milli(p.received_at) AS receivedAtMs, p.stored AS stored, p.origin AS origin,
  p.key_id AS keyId, p.source_address AS address, p.currency AS currency, p.value AS value,
  j.last.3 AS judged, j.last.2 AS judgementId, if(j.last.3 = '', '', toString(j.last.1)) AS judgedAt
FROM page AS p
LEFT JOIN (${judgementsSql('SELECT purchase_key FROM page')}) AS j
  ON j.purchase_key = p.purchase_key AND j.delivery_id = p.delivery_id
ORDER BY p.purchase_key, p.delivery_id
SETTINGS join_use_nulls = 0`

export const boughtSql = pageOf({
  from: `FROM delivery WHERE day = {day:Date} AND ${ofRange}`,
  currency: 'toString(currency)',
  value: 'toString(arraySum(line_value))',
})

export const returnedPageSql = pageOf({
  from: `FROM purchase_return WHERE ${ofRange}`,
  currency: `''`,
  value: `'0'`,
})

const insertPart = 'INSERT INTO judgement_part (judgement_id, scan, part, is_done, began_at, tally)'
const partValues = (isDone: 0 | 1, tally: string): string => `
SELECT {id:String}, {scan:UInt32}, {part:String}, ${isDone}, {beganAt:DateTime64(6, 'UTC')}, ${tally}`

export const beginPartSql = `${insertPart} ${partValues(0, `''`)}`
export const partDoneSql = `${insertPart} ${partValues(1, '{tally:String}')}`

export const doneSql = `
INSERT INTO judgement (id, publisher_id, from_at, to_at, requested_at, reason, is_dry_run, assume, policy,
  key_id, key_name, stage, changed_at)
SELECT id, publisher_id, from_at, to_at, requested_at, reason, is_dry_run, assume, policy,
  key_id, key_name, 2, now64(6)
FROM judgement FINAL WHERE id = {id:String} AND stage = 1`

export const lostCreditSql = `
SELECT toString(currency) AS currency, toUInt32(count()) AS count, toInt64(sum(arraySum(line_quantity))) AS units,
  toString(sum(arraySum(line_value))) AS value
FROM attribution FINAL
WHERE day = {day:Date}
  AND purchase_key IN (SELECT toFixedString(unhex(arrayJoin({keys:Array(String)})), 16))
  AND (purchase_key, delivery_id) IN (
    SELECT toFixedString(unhex(pair.1), 16), toFixedString(unhex(pair.2), 16)
    FROM (SELECT arrayJoin(arrayZip({keys:Array(String)}, {ids:Array(String)})) AS pair)
  )
  AND notEmpty(line_index)
GROUP BY currency`
