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

/** A seal with what tells whether it is to be renewed. Instants are the warehouse's, as text. */
export interface StoredSeal extends Seal {
  readonly readAt: string
  readonly rates: string
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
  /** Seals of days before this one always hold; null where there are no such days. */
  readonly finalBefore: string | null
}

/** The seals that hold: the latest one of each unit and day, unless it is void. */
export async function readSeals(
  warehouse: Pick<Warehouse, 'rows'>,
  { markets, first, last, finalBefore }: SealsAsked
): Promise<readonly StoredSeal[]> {
  const rows = await warehouse.rows<Omit<StoredSeal, 'revision'> & { revision: string }>(sealsSql, {
    first,
    last,
    finalBefore: finalBefore ?? '1970-01-01',
    ...validityParams(markets),
  })
  assert(rows.length < sealsMax, 'the seals of a range fit into the list')
  return rows.map(({ revision, ...row }) => Object.assign(row, { revision: BigInt(revision) }))
}

/**
 * Whether a seal was made of the markets as the catalog has them now. A seal of the unknown markets is void
 * once the catalog knows one that has rows in it; a new market without rows changes nothing. Markets never
 * leave the catalog.
 */
export const isValidSql = `if(unknown_ids = '',
  definition = transform(unit, {validUnits:Array(Int32)}, {validDefinitions:Array(String)}, ''),
  NOT hasAny(JSONExtract(unknown_ids, 'Array(Int32)'), {validUnits:Array(Int32)}))`

/** The parameters that `isValidSql` binds. No market has the id 0, which stands for the unknown ones. */
export function validityParams(markets: readonly ReportMarket[]): Params {
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

const sealsSql = `
SELECT unit, toString(seal.day) AS day, toString(seal.revision) AS revision, toString(read_at) AS readAt,
  rates, rollup_version AS rollupVersion
FROM (${latestSealsSql('s.day >= {first:Date} AND s.day <= {last:Date}')}) AS seal
WHERE seal.day < {finalBefore:Date} OR ${isValidSql}
ORDER BY seal.day, unit
LIMIT ${sealsMax}`

/** A condition on `product_day`: the days that `sealParams` binds, each under the revision of its seal. */
export function sealedRowSql(table: 'product_day' | 'd'): string {
  return `(${table}.unit, ${table}.day, ${table}.revision) IN arrayZip(
    {sealUnits:Array(Int32)}, arrayMap(d -> toDate(d), {sealDays:Array(Int32)}), {sealRevisions:Array(UInt64)}
  )`
}

export function sealParams(seals: readonly Pick<Seal, 'unit' | 'day' | 'revision'>[]): Params {
  return {
    sealUnits: seals.map((seal) => seal.unit),
    sealDays: seals.map((seal) => Date.parse(seal.day) / 86_400_000),
    sealRevisions: seals.map((seal) => seal.revision),
  }
}
