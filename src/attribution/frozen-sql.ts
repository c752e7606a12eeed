// The attribution of purchases whose shopper was erased. Who earned the credit cannot be decided again, since the
// touchpoints are gone, so it is kept in a frozen row. How much was bought can: returns and judgements need no
// identity. So a reading writes the frozen row anew, with what they leave of it.

import { judgementsSql } from '../warehouse/effective-verdict.ts'
import { creditNames } from './attribute-sql.ts'
import type { BatchForm } from './attribute-sql.ts'
import { batchKeys, known } from './batch-sql.ts'
import { remainingSql, returnedSql } from './returned-sql.ts'

/**
 * The version of a frozen row lies so many days (150 years) ahead of its reading: it beats every ordinary one,
 * and of two frozen rows that of the later reading wins. They are days, because a year after a February 29
 * cannot be taken back.
 */
const aheadDays = 54_787

/** The version (`read_at`) of a frozen row, by the instant at which its reading began. */
export const frozenVersion = (reading: string): string => `${reading} + toIntervalDay(${aheadDays})`

/** When the reading of a row of `attribution` began. */
export const readingSql = `read_at - toIntervalDay(${aheadDays} * is_frozen)`

/**
 * When the reading began of the row that wins, over the rows of a purchase and a day. An ordinary row beside a frozen
 * one answers nothing: it goes with the next merge.
 */
export const lastReadingSql = `max(read_at) - toIntervalDay(${aheadDays} * max(is_frozen))`

const isLost = `(purchase_key, delivery_id) IN (
    SELECT purchase_key, delivery_id FROM (${judgementsSql(batchKeys)}) WHERE last.3 != 'valid'
  )`

/** Rows of final days stay as they are: their returns may be dropped already. An empty table has its day in 1970. */
const isFinal = `attribution.day + 1 < (SELECT max(final_before.day) FROM final_before)`

const frozen = ({ isJudged }: BatchForm): string => `
  SELECT *, ${isFinal} AS is_final, ${isJudged ? `NOT is_final AND ${isLost}` : 'false'} AS is_lost
  FROM attribution FINAL
  WHERE (day, purchase_key) IN (SELECT arrayJoin(days), purchase_key FROM known) AND is_frozen = 1`

const bought = `
  SELECT * FROM delivery
  WHERE (day, publisher_id, purchase_key, delivery_id) IN (
    SELECT toDate(received_at), publisher_id, purchase_key, delivery_id FROM frozen
    WHERE notEmpty(line_index) AND NOT is_final
  )
  LIMIT 1 BY purchase_key`

const remaining = (form: BatchForm): string => `,
bought AS MATERIALIZED (${bought}),
returned AS MATERIALIZED (${returnedSql(batchKeys, form)}),
remaining AS MATERIALIZED (${remainingSql({ deliveries: 'bought', returned: 'returned' })})`

/** What a frozen row holds in a column of credits. If the delivery does not serve any more, that is what it held. */
const columnOf = (name: string, { isReturned }: BatchForm): string =>
  isReturned && (name === 'line_quantity' || name === 'line_value')
    ? `if(empty(r.${name}), f.${name}, arrayMap(i -> r.${name}[i + 1], f.line_index))`
    : `f.${name}`

/**
 * Writes the frozen rows of a batch anew: without credit if the delivery behind it does not count any more, and
 * with what returns leave of each line. They touch no day by themselves; `touchFormerSql` has. They are written before the others,
 * because under their days the others answer what is pending.
 */
export const attributeFrozenSql = (form: BatchForm): string => `
INSERT INTO attribution (
  day, purchase_key, read_at, is_frozen,
  publisher_id, site_id, transaction_id, delivery_id, received_at, currency,
  ${creditNames.join(', ')}
)
WITH
known AS MATERIALIZED (${known}),
frozen AS MATERIALIZED (${frozen(form)})${form.isReturned ? remaining(form) : ''}
SELECT
  f.day, f.purchase_key, ${frozenVersion("{readAt:DateTime64(6, 'UTC')}")}, 1,
  f.publisher_id, f.site_id, f.transaction_id, f.delivery_id, f.received_at, f.currency,
  ${creditNames.map((name) => `if(f.is_lost, [], ${columnOf(name, form)})`).join(', ')}
FROM frozen AS f
${form.isReturned ? 'LEFT JOIN remaining AS r ON r.purchase_key = f.purchase_key' : ''}
SETTINGS join_use_nulls = 0`
