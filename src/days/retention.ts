// Drops data older than the retention, by whole partitions, behind a boundary that all nodes share
// (docs/decisions/0020-retention.md). There are three steps, each of which can be repeated and run on two
// engines at once. A boundary is announced, and from then on shipping takes nothing older. It becomes final
// once everything shipped before is in the seals. Then partitions that no later day needs are dropped.

import { addDays } from '../domain/day.ts'
import { assert } from '../lib/assert.ts'
import { dayOrNull, laterDay, readFinalDays } from './final-days.ts'
import { readBounds } from './day-bounds.ts'
import { firstOpenDay, listOpenDays } from './sealed-days.ts'
import { readSeals } from './seals.ts'
import { shiftInstant, warehouseNow } from '../warehouse/instant.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { findSealingWork } from './seal-work.ts'
import type { SealDeps } from './seal-work.ts'

export const retentionLimits = {
  /**
   * A batch that was planned before the announcement is visible within 5 minutes, as sealing relies on too.
   */
  announcedMs: 600_000,
  /** No sealing and no report takes longer, so those that began before a day was final have ended. */
  finalMs: 3_600_000,
} as const

/**
 * For how many UTC days before the first day that can be recomputed everything is kept. A day of any zone
 * begins at most 16 hours before the same date in UTC, so its purchases are on the UTC day before or later:
 * 1 day. Their crowd is counted over 15 days of touchpoints (which include the click window of 14), and their
 * ads were served up to 7 days earlier: together 22 days before an instant of that UTC day. Attribution reads
 * touchpoints served up to 23 UTC days before, so it may look at 1 + 23 days.
 * Everything else reaches less far: counted events of a day were served at most 1 + 7 days before, an event
 * and its repeats have the same day of serving, and deliveries and attributions are on the UTC day before.
 */
export const dependencyDays = 24

export interface RetentionDeps extends Omit<SealDeps, 'settledThroughMs'> {
  readonly retentionDays: number
  /** Lowered by tests only. */
  readonly announcedMs?: number
  readonly finalMs?: number
}

const reads = ['touched_span', 'sealed_day', 'final_before'] as const

/** Call this when no purchase is due to be attributed. */
export async function advanceRetention(deps: RetentionDeps): Promise<void> {
  const now = await warehouseNow(deps.warehouse)
  await deps.warehouse.barrier(reads)
  await announce(deps, now)
  await finish(deps, now)
  await drop(deps, now)
}

export interface RetentionState {
  readonly days: number
  /** Days before this one are final or about to become final; null while there are none. */
  readonly finalBefore: string | null
  /** Dropping waits until this day is sealed in every market; null while it does not wait. */
  readonly waitsForDay: string | null
}

type StateDeps = Pick<RetentionDeps, 'warehouse' | 'markets' | 'retentionDays'>

export async function readRetention(deps: StateDeps): Promise<RetentionState> {
  const now = await warehouseNow(deps.warehouse)
  await deps.warehouse.barrier(reads)
  const { announcedBefore } = await readFinalDays(deps.warehouse)
  const due = await findDue(deps, now)
  const isWaiting = due !== null && due.sealedBefore < due.wantedBefore
  return {
    days: deps.retentionDays,
    finalBefore: announcedBefore,
    waitsForDay: isWaiting ? due.sealedBefore : null,
  }
}

async function announce(deps: RetentionDeps, now: string): Promise<void> {
  const due = await findDue(deps, now)
  if (due === null) return
  const day = due.sealedBefore < due.wantedBefore ? due.sealedBefore : due.wantedBefore
  const { announcedBefore } = await readFinalDays(deps.warehouse)
  // Raising the retention brings nothing back: the boundary never recedes.
  if (day <= laterDay(due.firstDay, announcedBefore)) return
  await write(deps.warehouse, { day, state: 'announced', now })
}

interface Due {
  readonly firstDay: string
  /** By the retention alone, days before this one would be final. */
  readonly wantedBefore: string
  /** Every day before this one is sealed in every unit. */
  readonly sealedBefore: string
}

/** Null if no day is old enough. */
async function findDue(
  { warehouse, markets, retentionDays }: StateDeps,
  now: string
): Promise<Due | null> {
  const bounds = await readBounds(warehouse, markets())
  const { firstDay, finalBefore } = bounds
  const wantedBefore = addDays(now.slice(0, 10), dependencyDays - retentionDays)
  if (firstDay === null || firstDay >= wantedBefore) return null
  const from = laterDay(firstDay, finalBefore)
  const last = addDays(wantedBefore, -1)
  const known = markets()
  const seals = await readSeals(warehouse, { markets: known, first: from, last, finalBefore: null })
  const open = listOpenDays({ markets: known, bounds, seals }, () => last, from)
  return { firstDay, wantedBefore, sealedBefore: firstOpenDay(open) ?? wantedBefore }
}

/** Makes final what was announced long enough ago, unless a day before it must still be sealed again. */
async function finish(deps: RetentionDeps, now: string): Promise<void> {
  const { warehouse, announcedMs = retentionLimits.announcedMs } = deps
  const day = await readReached(warehouse, 'announced', shiftInstant(now, -announcedMs))
  const { finalBefore } = await readFinalDays(warehouse)
  if (day === null || (finalBefore !== null && day <= finalBefore)) return
  const due = await findDue(deps, now)
  if (due !== null && due.sealedBefore < day) return
  const sealing = { ...deps, settledThroughMs: () => Number.MAX_SAFE_INTEGER, renewPauseMs: 0 }
  const { unsealed, renewals } = await findSealingWork(sealing, now)
  if ([...unsealed, ...renewals].some((one) => one.day < day)) return
  await write(warehouse, { day, state: 'final', now })
}

type Boundary = 'announced' | 'final'

/** The latest boundary of a state that was written at `writtenBy` or before; null if there is none. */
async function readReached(
  warehouse: Pick<Warehouse, 'rows' | 'barrier'>,
  state: Boundary,
  writtenBy: string
): Promise<string | null> {
  await warehouse.barrier(['final_before'])
  const [row] = await warehouse.rows<{ day: string }>(
    `SELECT toString(max(day)) AS day FROM final_before
     WHERE state = {state:String} AND written_at <= {writtenBy:DateTime64(6, 'UTC')}`,
    { state, writtenBy }
  )
  return dayOrNull(row?.day)
}

async function write(
  warehouse: Warehouse,
  boundary: { readonly day: string; readonly state: Boundary; readonly now: string }
): Promise<void> {
  await warehouse.command(
    `INSERT INTO final_before (day, state, written_at)
     SELECT {day:Date}, {state:String}, {now:DateTime64(6, 'UTC')}`,
    boundary
  )
}

/** The tables whose partitions are dropped; each partition is a week or a month. */
const partitioned = [
  'touchpoint',
  'ad_event',
  'delivery',
  'purchase_identity',
  'attribution',
  'intake_event',
] as const

/** 80 years of weeks and months in six tables make about 9,000. */
const partitionsMax = 10_000

interface StoredPartition {
  readonly table: (typeof partitioned)[number]
  readonly id: string
}

async function drop(deps: RetentionDeps, now: string): Promise<void> {
  const { warehouse, finalMs = retentionLimits.finalMs } = deps
  const finalBefore = await readReached(warehouse, 'final', shiftInstant(now, -finalMs))
  if (finalBefore === null) return
  const keptFrom = addDays(finalBefore, -dependencyDays)
  const stored = await warehouse.rows<StoredPartition>(
    `SELECT DISTINCT table, partition_id AS id FROM system.parts
     WHERE active AND database = currentDatabase() AND table IN {tables:Array(String)}
     ORDER BY table, id LIMIT ${partitionsMax}`,
    { tables: partitioned }
  )
  assert(stored.length < partitionsMax, 'the partitions fit into the list')
  for (const partition of stored) {
    if (lastDayOf(partition) < keptFrom) await dropPartition(warehouse, partition)
  }
  for (const old of bounded) await deleteOld(warehouse, old, keptFrom)
}

/** The id of a partition spells its month (`202603`) or the Monday of its week (`20260302`). */
function lastDayOf({ id }: StoredPartition): string {
  if (/^\d{8}$/.test(id)) return addDays(`${id.slice(0, 4)}-${id.slice(4, 6)}-${id.slice(6)}`, 6)
  // An id in any other form is never old.
  if (!/^\d{6}$/.test(id)) return '9999-12-31'
  const inNextMonth = addDays(`${id.slice(0, 4)}-${id.slice(4)}-01`, 31)
  return addDays(`${inNextMonth.slice(0, 7)}-01`, -1)
}

/** Keeps attributions that an erasure has frozen, as they could not be made again; the other rows are deleted. */
async function dropPartition(warehouse: Warehouse, { table, id }: StoredPartition): Promise<void> {
  if (table === 'attribution') {
    await warehouse.barrier(['attribution'])
    const month = { month: Number(id) }
    const [counts] = await warehouse.rows<{ frozen: number; others: number }>(
      `SELECT countIf(is_frozen = 1) AS frozen, countIf(is_frozen = 0) AS others FROM attribution
       WHERE toYYYYMM(day) = {month:UInt32}`,
      month
    )
    const { frozen = 0, others = 0 } = counts ?? {}
    if (frozen > 0) {
      const sql = 'DELETE FROM attribution WHERE toYYYYMM(day) = {month:UInt32} AND is_frozen = 0'
      if (others > 0) await warehouse.command(sql, month)
      return
    }
  }
  // A partition cannot be a bound value; table and id come from closed lists and digits.
  await warehouse.command(`ALTER TABLE ${table} DROP PARTITION ID '${id}'`)
}

/**
 * Small tables without partitions: touched spans, records that were set aside, and returns, which are few
 * compared with the purchases (a return that old belongs to a purchase of a final day). `purchase` is not among
 * them: it recognises a repeat of an old transaction.
 */
const bounded = [
  ['touched_span', `to_at < toDateTime({keptFrom:Date}, 'UTC')`],
  ['purchase_return', `received_at < toDateTime64({keptFrom:Date}, 3, 'UTC')`],
  ['intake_set_aside', 'day < {keptFrom:Date}'],
  ['set_aside', `set_aside_at < toDateTime({keptFrom:Date}, 'UTC')`],
] as const

async function deleteOld(
  warehouse: Warehouse,
  [table, condition]: (typeof bounded)[number],
  keptFrom: string
): Promise<void> {
  await warehouse.barrier([table])
  const [counted] = await warehouse.rows<{ count: number }>(
    `SELECT count() AS count FROM ${table} WHERE ${condition}`,
    { keptFrom }
  )
  if ((counted?.count ?? 0) === 0) return
  await warehouse.command(`DELETE FROM ${table} WHERE ${condition}`, { keptFrom })
}
