// Removes the rows of revisions that nothing reads any more: revisions that were replaced an hour ago, and
// revisions of an engine that ended halfway. They are found among seals and beginnings, which are few, and then
// deleted by their keys in the months that have their rows.

import { beatenSql, keepSupersededMs } from './kept-revisions.ts'
import { rangeOfDays } from './market-days.ts'
import type { DayRange } from './market-days.ts'
import { shiftInstant, warehouseNow } from '../warehouse/instant.ts'
import type { Params, Warehouse } from '../warehouse/warehouse.ts'

export const sweepLimits = {
  /** A reading that began longer ago than this is not sealed any more. */
  sealingMsMax: 10_800_000,
  /** Rows without a seal this long after their reading began are those of an engine that ended halfway. */
  orphanMs: 43_200_000,
  keysPerDelete: 5_000,
} as const

interface Beginning {
  readonly revision: bigint
  readonly range: DayRange
  readonly readAt: string
}

/** Call this before the first row of a revision is written. */
export async function beginRevision(
  warehouse: Warehouse,
  { revision, range, readAt }: Beginning
): Promise<void> {
  await warehouse.command(
    `INSERT INTO rollup_begun (revision, first_day, last_day, begun_at)
     SELECT {revision:UInt64}, {first:Date}, {last:Date}, {readAt:DateTime64(6, 'UTC')}`,
    { revision, ...range, readAt }
  )
}

export interface SweepDeps {
  readonly warehouse: Warehouse
  /** Shortened by tests only. */
  readonly keepMs?: number
  readonly orphanMs?: number
}

const reads = ['sealed_day', 'sealed_span', 'product_day', 'product_span', 'rollup_begun'] as const

const beginningOfTime = '1970-01-01 00:00:00.000000'

/** Remembers how far it has looked for revisions that ended halfway; a new sweeper looks at all of them once. */
export class Sweeper {
  readonly #deps: SweepDeps
  #orphansThrough = beginningOfTime

  constructor(deps: SweepDeps) {
    this.#deps = deps
  }

  async sweep(): Promise<void> {
    const { warehouse, keepMs = keepSupersededMs, orphanMs = sweepLimits.orphanMs } = this.#deps
    const now = await warehouseNow(warehouse)
    await warehouse.barrier(reads)
    for (const seals of ['sealed_day', 'sealed_span'] as const) {
      while (await sweepReplaced(warehouse, seals, shiftInstant(now, -keepMs)));
    }
    const begunBefore = shiftInstant(now, -orphanMs)
    await sweepOrphans(warehouse, { after: this.#orphansThrough, before: begunBefore })
    this.#orphansThrough = begunBefore
  }
}

interface Key {
  readonly unit: number
  readonly day: string
  readonly dayCount: number
  readonly revision: string
}

const rollups = {
  sealed_day: { table: 'product_day', key: 'unit, day, toUInt16(1), revision', day: 'day' },
  sealed_span: {
    table: 'product_span',
    key: 'unit, first_day, day_count, revision',
    day: 'first_day',
  },
} as const

/** True: there are more. Seals are deleted last, because rows are found by them if this ends halfway. */
async function sweepReplaced(
  warehouse: Warehouse,
  seals: keyof typeof rollups,
  before: string
): Promise<boolean> {
  const { table, key, day } = rollups[seals]
  const keys = await warehouse.rows<Key>(
    `SELECT unit, toString(first_day) AS day, day_count AS dayCount, toString(revision) AS revision
     FROM (${beatenSql(seals, '1')})
     WHERE place > 1 AND beaten_at < {before:DateTime64(6, 'UTC')}
     ORDER BY first_day, day_count, unit LIMIT {rowsMax:UInt32}`,
    { before, rowsMax: sweepLimits.keysPerDelete }
  )
  if (keys.length === 0) return false
  const params = {
    units: keys.map((one) => one.unit),
    days: keys.map((one) => Date.parse(one.day) / 86_400_000),
    dayCounts: keys.map((one) => one.dayCount),
    revisions: keys.map((one) => BigInt(one.revision)),
    ...rangeOfDays(keys.map((one) => one.day)),
  }
  const condition = `${day} >= {first:Date} AND ${day} <= {last:Date} AND (${key}) IN arrayZip(
    {units:Array(Int32)}, arrayMap(d -> toDate(d), {days:Array(Int32)}),
    {dayCounts:Array(UInt16)}, {revisions:Array(UInt64)})`
  await deleteRows(warehouse, { table, day, condition, params })
  await warehouse.command(`DELETE FROM ${seals} WHERE ${condition}`, params)
  await forgetSwept(warehouse, seals, params.revisions)
  return keys.length === sweepLimits.keysPerDelete
}

/** Every process that starts within a month would look for a revision that was begun and has no seal. */
async function forgetSwept(
  warehouse: Warehouse,
  seals: keyof typeof rollups,
  revisions: readonly bigint[]
): Promise<void> {
  const left = await warehouse.rows<{ revision: string }>(
    `SELECT DISTINCT toString(s.revision) AS revision FROM ${seals} AS s
     WHERE has({revisions:Array(UInt64)}, s.revision)`,
    { revisions }
  )
  const sealed = new Set(left.map((one) => BigInt(one.revision)))
  await forgetBegun(
    warehouse,
    revisions.filter((revision) => !sealed.has(revision))
  )
}

async function forgetBegun(warehouse: Warehouse, revisions: readonly bigint[]): Promise<void> {
  if (revisions.length === 0) return
  await warehouse.command(
    'DELETE FROM rollup_begun WHERE has({revisions:Array(UInt64)}, revision)',
    { revisions }
  )
}

interface Rows {
  readonly table: 'product_day' | 'product_span'
  readonly day: 'day' | 'first_day'
  readonly condition: string
  readonly params: Params
}

/** By months, which are the partitions: a deletion looks at all rows of the partition. */
async function deleteRows(
  warehouse: Warehouse,
  { table, day, condition, params }: Rows
): Promise<void> {
  const months = await warehouse.rows<{ month: number }>(
    `SELECT DISTINCT toYYYYMM(${day}) AS month FROM ${table} WHERE ${condition} ORDER BY month`,
    params
  )
  for (const { month } of months) {
    // A partition cannot be a bound value; the month is a number of ClickHouse's own.
    await warehouse.command(
      `DELETE FROM ${table} IN PARTITION ID '${month}' WHERE ${condition}`,
      params
    )
  }
}

/** Removes rows of revisions that were begun long ago and have no seal. */
async function sweepOrphans(
  warehouse: Warehouse,
  { after, before }: { after: string; readonly before: string }
): Promise<void> {
  for (;;) {
    const begun = await warehouse.rows<{
      revision: string
      first: string
      last: string
      at: string
    }>(orphansSql, { after, before, rowsMax: sweepLimits.keysPerDelete })
    if (begun.length === 0) return
    const params = {
      revisions: begun.map((one) => BigInt(one.revision)),
      ...rangeOfDays(begun.flatMap((one) => [one.first, one.last])),
    }
    for (const { table, day } of Object.values(rollups)) {
      const condition = `${day} >= {first:Date} AND ${day} <= {last:Date}
        AND has({revisions:Array(UInt64)}, revision)`
      await deleteRows(warehouse, { table, day, condition, params })
    }
    await forgetBegun(warehouse, params.revisions)
    const last = begun.at(-1)
    if (last === undefined || begun.length < sweepLimits.keysPerDelete) return
    after = last.at
  }
}

/** Reads the revisions of all seals once, so that no statement that deletes needs a subquery. */
const orphansSql = `
SELECT toString(revision) AS revision, toString(first_day) AS first, toString(last_day) AS last,
  toString(begun_at) AS at
FROM rollup_begun
WHERE begun_at > {after:DateTime64(6, 'UTC')} AND begun_at < {before:DateTime64(6, 'UTC')}
  AND rollup_begun.revision NOT IN (SELECT revision FROM sealed_day)
  AND rollup_begun.revision NOT IN (SELECT revision FROM sealed_span)
ORDER BY begun_at
LIMIT {rowsMax:UInt32} WITH TIES`
