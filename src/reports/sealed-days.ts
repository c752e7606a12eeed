// Which days of a report are answered from the rollup. The list is read first and bound, so that a
// report never sees half a day: what is sealed meanwhile stands under another revision.

import { createHash } from 'node:crypto'
import { addDays, listDays } from '../domain/day.ts'
import { assert } from '../lib/assert.ts'
import type { Params, Warehouse } from '../warehouse/warehouse.ts'
import type { ReportMarket } from './catalog-names.ts'
import { unknownMarket } from './day-rows.ts'
import type { MarketDays } from './market-days.ts'
import { dayOrNull, laterDay } from './final-days.ts'

export interface Seal {
  /** The market, or 0 for those that the catalog does not know. */
  readonly unit: number
  readonly day: string
  readonly revision: bigint
  readonly rollupVersion: number
}

/** Which figures a rollup has that is written now; 0: all but the orders. */
export const rollupVersion = 1

/** A seal with what tells whether it is to be renewed. Instants are the warehouse's, as text. */
export interface StoredSeal extends Seal {
  readonly readAt: string
  readonly definition: string
  readonly rates: string
}

export interface ReportDays {
  readonly seals: readonly Seal[]
  /** Every market, each with the days that are answered from the events (often none). */
  readonly open: readonly MarketDays[]
  readonly hasOpenDays: boolean
  /** Sealed days of which the rollup of some market does not say how many orders it holds. */
  readonly withoutOrders: ReadonlySet<string>
  /** The last day from which on back all is sealed, null while nothing is. */
  readonly completeThrough: string | null
}

/** Of 100 markets and 27 years. Beyond, sealing and reports fail loudly rather than on a part of the list. */
const sealsMax = 1_000_000

/** All markets, and the one that stands for the unknown ones. */
export function listUnits(markets: readonly ReportMarket[]): readonly ReportMarket[] {
  return [...markets, unknownMarket]
}

/**
 * What the days of a unit hang on. A market's zone and currency never change once it has events; but
 * events may come before their market, and then move from the unknown unit to a unit of their own.
 */
export function definitionOf(unit: ReportMarket, markets: readonly ReportMarket[]): string {
  if (unit.id !== unknownMarket.id) return `${unit.timeZone} ${unit.currency}`
  const ids = markets.map((market) => market.id).toSorted((a, b) => a - b)
  return createHash('sha256').update(JSON.stringify(ids)).digest('base64url').slice(0, 22)
}

/** The seals that count: per unit and day the one whose reading began last. */
export async function readSeals(
  warehouse: Pick<Warehouse, 'rows'>,
  range: { readonly first: string; readonly last: string }
): Promise<readonly StoredSeal[]> {
  const rows = await warehouse.rows<Omit<StoredSeal, 'revision'> & { revision: string }>(
    sealsSql,
    range
  )
  assert(rows.length < sealsMax, 'the seals of a range fit into the list')
  return rows.map(({ revision, ...row }) => Object.assign(row, { revision: BigInt(revision) }))
}

/** Of the rows of `product_day` those of the days bound by `sealParams`, under the revision that counts. */
export function sealedRowSql(table: 'product_day' | 'd'): string {
  return `(${table}.unit, ${table}.day, ${table}.revision) IN arrayZip(
    {sealUnits:Array(Int32)}, arrayMap(d -> toDate(d), {sealDays:Array(Int32)}), {sealRevisions:Array(UInt64)}
  )`
}

export function sealParams(seals: readonly Seal[]): Params {
  return {
    sealUnits: seals.map((seal) => seal.unit),
    sealDays: seals.map((seal) => Date.parse(seal.day) / 86_400_000),
    sealRevisions: seals.map((seal) => seal.revision),
  }
}

interface Validity {
  readonly markets: readonly ReportMarket[]
  readonly finalBefore: string | null
}

/**
 * Those made of the markets as they are. Final days stay what they were: a market that the catalog
 * learned of later changes nothing of them.
 */
export function validSeals(
  stored: readonly StoredSeal[],
  { markets, finalBefore }: Validity
): readonly StoredSeal[] {
  const definitions = new Map(
    listUnits(markets).map((unit) => [unit.id, definitionOf(unit, markets)])
  )
  return stored.filter(
    ({ unit, day, definition }) =>
      (finalBefore !== null && day < finalBefore) || definitions.get(unit) === definition
  )
}

/**
 * The rows of `sealed_day` that count, whole: per unit and day the one whose reading began last, of equal
 * instants the greater revision. Whoever asks which seal counts asks this.
 */
export function latestSealsSql(condition = '1'): string {
  // Qualified, because the engine would put the column of that name below in its place.
  const latest =
    'max((s.read_at, s.revision, s.sealed_at, s.from_at, s.to_at, s.definition, s.rates, s.rollup_version))'
  return `
  SELECT s.unit AS unit, s.day AS day, ${latest}.1 AS read_at, ${latest}.2 AS revision, ${latest}.3 AS sealed_at,
    ${latest}.4 AS from_at, ${latest}.5 AS to_at, ${latest}.6 AS definition, ${latest}.7 AS rates,
    ${latest}.8 AS rollup_version
  FROM sealed_day AS s
  WHERE ${condition}
  GROUP BY s.unit, s.day`
}

const sealsSql = `
SELECT unit, toString(seal.day) AS day, toString(seal.revision) AS revision, toString(read_at) AS readAt,
  definition, rates, rollup_version AS rollupVersion
FROM (${latestSealsSql('s.day >= {first:Date} AND s.day <= {last:Date}')}) AS seal
ORDER BY seal.day, unit
LIMIT ${sealsMax}`

export interface Bounds {
  /**
   * The first day of which there can be anything in any zone, null while there are no events. Days
   * before it need no seal: they are empty.
   */
  readonly firstDay: string | null
  /** Days before this one are never computed again; null while there is no such day. */
  readonly finalBefore: string | null
}

export async function readBounds(warehouse: Pick<Warehouse, 'rows'>): Promise<Bounds> {
  const [row] = await warehouse.rows<{ count: number; first: string; final: string }>(boundsSql)
  return {
    firstDay: row === undefined || row.count === 0 ? null : row.first,
    finalBefore: dayOrNull(row?.final),
  }
}

const boundsSql = `
SELECT count() AS count, toString(min(first_day)) AS first,
  (SELECT toString(maxIf(day, state = 'final')) FROM final_before) AS final
FROM (
  SELECT toDate(from_at) - 1 AS first_day
  FROM (SELECT from_at FROM touched_span ORDER BY from_at LIMIT 1)
  UNION ALL
  SELECT day FROM (SELECT day FROM sealed_day ORDER BY day LIMIT 1)
)`

export interface SealedThrough {
  readonly marketId: number
  /** The last day from which on back all is sealed, null while nothing is. */
  readonly completeThrough: string | null
  /** The first day that is not sealed, null while there are no events. */
  readonly openFrom: string | null
}

/** How far each market is sealed, as of `today`. */
export async function readSealedThrough(
  warehouse: Pick<Warehouse, 'rows'>,
  markets: readonly ReportMarket[],
  today: string
): Promise<readonly SealedThrough[]> {
  const { firstDay, finalBefore } = await readBounds(warehouse)
  if (firstDay === null || firstDay > today) {
    return markets.map(({ id }) => ({ marketId: id, completeThrough: null, openFrom: null }))
  }
  // What is final was sealed for every market of its time, and is not looked at any more.
  const from = laterDay(firstDay, finalBefore)
  const stored = await readSeals(warehouse, { first: from, last: today })
  const seals = validSeals(stored, { markets, finalBefore })
  return markets.map((market) => {
    const own = seals.filter((one) => one.unit === market.id)
    const sealed = new Set(own.map(({ day }) => day))
    const firstOpen = listDays(from, today).find((day) => !sealed.has(day)) ?? addDays(today, 1)
    const completeThrough = firstOpen > firstDay ? addDays(firstOpen, -1) : null
    return { marketId: market.id, completeThrough, openFrom: firstOpen }
  })
}

export interface Restatement {
  readonly day: string
  /** Null: of the markets that the catalog does not know. */
  readonly marketId: number | null
  /** Names what the day's figures are; another one when they were computed again. */
  readonly revision: string
  readonly sealedAtMs: number
}

const restatementsMax = 5_000
/** Of two engines, one may show a seal a moment after a later one of the other. */
const overlapMs = 60_000

/**
 * The days that were sealed, or sealed again, after an instant, oldest first. Those of the
 * last minute before it come again, so that asking from the last one on skips none.
 */
export async function readRestatements(
  warehouse: Pick<Warehouse, 'rows'>,
  sinceMs: number
): Promise<readonly Restatement[]> {
  const rows = await warehouse.rows<{
    unit: number
    day: string
    revision: string
    sealedAtMs: number
  }>(restatementsSql, { afterMs: sinceMs - overlapMs, rowsMax: restatementsMax })
  return rows.map(({ unit, day, revision, sealedAtMs }) => ({
    day,
    marketId: unit === unknownMarket.id ? null : unit,
    revision,
    sealedAtMs,
  }))
}

const restatementsSql = `
SELECT unit, toString(seal.day) AS day, toString(seal.revision) AS revision,
  toUnixTimestamp64Milli(sealed_at) AS sealedAtMs
FROM (${latestSealsSql()}) AS seal
WHERE sealedAtMs > {afterMs:Int64}
ORDER BY sealedAtMs, seal.day, unit
LIMIT {rowsMax:UInt32} WITH TIES`

export interface DaysAsked {
  readonly startDate: string
  readonly endDate: string
}

/** Divides the days of a report into sealed and open ones. */
export async function readReportDays(
  warehouse: Pick<Warehouse, 'rows'>,
  markets: readonly ReportMarket[],
  { startDate, endDate }: DaysAsked
): Promise<ReportDays> {
  const [stored, { firstDay, finalBefore }] = await Promise.all([
    readSeals(warehouse, { first: startDate, last: endDate }),
    readBounds(warehouse),
  ])
  const seals = validSeals(stored, { markets, finalBefore })
  return divideDays({ seals, firstDay, finalBefore, markets, startDate, endDate })
}

interface Division extends DaysAsked, Bounds {
  readonly seals: readonly StoredSeal[]
  readonly markets: readonly ReportMarket[]
}

function divideDays(division: Division): ReportDays {
  const { seals, markets, startDate, endDate, finalBefore } = division
  const isFinal = (day: string): boolean => finalBefore !== null && day < finalBefore
  const units = listUnits(markets)
  const sealed = new Set(seals.map((seal) => `${seal.unit} ${seal.day}`))
  const days = listDays(startDate, endDate)
  const isOpen = (unit: number, day: string): boolean =>
    division.firstDay !== null &&
    day >= division.firstDay &&
    !isFinal(day) &&
    !sealed.has(`${unit} ${day}`)
  const open = units.map((market) => ({
    market,
    days: days.filter((day) => isOpen(market.id, day)),
  }))
  const firstOpen = open.flatMap((one) => one.days.slice(0, 1)).toSorted()[0]
  const hasOpenDays = firstOpen !== undefined
  const completeThrough = hasOpenDays ? addDays(firstOpen, -1) : endDate
  return {
    seals,
    open,
    hasOpenDays,
    withoutOrders: new Set(
      seals.filter((seal) => seal.rollupVersion < rollupVersion).map(({ day }) => day)
    ),
    completeThrough:
      division.firstDay === null || completeThrough < startDate ? null : completeThrough,
  }
}
