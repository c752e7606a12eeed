// Seals: the rows of `sealed_day`, each of which says under which revision the rollup of a day counts. This
// file alone decides which seal of a day is the latest, and whether it still holds.

import { createHash } from 'node:crypto'
import type { ReportMarket } from '../catalog/catalog-names.ts'
import { assert } from '../lib/assert.ts'
import type { Params, Warehouse } from '../warehouse/warehouse.ts'
import { listUnits, unknownMarket } from './market-days.ts'

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
  const rows = await warehouse.rows<SealRow>(sealsSql, { first, last, ...validityParams(markets) })
  assert(rows.length < sealsMax, 'the seals of a range fit into the list')
  return rows.map(({ revision, isValid, ...row }) =>
    Object.assign(row, { revision: BigInt(revision), isValid: isValid === 1 })
  )
}

type SealRow = Omit<LatestSeal, 'revision' | 'isValid'> & {
  readonly revision: string
  readonly isValid: 0 | 1
}

/**
 * Whether a seal was made of the markets as the catalog has them now. A seal of the unknown markets is void
 * once the catalog knows one that has rows in it; a new market without rows changes nothing. Markets never
 * leave the catalog.
 */
const isValidSql = `if(unknown_ids = '',
  definition = transform(unit, {validUnits:Array(Int32)}, {validDefinitions:Array(String)}, ''),
  NOT hasAny(JSONExtract(unknown_ids, 'Array(Int32)'), {validUnits:Array(Int32)}))`

/** The parameters that `isValidSql` binds. No market has the id 0, which stands for the unknown ones. */
function validityParams(markets: readonly ReportMarket[]): Params {
  const units = listUnits(markets)
  return {
    validUnits: units.map(({ id }) => id),
    validDefinitions: units.map((unit) => definitionOf(unit, markets)),
  }
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
 * Every report reads this, and nearly all of its cost is the analysis of its text: sorting says which seal is the
 * latest in half of the time that a maximum over a tuple takes. A single thread: the rows are few.
 */
const sealsSql = `
SELECT unit, toString(s.day) AS day, toString(s.revision) AS revision, toString(s.read_at) AS readAt,
  toUnixTimestamp64Micro(s.read_at) AS readAtUs, toUnixTimestamp64Milli(from_at) AS fromMs,
  toUnixTimestamp64Milli(to_at) AS toMs, rates, rollup_version AS rollupVersion, ${isValidSql} AS isValid
FROM sealed_day AS s
WHERE s.day >= {first:Date} AND s.day <= {last:Date}
ORDER BY s.day, unit, s.read_at DESC, s.revision DESC
LIMIT 1 BY s.day, unit
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
