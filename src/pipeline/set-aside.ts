// Lists the records that were set aside, and ships them once more in the ordinary way, with the key and the
// receipt that they had, so that doing it twice changes nothing.

import type { StatusResponse } from '../contract/admin.ts'
import { printInstant } from '../domain/instant.ts'
import type { ReplayKeys, ReplayResult } from '../contract/set-aside.ts'
import { setAsideLimits } from '../contract/set-aside.ts'
import { decodeFrame, recordKeys } from '../spool/frame.ts'
import { readRecord } from '../spool/record.ts'
import { madeUpKey, salvage } from '../spool/salvage.ts'
import type { SpoolEntry } from '../spool/spool.ts'
import { warehouseNow } from '../warehouse/instant.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { tellReason } from '../warehouse/aside-record.ts'
import { pendPurchases, purchaseType } from '../attribution/set-aside-purchase.ts'
import { insertRecords, setAside } from './insert-batch.ts'
import type { ShipDeps } from './ship.ts'

export interface SetAsidePlace {
  readonly atMicros: number
  readonly key: string
}

export interface SetAsideQuestion {
  readonly after: SetAsidePlace | null
  readonly limit: number
}

/** Tells only the type and the receipt of the record. */
export interface SetAsideFound {
  readonly place: SetAsidePlace
  readonly type: string
  readonly receivedAtMs: number | null
  readonly reason: string
  /** Of an ad event that contradicts the catalog. */
  readonly contradiction: { readonly publisherId: number; readonly rule: string } | null
}

export type ReplayDeps = Omit<ShipDeps, 'spool' | 'streaks'>

interface WaitingRow {
  readonly atMicros: number
  readonly key: string
  readonly reason: string
  readonly record: string
  readonly publisherId: number
  /** Empty unless it contradicts the catalog. */
  readonly rule: string
}

/** Bounds the memory of a replay: a record may be a whole damaged segment. */
const recordsPerBatchMax = 100

const waitingReads = ['set_aside', 'set_aside_replay'] as const

/** The records that wait, longest first. */
export async function listSetAside(
  warehouse: Pick<Warehouse, 'rows' | 'barrier'>,
  { after, limit }: SetAsideQuestion
): Promise<readonly SetAsideFound[]> {
  await warehouse.barrier(waitingReads)
  const rows = await warehouse.rows<WaitingRow>(listSql, {
    afterMicros: after?.atMicros ?? -1,
    afterKey: after?.key ?? '',
    limit,
    headChars,
  })
  return rows.map(({ atMicros, key, reason, record, publisherId, rule }) => ({
    place: { atMicros, key },
    type: typeOf(record),
    receivedAtMs: receivedAtOf(record),
    reason: tellReason(reason),
    contradiction: rule === '' ? null : { publisherId, rule },
  }))
}

/** Enough for the type and the receipt of a record, which are at its beginning. */
const headChars = 200

function typeOf(head: string): string {
  // Raw bytes are kept as base64, which has no brace.
  if (!head.startsWith('{')) return 'frame'
  const [, type = 'unknown'] = /^\{"type":"([a-z-]{1,32})"/u.exec(head) ?? []
  return type
}

function receivedAtOf(head: string): number | null {
  const [, receivedAt] = /^\{.*"receivedAtMs":(\d{1,13})[,}]/u.exec(head) ?? []
  return receivedAt === undefined ? null : Number(receivedAt)
}

/** `keys` null means the longest waiting ones, as many as a call takes. */
export async function replaySetAside(deps: ReplayDeps, keys: ReplayKeys): Promise<ReplayResult> {
  const { warehouse } = deps
  await warehouse.barrier(waitingReads)
  const wanted = keys === null ? await oldestKeys(warehouse) : [...new Set(keys)]
  const result = { replayed: 0, setAsideAgain: 0, unknown: 0 }
  for (let first = 0; first < wanted.length; first += recordsPerBatchMax) {
    const batch = wanted.slice(first, first + recordsPerBatchMax)
    const rows = await warehouse.rows<WaitingRow>(recordsSql, { keys: batch })
    const doneKeys = await replayBatch(deps, rows)
    result.replayed += doneKeys.length
    result.setAsideAgain += rows.length - doneKeys.length
    result.unknown += batch.length - rows.length
  }
  return { ...result, remaining: await countSetAside(warehouse) }
}

export async function countSetAside(
  warehouse: Pick<Warehouse, 'rows' | 'barrier'>
): Promise<number> {
  await warehouse.barrier(waitingReads)
  const [row] = await warehouse.rows<{ count: number }>(
    `SELECT count() AS count FROM (${waitingSql})`
  )
  return row?.count ?? 0
}

/** Ad events that wait because they contradict the catalog, by publisher and rule, most first. */
export async function countContradictions(
  warehouse: Pick<Warehouse, 'rows' | 'barrier'>
): Promise<NonNullable<StatusResponse['contradictions']>> {
  await warehouse.barrier(waitingReads)
  const rows = await warehouse.rows<ContradictionRow>(contradictionsSql, {
    rowsMax: contradictionRowsMax,
  })
  return rows.map(({ firstAtMs, lastAtMs, ...row }) =>
    Object.assign(row, {
      firstSetAsideAt: printInstant(firstAtMs),
      lastSetAsideAt: printInstant(lastAtMs),
    })
  )
}

interface ContradictionRow {
  readonly publisherId: number
  readonly rule: string
  readonly count: number
  readonly firstAtMs: number
  readonly lastAtMs: number
}

const contradictionRowsMax = 200

async function oldestKeys(
  warehouse: Pick<Warehouse, 'rows' | 'barrier'>
): Promise<readonly string[]> {
  const rows = await warehouse.rows<WaitingRow>(listSql, {
    afterMicros: -1,
    afterKey: '',
    limit: setAsideLimits.replayMax,
    headChars: 0,
  })
  return rows.map(({ key }) => key)
}

/** Returns the keys of the records that are shipped now. */
async function replayBatch(
  deps: ReplayDeps,
  rows: readonly WaitingRow[]
): Promise<readonly string[]> {
  if (rows.length === 0) return []
  // Read before anything is inserted: a record that is refused again is set aside later, and so waits.
  const replayedAt = await warehouseNow(deps.warehouse)
  const purchases = rows.filter(isPurchase)
  const pending = new Set(
    await pendPurchases(
      deps.warehouse,
      purchases.map(({ key }) => key)
    )
  )
  const notPending = purchases
    .filter(({ key }) => !pending.has(key))
    .map(({ key, record }) => ({ key, record, reason: finalReason }))
  const read = rows.map((row) => ({ row, ...(isPurchase(row) ? noEntries : readRow(row)) }))
  const entries = read.flatMap((one) => one.entries ?? [])
  const refusals = await insertRecords({ ...deps, streaks: null }, () => [{ entries, broken: [] }])
  const notRead = read.flatMap((one) => (one.entries === null ? [one.row] : []))
  // These go to the end of the list, so that they never hold up the others.
  const left = [...notPending, ...notRead, ...read.flatMap((one) => one.gaps)]
  if (left.length > 0) {
    await setAside(
      deps,
      left.map(({ key, reason, record }) => ({ key, reason, record }))
    )
  }
  const refused = new Set([...refusals, ...notPending, ...notRead].map(({ key }) => key))
  // The records of a frame that can be read by now are set aside under keys of their own.
  const doneKeys = rows.map(({ key }) => key).filter((key) => !refused.has(key))
  const lines = doneKeys.map((key) => JSON.stringify({ key, replayed_at: replayedAt }))
  if (lines.length > 0) {
    await deps.warehouse.insert('set_aside_replay', Buffer.from(`${lines.join('\n')}\n`))
  }
  return doneKeys
}

const finalReason = 'its day is final or its purchase is gone: it is not attributed again'

/** The steps of the pipeline attribute it again, and set it aside again if they must. */
function isPurchase({ record }: WaitingRow): boolean {
  return typeOf(record) === purchaseType
}

interface ReadRow {
  /** Null if nothing of it can be read. A later version may read what this one cannot. */
  readonly entries: readonly SpoolEntry[] | null
  /** Damaged pieces beside whole entries. They stay, under keys of their own. */
  readonly gaps: readonly Pick<WaitingRow, 'key' | 'reason' | 'record'>[]
}

const noEntries: ReadRow = { entries: [], gaps: [] }
const unreadable: ReadRow = { entries: null, gaps: [] }

function readRow({ key, record, reason }: WaitingRow): ReadRow {
  if (record.startsWith('{')) {
    const known = readRecord(JSON.parse(record))
    return known === null ? unreadable : { entries: [{ key, record: known }], gaps: [] }
  }
  const bytes = Buffer.from(record, 'base64')
  const whole = entriesOf(Buffer.from(key, 'hex'), bytes)
  if (whole !== null) return { entries: whole, gaps: [] }
  const { frames, gaps } = salvage(key, bytes)
  const found = frames.map(({ key: own, bytes: frame }) => ({
    key: own,
    bytes: frame,
    entries: entriesOf(own, frame),
  }))
  if (found.every(({ entries }) => entries === null)) return unreadable
  const left = [
    ...found.filter(({ entries }) => entries === null),
    ...gaps.map(({ at, bytes: gap }) => ({ key: madeUpKey(`${key}:${at}`), bytes: gap })),
  ]
  return {
    entries: found.flatMap(({ entries }) => entries ?? []),
    gaps: left.map((one) => ({
      key: one.key.toString('hex'),
      reason,
      record: one.bytes.toString('base64'),
    })),
  }
}

function entriesOf(frameKey: Buffer, bytes: Buffer): readonly SpoolEntry[] | null {
  const decoded = decodeFrame(bytes)
  if (!decoded.ok) return null
  const keys = recordKeys(frameKey, decoded.records.length)
  return decoded.records.map((value, index) => ({ key: keys[index] ?? '', record: value }))
}

/** The newest record of each key, unless it was shipped since it was set aside. */
const waitingSql = `
SELECT a.key AS key, a.set_aside_at AS set_aside_at, a.reason AS reason, a.record AS record,
  a.publisher_id AS publisherId, toString(a.rule) AS rule
FROM set_aside AS a FINAL
LEFT JOIN (SELECT key, replayed_at FROM set_aside_replay FINAL) AS r ON r.key = a.key
WHERE r.replayed_at IS NULL OR a.set_aside_at >= r.replayed_at`

const listSql = `
SELECT toUnixTimestamp64Micro(set_aside_at) AS atMicros, key, reason, publisherId, rule,
  substringUTF8(record, 1, {headChars:UInt32}) AS record
FROM (${waitingSql})
WHERE (toUnixTimestamp64Micro(set_aside_at), key) > ({afterMicros:Int64}, {afterKey:String})
ORDER BY atMicros, key
LIMIT {limit:UInt32}`

const recordsSql = `
SELECT toUnixTimestamp64Micro(set_aside_at) AS atMicros, key, reason, record, publisherId, rule
FROM (${waitingSql})
WHERE key IN {keys:Array(String)}
ORDER BY atMicros, key
LIMIT 1000`

const contradictionsSql = `
SELECT publisherId, rule, count() AS count,
  toUnixTimestamp64Milli(toDateTime64(min(set_aside_at), 3, 'UTC')) AS firstAtMs,
  toUnixTimestamp64Milli(toDateTime64(max(set_aside_at), 3, 'UTC')) AS lastAtMs
FROM (${waitingSql})
WHERE rule != ''
GROUP BY publisherId, rule
ORDER BY count DESC, publisherId, rule
LIMIT {rowsMax:UInt32}`
