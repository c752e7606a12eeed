// Writes the rollup of days that are over, under a new revision, and then one row per market and day
// that says which revision counts. There is no queue to keep right: what is to be sealed is what is
// over and has no seal, or one whose reading began before the day was touched last. So the step can
// run twice, or on two engines at once, and only work is wasted.

import { randomBytes } from 'node:crypto'
import { addDays, dayBounds, dayOf, daysBetween, listDays } from '../domain/day.ts'
import type { ReportMarket } from '../reports/catalog-names.ts'
import { dayRowsParams, dayRowsSql, dimensions, profiles } from '../reports/day-rows.ts'
import { laterDay, readFinalDays } from '../reports/final-days.ts'
import { loadRates } from '../reports/rates.ts'
import type { Rates } from '../reports/rates.ts'
import {
  definitionOf,
  listUnits,
  readBounds,
  readSeals,
  rollupVersion,
  validSeals,
} from '../reports/sealed-days.ts'
import type { StoredSeal } from '../reports/sealed-days.ts'
import { formatInstant, instantMs, shiftInstant, warehouseNow } from '../warehouse/instant.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { figureColumns, supersededCountSql, sweepSql, touchedSealsSql } from './seal-sql.ts'

export const sealLimits = {
  /** Trackers and other nodes have this long to ship the end of a day. */
  delayMs: 7_200_000,
  /** A day that is touched again and again waits so long from one sealing to the next. */
  renewPauseMsMin: 60_000,
  renewPauseMsMax: 600_000,
  /**
   * Days on both sides of the one that is sealed that are taken along. An event that is the earlier
   * receipt of another takes from a day up to 7 days later; both must change at once.
   */
  neighbourDaysMax: 7,
  /** Of one statement: with 2,000,000 the engine reached 2.3 GB. One day may have more. */
  eventsMax: 250_000,
  daysMax: 62,
  /** No report takes longer. */
  keepSupersededMs: 3_600_000,
} as const

export interface SealDeps {
  readonly warehouse: Warehouse
  readonly markets: () => readonly ReportMarket[]
  /** Everything received before this instant is shipped and attributed, as far as this node knows. */
  readonly settledThroughMs: () => number
  /** A day that was sealed within this time is not renewed yet. */
  readonly renewPauseMs?: number
}

export interface SealResult {
  /** Markets times days. */
  readonly sealedCount: number
  readonly hasMore: boolean
}

export interface MarketDay {
  readonly unit: ReportMarket
  readonly day: string
  /** Sealed before, and touched since. */
  readonly isRenewal: boolean
}

/** Seals the newest days that are over and not sealed; when there are none, renews what was touched. */
export async function sealBatch(deps: SealDeps): Promise<SealResult> {
  const { warehouse } = deps
  const readAt = await warehouseNow(warehouse)
  const work = await findSealingWork(deps, readAt)
  const batch = await chooseBatch(warehouse, work)
  if (batch.length === 0) return { sealedCount: 0, hasMore: false }

  const days = batch.map(({ day }) => day).toSorted()
  const rates = await loadRates(warehouse, { first: days[0] ?? '', last: days.at(-1) ?? '' })
  await seal(warehouse, { batch, markets: deps.markets(), rates, readAt })
  return { sealedCount: batch.length, hasMore: batch.length < work.length }
}

/** Every market day that is to be sealed now or again; days that are final never are. */
export async function findSealingWork(
  deps: SealDeps,
  readAt: string
): Promise<readonly MarketDay[]> {
  const { warehouse } = deps
  const { firstDay, finalBefore } = await readBounds(warehouse)
  if (firstDay === null) return []
  const openFrom = laterDay(firstDay, finalBefore)
  return await findWork(deps, { markets: deps.markets(), firstDay: openFrom, readAt })
}

/** Removes revisions that do not count, once no report that began under them can still be reading. */
export async function sweepSuperseded(warehouse: Warehouse): Promise<void> {
  const before = shiftInstant(await warehouseNow(warehouse), -sealLimits.keepSupersededMs)
  const counts = await warehouse.rows<{ rowCount: number }>(supersededCountSql, { before })
  if (counts.every(({ rowCount }) => rowCount === 0)) return
  for (const sql of sweepSql) await warehouse.command(sql, { before })
}

interface Moment {
  readonly markets: readonly ReportMarket[]
  readonly firstDay: string
  readonly readAt: string
}

/** Every market day to be sealed: first those without a seal, newest first, then the oldest renewals. */
async function findWork(deps: SealDeps, moment: Moment): Promise<readonly MarketDay[]> {
  const { warehouse } = deps
  const { markets, firstDay, readAt } = moment
  const units = listUnits(markets)
  const last = addDays(readAt.slice(0, 10), 2)
  const stored = await readSeals(warehouse, { first: firstDay, last })
  const seals = validSeals(stored, { markets, finalBefore: null })
  const current = new Map(seals.map((one) => [keyOf(one.unit, one.day), one]))
  const unsealed = units.flatMap((unit) =>
    finishedDays(deps, unit, moment)
      .filter((day) => !current.has(keyOf(unit.id, day)))
      .map((day) => ({ unit, day, isRenewal: false }))
  )
  const renewals = await findRenewals(deps, { units, current, readAt })
  return [...unsealed.toSorted((a, b) => b.day.localeCompare(a.day)), ...renewals]
}

function finishedDays(deps: SealDeps, unit: ReportMarket, { firstDay, readAt }: Moment) {
  const nowMs = instantMs(readAt) - sealLimits.delayMs
  const overMs = Math.min(nowMs, deps.settledThroughMs())
  const today = dayOf(overMs, unit.timeZone)
  return listDays(firstDay, addDays(today, -1))
}

interface Renewals {
  readonly units: readonly ReportMarket[]
  readonly current: ReadonlyMap<string, StoredSeal>
  readonly readAt: string
}

/**
 * Sealed days that were touched since, or whose rates are others now, the oldest reading first; then those
 * whose rollup lacks figures, the newest day first: all of them do after an upgrade that adds some.
 */
async function findRenewals(deps: SealDeps, { units, current, readAt }: Renewals) {
  const touched = await deps.warehouse.rows<{ unit: number; day: string }>(touchedSealsSql, {
    marketIds: units.map((unit) => unit.id),
  })
  const keys = new Set([
    ...touched.map(({ unit, day }) => keyOf(unit, day)),
    ...(await findRateChanges(deps.warehouse, current)),
  ])
  const readBeforeMs = instantMs(readAt) - (deps.renewPauseMs ?? sealLimits.renewPauseMsMax)
  const changed = [...keys].flatMap((key) => current.get(key) ?? [])
  const lacking = [...current]
    .filter(([key, one]) => one.rollupVersion < rollupVersion && !keys.has(key))
    .map(([, one]) => one)
  return [
    ...changed.toSorted((a, b) => a.readAt.localeCompare(b.readAt)),
    ...lacking.toSorted((a, b) => b.day.localeCompare(a.day)),
  ]
    .filter((one) => instantMs(one.readAt) <= readBeforeMs)
    .flatMap(({ unit: id, day }) => {
      const unit = units.find((one) => one.id === id)
      return unit === undefined ? [] : [{ unit, day, isRenewal: true }]
    })
}

/** Only days with amounts in foreign currencies hang on rates, and those say which they used. */
async function findRateChanges(
  warehouse: Warehouse,
  current: ReadonlyMap<string, StoredSeal>
): Promise<readonly string[]> {
  const converted = [...current].filter(([, one]) => one.rates !== '')
  const days = converted.map(([, one]) => one.day).toSorted()
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return []
  const rates = await loadRates(warehouse, { first, last })
  return converted.filter(([, one]) => printRates(one.day, rates) !== one.rates).map(([key]) => key)
}

/** What one statement seals: the first of the work and what lies near it. */
async function chooseBatch(
  warehouse: Warehouse,
  work: readonly MarketDay[]
): Promise<readonly MarketDay[]> {
  const [first] = work
  if (first === undefined) return []
  if (first.isRenewal) {
    const { neighbourDaysMax } = sealLimits
    return work.filter(({ day }) => Math.abs(daysBetween(first.day, day)) <= neighbourDaysMax)
  }
  const unsealed = work.filter((one) => !one.isRenewal)
  const days = [...new Set(unsealed.map(({ day }) => day))].slice(0, sealLimits.daysMax)
  const fitting = new Set(days.slice(0, await countDaysThatFit(warehouse, days)))
  return unsealed.filter(({ day }) => fitting.has(day))
}

/** Of the days, newest first: how many have together no more events than a statement may read. */
async function countDaysThatFit(warehouse: Warehouse, days: readonly string[]): Promise<number> {
  const counts = await warehouse.rows<{ day: string; eventCount: number }>(
    `SELECT toString(served_day) AS day, count() AS eventCount FROM ad_event
     WHERE served_day >= {first:Date} AND served_day <= {last:Date} GROUP BY served_day`,
    { first: days.at(-1) ?? '', last: days[0] ?? '' }
  )
  const eventCounts = new Map(counts.map((row) => [row.day, row.eventCount]))
  let sum = 0
  const over = days.findIndex((day) => {
    sum += eventCounts.get(day) ?? 0
    return sum > sealLimits.eventsMax
  })
  return over === -1 ? days.length : Math.max(1, over)
}

interface Sealing {
  readonly batch: readonly MarketDay[]
  readonly markets: readonly ReportMarket[]
  readonly rates: Rates
  readonly readAt: string
}

async function seal(warehouse: Warehouse, sealing: Sealing): Promise<void> {
  const { batch, markets, rates, readAt } = sealing
  const revision = randomBytes(8).readBigUInt64BE()
  const daysOf = (unit: ReportMarket): readonly string[] =>
    batch
      .filter((one) => one.unit.id === unit.id)
      .map(({ day }) => day)
      .toSorted()
  const asked = listUnits(markets).map((market) => ({ market, days: daysOf(market) }))
  await warehouse.command(rollUpSql, { ...dayRowsParams(asked, rates), revision, readAt })

  const foreign = await warehouse.rows<{ unit: number; day: string }>(foreignDaysSql, {
    revision,
    first: batch.reduce((least, { day }) => (day < least ? day : least), '9999-12-31'),
  })
  const foreignKeys = new Set(foreign.map((row) => keyOf(row.unit, row.day)))
  // An engine that was held up must not seal what another one has declared final meanwhile: its events
  // may be gone. The rows are swept like every revision that does not count.
  const { finalBefore } = await readFinalDays(warehouse)
  if (finalBefore !== null && batch.some(({ day }) => day < finalBefore)) return
  const sealedAt = await warehouseNow(warehouse)
  const lines = batch.map(({ unit, day }) => {
    const bounds = dayBounds(day, unit.timeZone)
    return JSON.stringify({
      day,
      unit: unit.id,
      from_at: formatInstant(bounds.fromMs),
      to_at: formatInstant(bounds.toMs),
      revision: String(revision),
      read_at: readAt,
      sealed_at: sealedAt,
      definition: definitionOf(unit, markets),
      rollup_version: rollupVersion,
      rates: foreignKeys.has(keyOf(unit.id, day)) ? printRates(day, rates) : '',
    })
  })
  await warehouse.insert('sealed_day', Buffer.from(`${lines.join('\n')}\n`))
}

/** The rates of a day, as they are stored beside a seal that used any; without any rate it is `{}`. */
function printRates(day: string, rates: Rates): string {
  const entries = rates.currencies
    .toSorted()
    .map((currency) => [currency, rates.find(currency, day)?.toString() ?? null])
  return JSON.stringify(Object.fromEntries(entries.filter(([, nanos]) => nanos !== null)))
}

const rollUpColumns = [...dimensions, ...figureColumns].join(', ')

const rollUpSql = `
INSERT INTO product_day (${rollUpColumns}, revision, read_at)
SELECT ${rollUpColumns}, {revision:UInt64}, {readAt:DateTime64(6, 'UTC')}
FROM (${dayRowsSql({ isOneAdvertiser: false, profiles, condition: '1', isByDay: true })})
SETTINGS join_use_nulls = 0, do_not_merge_across_partitions_select_final = 1`

const foreignDaysSql = `
SELECT DISTINCT unit, toString(product_day.day) AS day FROM product_day
WHERE product_day.day >= {first:Date} AND revision = {revision:UInt64} AND foreign_amounts > 0`

function keyOf(unit: number, day: string): string {
  return `${unit} ${day}`
}
