// Reads the touchpoints under the ids of a purchase: all that may win, and the nearest of the others.

import { addDays, dayOf } from '../../domain/day.ts'
import type { IdentityKind } from '../../domain/identity.ts'
import { crowdWindowMs } from '../../domain/windows.ts'
import { unlogged } from '../../warehouse/warehouse.ts'
import type { Warehouse } from '../../warehouse/warehouse.ts'
import { idOf } from './deliveries.ts'
import type { Touch } from './judge.ts'

export const touchLimits = {
  /** Read beside those that may win, of which an id has no more than a person makes. */
  otherTouchesMax: 1_000,
  /** A click wins up to 14 days after it and counts up to 7 days after serving; the rest is shown. */
  servedDaysBefore: 37,
  /** Of a crowd, only ads that were served lately are shown. */
  crowdDaysBefore: 2,
} as const

export interface TouchQuestion {
  readonly publisherId: number
  readonly purchasedAtMs: number
  /** Hex, '' for none. */
  readonly identities: Readonly<Record<IdentityKind, string>>
  readonly crowdMax: number
}

export interface SharedId {
  readonly kind: IdentityKind
  /** In the 15 days up to the purchase. */
  readonly touchpointCount: number
  readonly isCrowd: boolean
}

export interface TouchesFound {
  readonly ids: readonly SharedId[]
  /** Those that may win first, each kind the newest first. */
  readonly touches: readonly Touch[]
  /** How many more there are. */
  readonly leftOutCount: number
}

type Reader = Pick<Warehouse, 'rows'>

export async function readTouches(reader: Reader, question: TouchQuestion): Promise<TouchesFound> {
  const { identities } = question
  const kinds = (['user', 'login'] as const).filter((kind) => identities[kind] !== '')
  const ids = await Promise.all(kinds.map((kind) => countId(reader, question, kind)))
  if (ids.length === 0) return { ids, touches: [], leftOutCount: 0 }
  const crowds = ids.filter((one) => one.isCrowd).map(({ kind }) => identities[kind])
  const day = dayOf(question.purchasedAtMs, 'UTC')
  const rows = await reader.rows<TouchRow>(touchesSql, {
    ...paramsOf(question),
    user: identities.user,
    login: identities.login,
    // ClickHouse refuses an empty list; no identity is ''.
    crowds: ['', ...crowds],
    crowdDay: addDays(day, -touchLimits.crowdDaysBefore),
    rowsMax: 2 * question.crowdMax + touchLimits.otherTouchesMax,
  })
  return {
    ids,
    touches: rows.map((row) => toTouch(row, identities)),
    leftOutCount: (rows[0]?.totalCount ?? 0) - rows.length,
  }
}

interface TouchRow extends Omit<Touch, 'sharedIds'> {
  readonly shared: readonly string[]
  readonly totalCount: number
}

function toTouch(
  { shared, totalCount: _total, ...row }: TouchRow,
  identities: TouchQuestion['identities']
): Touch {
  const sharedIds = (['user', 'login'] as const).filter((kind) => shared.includes(identities[kind]))
  return {
    ...row,
    loginIdentity: idOf(row.loginIdentity),
    sharedIds,
  }
}

async function countId(
  reader: Reader,
  question: TouchQuestion,
  kind: IdentityKind
): Promise<SharedId> {
  const identity = question.identities[kind]
  const [row] = await reader.rows<{ count: number }>(countSql, { ...paramsOf(question), identity })
  const touchpointCount = row?.count ?? 0
  return { kind, touchpointCount, isCrowd: touchpointCount > question.crowdMax }
}

function paramsOf({ publisherId, purchasedAtMs }: TouchQuestion) {
  const day = dayOf(purchasedAtMs, 'UTC')
  return {
    publisherId,
    purchasedAtMs,
    crowdFromMs: purchasedAtMs - crowdWindowMs,
    firstDay: addDays(day, -touchLimits.servedDaysBefore),
    // An ad may be touched up to 5 minutes before it was served by its own clock.
    lastDay: addDays(day, 1),
  }
}

const servedThen = 'served_day >= {firstDay:Date} AND served_day <= {lastDay:Date}'

/** Along the order of the table: publisher, identity, kind, served ad; in its weeks of serving. */
const countSql = `
SELECT toUInt32(count()) AS count FROM (
  SELECT toUnixTimestamp64Milli(min(received_at)) AS touched_ms
  FROM touchpoint
  WHERE publisher_id = {publisherId:Int32} AND identity = toFixedString(unhex({identity:String}), 16)
    AND ${servedThen}
  GROUP BY kind, served_ad_id
)
WHERE touched_ms >= {crowdFromMs:Int64} AND touched_ms <= {purchasedAtMs:Int64}
${unlogged}`

/**
 * Each served ad and kind once, at its earliest receipt. Touchpoints that may win come first, so that the
 * bound on the rows never cuts them off: an id that is not a crowd has no more than a person makes.
 */
const touchesSql = `
SELECT if(kind = 'click', 'click', 'impression') AS kind, lower(hex(served_ad_id)) AS servedAdId,
  touched_ms AS touchedAtMs,
  ad.1 AS gtinKey, ad.2 AS groupId, lower(hex(ad.3)) AS loginIdentity, ad.4 AS siteId, ad.5 AS marketId,
  ad.6 AS advertiserId, ad.7 AS campaignId, ad.8 AS adGroupId, ad.9 AS gtin,
  shared, toUInt32(count() OVER ()) AS totalCount
FROM (
  SELECT kind, served_ad_id, toUnixTimestamp64Milli(min(received_at)) AS touched_ms,
    argMin((gtin_key, group_id, login_identity, site_id, market_id, advertiser_id, campaign_id, ad_group_id, gtin),
      received_at) AS ad,
    groupUniqArray(lower(hex(identity))) AS shared
  FROM touchpoint
  WHERE publisher_id = {publisherId:Int32}
    AND identity IN (toFixedString(unhex({user:String}), 16), toFixedString(unhex({login:String}), 16))
    AND ${servedThen}
    AND (served_day >= {crowdDay:Date} OR lower(hex(identity)) NOT IN {crowds:Array(String)})
  GROUP BY kind, served_ad_id
)
ORDER BY
  touched_ms >= {crowdFromMs:Int64} AND touched_ms <= {purchasedAtMs:Int64}
    AND NOT hasAll({crowds:Array(String)}, shared) DESC,
  touched_ms DESC, served_ad_id DESC, kind
LIMIT {rowsMax:UInt32}
${unlogged}`
