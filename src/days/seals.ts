// Seals: the rows of `sealed_day`, each of which says under which revision the rollup of a day counts. This
// file alone decides which seal of a day is the latest, and whether it still holds.

import { createHash } from 'node:crypto'
import type { ReportMarket } from '../catalog/catalog-names.ts'
import { assert } from '../lib/assert.ts'
import type { Params, Warehouse } from '../warehouse/warehouse.ts'
import { dayKey, listUnits, unknownMarket } from './market-days.ts'
import type { DayRange } from './market-days.ts'

export interface Seal {
  /** The market, or 0 for those that the catalog does not know. */
  readonly unit: number
  readonly day: string
  readonly revision: bigint
  readonly rollupVersion: number
}

/** Which figures a rollup has that is written now; 0: all but the orders. */
export const rollupVersion = 1

/** A seal with what tells whether it is to be renewed. */
export interface StoredSeal extends Seal {
  /** The warehouse's instant, as text. */
  readonly readAt: string
  readonly rates: string
}

/** The latest seal of a unit and a day. */
export interface LatestSeal extends StoredSeal {
  readonly readAtUs: number
  /** The instants of the day in the market's zone. */
  readonly fromMs: number
  readonly toMs: number
  /** 1: no two rows of the rollup are of one row of the report by day. */
  readonly isWhole: 0 | 1
  /** False: the seal was made of other markets than the catalog has now. */
  readonly isValid: boolean
}

/** 100 markets over 27 years. Beyond that, sealing and reports fail loudly rather than on a part of the list. */
const sealsMax = 1_000_000

/**
 * The facts that the days of a unit depend on. A market's zone and currency never change once it has events. For the
 * unknown markets, this is what programs compare that do not know `unknown_ids`.
 */
export function definitionOf(unit: ReportMarket, markets: readonly ReportMarket[]): string {
  if (unit.id !== unknownMarket.id) return `${unit.timeZone} ${unit.currency}`
  const ids = markets.map((market) => market.id).toSorted((a, b) => a - b)
  return createHash('sha256').update(JSON.stringify(ids)).digest('base64url').slice(0, 22)
}

interface SealsAsked {
  readonly markets: readonly ReportMarket[]
  readonly first: string
  readonly last: string
}

/** The seals that hold: the latest one of each unit and day, unless it is void. */
export async function readSeals(
  warehouse: Pick<Warehouse, 'rows'>,
  { finalBefore, ...asked }: SealsAsked & { readonly finalBefore: string | null }
): Promise<readonly StoredSeal[]> {
  return holdingSeals(await readLatestSeals(warehouse, asked), finalBefore)
}

/** Seals of days before `finalBefore` always hold; null where there are no such days. */
export function holdingSeals(
  seals: readonly LatestSeal[],
  finalBefore: string | null
): readonly LatestSeal[] {
  return seals.filter(({ isValid, day }) => isValid || (finalBefore !== null && day < finalBefore))
}

export async function readLatestSeals(
  warehouse: Pick<Warehouse, 'rows'>,
  { markets, first, last }: SealsAsked
): Promise<readonly LatestSeal[]> {
  const { seals } = await readSealList(warehouse, { first, last })
  return judgeSeals(seals, markets)
}

/** The latest seal of a unit and a day, which may be void. */
export type ListedSeal = Omit<LatestSeal, 'isValid'> & {
  readonly definition: string
  readonly unknownIds: string
}

export interface SealList {
  readonly seals: readonly ListedSeal[]
  /** Tells this list from any other of the same days. */
  readonly revisionSum: bigint
}

/** Few rows of a day are not its latest seal: those that were replaced are swept after an hour. */
export async function readSealList(
  warehouse: Pick<Warehouse, 'rows'>,
  { first, last }: DayRange
): Promise<SealList> {
  const rows = await warehouse.rows<SealRow>(sealsSql, { first, last })
  assert(rows.length < sealsMax, 'the seals of a range fit into the list')
  const latest = new Map<string, ListedSeal>()
  for (const { revision, ...row } of rows) {
    const key = dayKey(row.unit, row.day)
    const seal = Object.assign(row, { revision: BigInt(revision) })
    const other = latest.get(key)
    if (other === undefined || isLater(seal, other)) latest.set(key, seal)
  }
  return {
    seals: [...latest.values()].toSorted(byDayAndUnit),
    revisionSum: sumRevisions(rows.map((row) => row.revision)),
  }
}

type SealRow = Omit<ListedSeal, 'revision'> & { readonly revision: string }

/** The latest seal is the one whose reading began last; if the instants are equal, the one with the greater revision. */
function isLater(seal: ListedSeal, other: ListedSeal): boolean {
  if (seal.readAtUs !== other.readAtUs) return seal.readAtUs > other.readAtUs
  return seal.revision > other.revision
}

function byDayAndUnit(a: ListedSeal, b: ListedSeal): number {
  if (a.day !== b.day) return a.day < b.day ? -1 : 1
  return a.unit - b.unit
}

/** As `sum(revision)` of the same rows. Revisions are random, so no two lists that differ have the same sum. */
export function sumRevisions(revisions: readonly string[]): bigint {
  return BigInt.asUintN(
    64,
    revisions.reduce((sum, revision) => sum + BigInt(revision), 0n)
  )
}

/**
 * Adds whether a seal was made of the markets as the catalog has them now. A seal of the unknown markets is void
 * once the catalog knows one that has rows in it; a new market without rows changes nothing. Markets never
 * leave the catalog.
 */
export function judgeSeals(
  seals: readonly ListedSeal[],
  markets: readonly ReportMarket[]
): readonly LatestSeal[] {
  const units = listUnits(markets)
  const definitions = new Map(units.map((unit) => [unit.id, definitionOf(unit, markets)]))
  const isKnown = (ids: readonly number[]) => ids.some((id) => definitions.has(id))
  return seals.map((seal) => {
    const { unit, definition, unknownIds } = seal
    const isValid =
      unknownIds === ''
        ? definition === (definitions.get(unit) ?? '')
        : !isKnown(readIds(unknownIds))
    return { ...seal, isValid }
  })
}

function readIds(text: string): readonly number[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(text) as readonly number[]
}

/**
 * The latest row of `sealed_day` for each unit and day: the one whose reading began last; if the instants are
 * equal, the one with the greater revision. Every query that needs to know which seal counts contains this.
 */
export function latestSealsSql(condition = '1'): string {
  // The columns are taken from the tuple one level up: spelled here, ClickHouse would analyse the tuple again for
  // each of them. `s.` keeps it from taking an alias for the column.
  return `
  SELECT unit, day, latest.1 AS read_at, latest.2 AS revision, latest.3 AS sealed_at, latest.4 AS from_at,
    latest.5 AS to_at, latest.6 AS definition, latest.7 AS rates, latest.8 AS unknown_ids, latest.9 AS rollup_version
  FROM (
    SELECT s.unit AS unit, s.day AS day,
      max((s.read_at, s.revision, s.sealed_at, s.from_at, s.to_at, s.definition, s.rates, s.unknown_ids,
        s.rollup_version)) AS latest
    FROM sealed_day AS s
    WHERE ${condition}
    GROUP BY s.unit, s.day
  )`
}

/**
 * Every report reads this, and nearly all of its cost is the analysis of its text. So which seal of a day is the
 * latest, and which is void, is found by the program. A single thread: the rows are few.
 */
const sealsSql = `
SELECT unit, day, toString(revision) AS revision, read_at AS readAt, toUnixTimestamp64Micro(read_at) AS readAtUs,
  toUnixTimestamp64Milli(from_at) AS fromMs, toUnixTimestamp64Milli(to_at) AS toMs, rates,
  rollup_version AS rollupVersion, is_whole AS isWhole, definition, unknown_ids AS unknownIds
FROM sealed_day
WHERE day >= {first:Date} AND day <= {last:Date}
LIMIT ${sealsMax}
SETTINGS max_threads = 1`

/**
 * A condition on `product_day`: the days that `sealParams` binds, each under the revision of its seal. The revisions
 * find the rows by the key of the table; the rest tells the day under its latest revision from the same day under
 * that of another one. A list of tuples says the same, and took five times the CPU for 173,000 rows.
 */
export function sealedRowSql(table: 'product_day' | 'd'): string {
  return `${table}.revision IN {sealRevisions:Array(UInt64)}
    AND ${table}.revision = ${revisionOf(`${table}.unit`, `${table}.day`, 'seal')}`
}

/** The revision bound for a unit and a day; 0 if there is none. */
export function revisionOf(unit: string, day: string, name: 'seal' | 'span'): string {
  return `transform(toInt64(${unit}) * ${daysPerUnit} + toUInt16(${day}),
      {${name}Keys:Array(Int64)}, {${name}Revisions:Array(UInt64)}, toUInt64(0))`
}

// More than the 65,536 days that a date can name.
const daysPerUnit = 100_000

/** The parameters that conditions on the rows of seals bind. */
export function sealParams(seals: readonly Pick<Seal, 'unit' | 'day' | 'revision'>[]): Params {
  return {
    sealUnits: seals.map((seal) => seal.unit),
    sealDays: seals.map((seal) => dayNumber(seal.day)),
    sealKeys: seals.map(({ unit, day }) => dayOfUnit(unit, day)),
    sealRevisions: seals.map((seal) => seal.revision),
  }
}

export function spanParams(
  spans: readonly { readonly unit: number; readonly firstDay: string; readonly revision: bigint }[]
): Params {
  return {
    spanKeys: spans.map(({ unit, firstDay }) => dayOfUnit(unit, firstDay)),
    spanRevisions: spans.map(({ revision }) => revision),
  }
}

/** The number under which `revisionOf` looks for a unit and a day. */
function dayOfUnit(unit: number, day: string): number {
  return unit * daysPerUnit + dayNumber(day)
}

function dayNumber(day: string): number {
  return Date.parse(day) / 86_400_000
}
