// Drops what is older than the retention, by whole partitions, behind a boundary that all nodes share
// (docs/decisions/0020-retention.md). Three steps, each of which can be repeated and run on two engines at
// once: a boundary is announced, so that shipping takes nothing older any more; it becomes final, once
// everything shipped before stands in the seals; then partitions that no day behind it needs are dropped.

import { addDays, listDays } from '../domain/day.ts'
import { assert } from '../lib/assert.ts'
import type { ReportMarket } from '../catalog/catalog-names.ts'
import { laterDay, readFinalDays } from './final-days.ts'
import { listUnits, readBounds } from './day-bounds.ts'
import type { Bounds } from './day-bounds.ts'
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
  /** A sealing or a report that began before a day was final has ended: none takes longer. */
  finalMs: 3_600_000,
} as const

/**
 * How many UTC days before the first day that can be recomputed everything is kept. A day of any zone
 * begins at most 16 hours before the same date in UTC, so its purchases lie on the UTC day before or later:
 * 1. Their crowd is counted over 15 days of touchpoints (the click window of 14 lies inside), and what is
 * touched was served up to 7 days earlier: together 22 days before an instant of that UTC day. Attribution
 * reads touchpoints from 23 UTC days of serving before on, so 1 + 23 is what it may look at.
 * All else reaches less far: counted events of a day were served at most 1 + 7 days before, an event and
 * its repeats have one day of serving, and deliveries and attributions are those of the UTC day before.
 */
export const dependencyDays = 24

export interface RetentionDeps extends Omit<SealDeps, 'settledThroughMs'> {
  readonly retentionDays: number
  /** Lowered by tests only. */
  readonly announcedMs?: number
  readonly finalMs?: number
}

/** To be called when nothing is due to be attributed. */
export async function advanceRetention(deps: RetentionDeps): Promise<void> {
  const now = await warehouseNow(deps.warehouse)
  await announce(deps, now)
  await finish(deps, now)
  await drop(deps, now)
}

export interface RetentionState {
  readonly days: number
  /** Days before this one are final or about to be; null while there are none. */
  readonly finalBefore: string | null
  /** Dropping waits for this day to be sealed in every market; null while it does not wait. */
  readonly waitsForDay: string | null
}

type StateDeps = Pick<RetentionDeps, 'warehouse' | 'markets' | 'retentionDays'>

export async function readRetention(deps: StateDeps): Promise<RetentionState> {
  const now = await warehouseNow(deps.warehouse)
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
  // A retention that was raised brings nothing back: the boundary never recedes.
  if (day <= laterDay(due.firstDay, announcedBefore)) return
  await write(deps.warehouse, { day, state: 'announced', now })
}

interface Due {
  readonly firstDay: string
  /** The retention alone would have days before this one final. */
  readonly wantedBefore: string
  /** Every day before this one is sealed in every unit. */
  readonly sealedBefore: string
}

/** Null where no day is old enough. */
async function findDue(
  { warehouse, markets, retentionDays }: StateDeps,
  now: string
): Promise<Due | null> {
  const bounds = await readBounds(warehouse, markets())
  const { firstDay, finalBefore } = bounds
  const wantedBefore = addDays(now.slice(0, 10), dependencyDays - retentionDays)
  if (firstDay === null || firstDay >= wantedBefore) return null
  const from = laterDay(firstDay, finalBefore)
  const asked = { first: from, last: addDays(wantedBefore, -1) }
  const open = await findFirstOpen(warehouse, { markets: markets(), bounds, asked })
  return { firstDay, wantedBefore, sealedBefore: open ?? wantedBefore }
}

interface SealsAsked {
  readonly markets: readonly ReportMarket[]
  readonly bounds: Bounds
  readonly asked: { readonly first: string; readonly last: string }
}

async function findFirstOpen(
  warehouse: Pick<Warehouse, 'rows'>,
  { markets, bounds, asked }: SealsAsked
): Promise<string | undefined> {
  const seals = await readSeals(warehouse, { markets, ...asked, finalBefore: null })
  const sealed = new Set(seals.map((seal) => `${seal.unit} ${seal.day}`))
  return listDays(asked.first, asked.last).find((day) =>
    listUnits(markets).some(({ id }) => {
      const firstDay = bounds.firstDays.get(id)
      return firstDay !== undefined && day >= firstDay && !sealed.has(`${id} ${day}`)
    })
  )
}

/** What was announced long enough ago becomes final, unless a day before it is still to be sealed again. */
async function finish(deps: RetentionDeps, now: string): Promise<void> {
  const { warehouse, announcedMs = retentionLimits.announcedMs } = deps
  const day = await readReached(warehouse, {
    state: 'announced',
    writtenBy: shiftInstant(now, -announcedMs),
  })
  const { finalBefore } = await readFinalDays(warehouse)
  if (day === null || (finalBefore !== null && day <= finalBefore)) return
  const due = await findDue(deps, now)
  if (due !== null && due.sealedBefore < day) return
  const sealing = { ...deps, settledThroughMs: () => Number.MAX_SAFE_INTEGER, renewPauseMs: 0 }
  const { unsealed, renewals } = await findSealingWork(sealing, now)
  if ([...unsealed, ...renewals].some((one) => one.day < day)) return
  await write(warehouse, { day, state: 'final', now })
}

interface Reached {
  readonly state: 'announced' | 'final'
  readonly writtenBy: string
}

async function readReached(
  warehouse: Pick<Warehouse, 'rows'>,
  { state, writtenBy }: Reached
): Promise<string | null> {
  const [row] = await warehouse.rows<{ day: string; count: number }>(
    `SELECT toString(max(day)) AS day, count() AS count FROM final_before
     WHERE state = {state:String} AND written_at <= {writtenBy:DateTime64(6, 'UTC')}`,
    { state, writtenBy }
  )
  return row === undefined || row.count === 0 ? null : row.day
}

interface Boundary {
  readonly day: string
  readonly state: 'announced' | 'final'
  readonly now: string
}

async function write(warehouse: Warehouse, { day, state, now }: Boundary): Promise<void> {
  await warehouse.command(
    `INSERT INTO final_before (day, state, written_at)
     SELECT {day:Date}, {state:String}, {now:DateTime64(6, 'UTC')}`,
    { day, state, now }
  )
}

/** The tables whose partitions are dropped, and how many days a partition spans at most. */
const partitioned = {
  touchpoint: 'week',
  ad_event: 'month',
  delivery: 'month',
  purchase_identity: 'month',
  attribution: 'month',
  intake_event: 'month',
} as const

/** The weeks and months of 80 years in six tables come to some 9,000. */
const partitionsMax = 10_000

interface StoredPartition {
  readonly table: keyof typeof partitioned
  readonly id: string
}

async function drop(deps: RetentionDeps, now: string): Promise<void> {
  const { warehouse, finalMs = retentionLimits.finalMs } = deps
  const writtenBy = shiftInstant(now, -finalMs)
  const finalBefore = await readReached(warehouse, { state: 'final', writtenBy })
  if (finalBefore === null) return
  const keptFrom = addDays(finalBefore, -dependencyDays)
  const stored = await warehouse.rows<StoredPartition>(
    `SELECT DISTINCT table, partition_id AS id FROM system.parts
     WHERE active AND database = currentDatabase() AND table IN {tables:Array(String)}
     ORDER BY table, id LIMIT ${partitionsMax}`,
    { tables: Object.keys(partitioned) }
  )
  assert(stored.length < partitionsMax, 'the partitions fit into the list')
  for (const partition of stored) {
    if (lastDayOf(partition) < keptFrom) await dropPartition(warehouse, partition)
  }
  for (const [table, condition] of bounded) {
    await deleteOld(warehouse, { table, condition, keptFrom })
  }
}

/** Ids of partitions spell what they are made of: `202603` a month, `20260302` the Monday of a week. */
function lastDayOf({ table, id }: StoredPartition): string {
  if (partitioned[table] === 'week' && /^\d{8}$/.test(id)) {
    return addDays(`${id.slice(0, 4)}-${id.slice(4, 6)}-${id.slice(6)}`, 6)
  }
  // What spells something else is never old.
  if (!/^\d{6}$/.test(id)) return '9999-12-31'
  const firstDay = `${id.slice(0, 4)}-${id.slice(4)}-01`
  const inNextMonth = addDays(firstDay, 31)
  return addDays(`${inNextMonth.slice(0, 7)}-01`, -1)
}

/** Attributions that an erasure has frozen stay: nothing could make them again. The others go by rows then. */
async function dropPartition(warehouse: Warehouse, { table, id }: StoredPartition): Promise<void> {
  if (table === 'attribution') {
    const [counts] = await warehouse.rows<{ frozen: number; others: number }>(
      `SELECT countIf(is_frozen = 1) AS frozen, countIf(is_frozen = 0) AS others FROM attribution
       WHERE toYYYYMM(day) = {month:UInt32}`,
      { month: Number(id) }
    )
    if ((counts?.frozen ?? 0) > 0) {
      if ((counts?.others ?? 0) === 0) return
      await warehouse.command(
        'DELETE FROM attribution WHERE toYYYYMM(day) = {month:UInt32} AND is_frozen = 0',
        { month: Number(id) }
      )
      return
    }
  }
  // A partition cannot be a bound value; table and id come from closed lists and digits.
  await warehouse.command(`ALTER TABLE ${table} DROP PARTITION ID '${id}'`)
}

/**
 * Without partitions, and small: spans of touched hours, records that were set aside, and returns, which
 * are few beside the purchases; a return that old belongs to a purchase of a final day. The table
 * `purchase` is not among them: it is what knows a repeat of an old transaction for one.
 */
const bounded = [
  ['touched_span', `to_at < toDateTime({keptFrom:Date}, 'UTC')`],
  ['purchase_return', `received_at < toDateTime64({keptFrom:Date}, 3, 'UTC')`],
  ['intake_set_aside', 'day < {keptFrom:Date}'],
  ['set_aside', `set_aside_at < toDateTime({keptFrom:Date}, 'UTC')`],
] as const

interface OldRows {
  readonly table: (typeof bounded)[number][0]
  readonly condition: string
  readonly keptFrom: string
}

async function deleteOld(
  warehouse: Warehouse,
  { table, condition, keptFrom }: OldRows
): Promise<void> {
  const params = { keptFrom }
  const [counted] = await warehouse.rows<{ count: number }>(
    `SELECT count() AS count FROM ${table} WHERE ${condition}`,
    params
  )
  if ((counted?.count ?? 0) === 0) return
  await warehouse.command(`DELETE FROM ${table} WHERE ${condition}`, params)
}
