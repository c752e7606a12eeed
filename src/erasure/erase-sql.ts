// The statements of an erasure. Identities are looked up by the id of the erasure and never appear in a
// statement, because ClickHouse keeps the text of every mutation.

import { frozenVersion, lastReadingSql } from '../attribution/frozen-sql.ts'

/**
 * Each replica of a cluster carries a mutation out by itself. One that does not know the erasure yet would find nobody,
 * and its parts, unchanged, could become those of all; so it fails, and ClickHouse tries again.
 */
const publisherOf = (id: string): string => `(
  SELECT min(publisher_id) + throwIf(count() = 0, 'the erasure is not known here yet')
  FROM erasure FINAL WHERE id = ${id}
)`
const identitiesOf = (id: string): string =>
  `(SELECT arrayJoin(identities) FROM erasure FINAL WHERE id = ${id})`
const isBefore = (id: string): string =>
  `received_at <= (SELECT requested_at FROM erasure FINAL WHERE id = ${id})`

const oneId = '{id:String}'
const publisher = publisherOf(oneId)

/**
 * A touchpoint of a logged-in person is also filed under the user id and is erased with the person, so
 * purchases that may have its credit through that user id are concerned too.
 */
const concerned = `
  SELECT arrayJoin(identities) AS identity FROM erasure FINAL WHERE id = {id:String}
  UNION DISTINCT
  SELECT identity FROM touchpoint
  WHERE publisher_id = ${publisher} AND login_identity IN ${identitiesOf(oneId)} AND ${isBefore(oneId)}`

const concernedKeys = `
  SELECT DISTINCT purchase_key FROM purchase_identity
  WHERE publisher_id = ${publisher} AND identity IN (${concerned})`

/** Counts the concerned purchases that no attribution has answered yet. */
export const unansweredSql = `
SELECT count() AS count
FROM (
  SELECT p.shipped_at AS shipped_at, a.read_at AS read_at
  FROM (SELECT * FROM pending_purchase WHERE purchase_key IN (${concernedKeys})) AS p
  LEFT JOIN (
    SELECT day, purchase_key, ${lastReadingSql} AS read_at FROM attribution
    WHERE (day, purchase_key) IN (
      SELECT day, purchase_key FROM pending_purchase WHERE purchase_key IN (${concernedKeys})
    )
    GROUP BY day, purchase_key
  ) AS a ON a.day = p.day AND a.purchase_key = p.purchase_key
)
WHERE read_at IS NULL OR read_at < shipped_at + toIntervalMillisecond({settleMs:Int64})`

const daysOf = (keys: string): string =>
  `SELECT arrayJoin(days) AS day, purchase_key FROM purchase WHERE purchase_key IN (${keys})`

/**
 * Copies the attributions as they are. A copy beats every ordinary reading, and of two copies the later reading
 * still wins. A copy cannot come from a reading that missed touchpoints: these are removed once the first copy is
 * visible, and a statement that sees the first copy copies nothing.
 */
export const freezeSql = `
INSERT INTO attribution
SELECT * REPLACE (toUInt8(1) AS is_frozen, ${frozenVersion('read_at')} AS read_at)
FROM (
  -- A subquery, since ClickHouse would replace the old columns by the new ones in the condition.
  SELECT * FROM attribution FINAL
  WHERE (day, purchase_key) IN (${daysOf(concernedKeys)})
    AND is_frozen = 0
    AND purchase_key NOT IN (
      SELECT purchase_key FROM attribution
      WHERE (day, purchase_key) IN (${daysOf(concernedKeys)}) AND is_frozen = 1
    )
)`

/** Runs once the copies are visible: from here on, attribution keeps their credit. */
export const listFrozenSql = `
INSERT INTO frozen_purchase
SELECT purchase_key FROM (${concernedKeys})
WHERE purchase_key NOT IN (SELECT purchase_key FROM frozen_purchase)`

/**
 * Empties rows of frozen purchases under days other than that of the frozen row: an attribution that began
 * before the purchase was listed may have moved it there, and it would count twice.
 */
export const emptyMovedSql = `
INSERT INTO attribution (
  day, purchase_key, read_at, is_frozen, publisher_id, site_id, transaction_id, delivery_id, received_at, currency
)
SELECT day, purchase_key, now64(6), 0, publisher_id, site_id, transaction_id, delivery_id, received_at, currency
FROM attribution FINAL
WHERE (day, purchase_key) IN (${daysOf('SELECT purchase_key FROM frozen_purchase')})
  AND is_frozen = 0 AND notEmpty(line_index)
  AND purchase_key IN (
    SELECT purchase_key FROM attribution
    WHERE (day, purchase_key) IN (${daysOf('SELECT purchase_key FROM frozen_purchase')}) AND is_frozen = 1
  )`

const isOfPerson = (id: string, columns: readonly string[]): string => {
  const isAny = columns.map((name) => `${name} IN ${identitiesOf(id)}`).join(' OR ')
  return `publisher_id = ${publisherOf(id)} AND (${isAny}) AND ${isBefore(id)}`
}

/** Not zeros, which mean that the sender knew nobody: publishers see how many such purchases there are. */
export const erasedIdentity = 'f'.repeat(32)
const erased = `CAST(unhex('${erasedIdentity}'), 'FixedString(16)')`
const blanked = (id: string, name: string): string =>
  `${name} = if(${name} IN ${identitiesOf(id)}, ${erased}, ${name})`

/** Of a person, by the parameter that binds the id of the erasure. */
export interface Removal {
  readonly table: 'late_touchpoint' | 'delivery' | 'touchpoint' | 'purchase_identity'
  readonly change: (id: string) => string
  readonly condition: (id: string) => string
}

/** The order matters: what leads to the purchases goes last, so that an interrupted pass finds them again. */
export const removals: readonly Removal[] = [
  {
    table: 'late_touchpoint',
    change: () => 'DELETE',
    condition: (id) => isOfPerson(id, ['identity']),
  },
  {
    table: 'delivery',
    change: (id) => `UPDATE ${blanked(id, 'user_identity')}, ${blanked(id, 'login_identity')}`,
    condition: (id) => isOfPerson(id, ['user_identity', 'login_identity']),
  },
  {
    table: 'touchpoint',
    change: () => 'DELETE',
    condition: (id) => isOfPerson(id, ['identity', 'login_identity']),
  },
  {
    table: 'purchase_identity',
    change: () => 'DELETE',
    condition: (id) => isOfPerson(id, ['identity']),
  },
]

/** Rows of erased people that were received before the request but shipped after it. */
export const foundAgainSql = `
WITH watched AS (
  SELECT id, publisher_id, requested_at, arrayJoin(identities) AS identity FROM erasure FINAL WHERE stage = 2
)
SELECT DISTINCT w.id AS id
FROM (
  SELECT publisher_id, identity, received_at FROM touchpoint
  WHERE (publisher_id, identity) IN (SELECT publisher_id, identity FROM watched)
  UNION ALL
  SELECT publisher_id, identity, received_at FROM purchase_identity
  WHERE (publisher_id, identity) IN (SELECT publisher_id, identity FROM watched)
  UNION ALL
  SELECT publisher_id, identity, received_at FROM late_touchpoint
  WHERE (publisher_id, identity) IN (SELECT publisher_id, identity FROM watched)
) AS r
INNER JOIN watched AS w ON w.publisher_id = r.publisher_id AND w.identity = r.identity
WHERE r.received_at <= w.requested_at
ORDER BY id
LIMIT 1000`

/** Moves an erasure to a greater stage. The last stage forgets the identities. */
export const advanceSql = `
INSERT INTO erasure (id, publisher_id, requested_at, stage, changed_at, erased_at, identities_hex)
SELECT id, publisher_id, requested_at, {stage:UInt8}, now64(6),
  if(stage = 1, now64(6), erased_at), if({stage:UInt8} = 3, [], identities_hex)
FROM erasure FINAL
WHERE id = {id:String} AND stage < {stage:UInt8}`

export const dueSql = `
SELECT id, stage FROM erasure FINAL
WHERE (stage = 1 AND requested_at <= {requestedUntil:DateTime64(6, 'UTC')})
  OR (stage = 2 AND requested_at <= {watchedUntil:DateTime64(6, 'UTC')})
ORDER BY stage, requested_at, id
LIMIT 1000`
