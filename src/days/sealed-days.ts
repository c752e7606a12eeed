// Which days of a report are answered from the rollup. The list is read first and bound, so that a
// report never sees half a day: what is sealed meanwhile stands under another revision.

import { createHash } from 'node:crypto'
import { addDays, listDays } from '../domain/day.ts'
import { assert } from '../lib/assert.ts'
import type { Params, Warehouse } from '../warehouse/warehouse.ts'
import type { ReportMarket } from '../catalog/catalog-names.ts'
import { unknownMarket } from './day-rows.ts'
import { listUnits, readBounds } from './day-bounds.ts'
import type { Bounds } from './day-bounds.ts'
import type { MarketDays } from './market-days.ts'
import { laterDay } from './final-days.ts'
import { latestSealsSql } from './latest-seals-sql.ts'
import { isOutdated, isTorn, linkedDays, readTouchedDays } from './touched-days.ts'

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
  /** A JSON list, for the unknown markets; '' where the program that sealed the day did not say. */
  readonly unknownIds: string
  readonly rates: string
}

export interface ReportDays {
  readonly seals: readonly Seal[]
  /** Every market, each with the days that are answered from the events (often none). */
  readonly open: readonly MarketDays[]
  readonly hasOpenDays: boolean
  /** Sealed days of which the rollup of some market does not say how many orders it holds. */
  readonly withoutOrders: ReadonlySet<string>
  /** Days that input has reached since they were sealed, oldest first; their figures are the sealed ones. */
  readonly renewingDays: readonly string[]
  /** The last day from which on back all is sealed, null while nothing is. */
  readonly completeThrough: string | null
}

/** Of 100 markets and 27 years. Beyond, sealing and reports fail loudly rather than on a part of the list. */
const sealsMax = 1_000_000

/**
 * What the days of a unit hang on. A market's zone and currency never change once it has events; but
 * events may come before their market, and then move from the unknown unit to a unit of their own. Of the
 * unknown ones this is what an older program goes by; `isValid` says what counts.
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

export function sealParams(seals: readonly Pick<Seal, 'unit' | 'day' | 'revision'>[]): Params {
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
  const isValid = createSealCheck(markets)
  return stored.filter((seal) => (finalBefore !== null && seal.day < finalBefore) || isValid(seal))
}

/**
 * A seal of the unknown markets is void once the catalog knows one that has rows in it; a market that is
 * new and has none changes nothing. Markets never leave the catalog.
 */
export function createSealCheck(markets: readonly ReportMarket[]): (seal: StoredSeal) => boolean {
  const known = new Set(markets.map(({ id }) => id))
  const definitions = new Map(
    listUnits(markets).map((unit) => [unit.id, definitionOf(unit, markets)])
  )
  return ({ unit, definition, unknownIds }) => {
    if (unknownIds === '') return definitions.get(unit) === definition
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return !(JSON.parse(unknownIds) as readonly number[]).some((id) => known.has(id))
  }
}

const sealsSql = `
SELECT unit, toString(seal.day) AS day, toString(seal.revision) AS revision, toString(read_at) AS readAt,
  definition, unknown_ids AS unknownIds, rates, rollup_version AS rollupVersion
FROM (${latestSealsSql('s.day >= {first:Date} AND s.day <= {last:Date}')}) AS seal
ORDER BY seal.day, unit
LIMIT ${sealsMax}`

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
  const { firstDays, finalBefore } = await readBounds(warehouse, markets)
  const first = [...firstDays.values()].toSorted()[0]
  if (first === undefined || first > today) {
    return markets.map(({ id }) => ({ marketId: id, completeThrough: null, openFrom: null }))
  }
  // What is final was sealed for every market of its time, and is not looked at any more.
  const stored = await readSeals(warehouse, { first: laterDay(first, finalBefore), last: today })
  const seals = validSeals(stored, { markets, finalBefore })
  return markets.map((market) => {
    const firstDay = firstDays.get(market.id)
    if (firstDay === undefined || firstDay > today) {
      return { marketId: market.id, completeThrough: null, openFrom: null }
    }
    const own = seals.filter((one) => one.unit === market.id)
    const sealed = new Set(own.map(({ day }) => day))
    const days = listDays(laterDay(firstDay, finalBefore), today)
    const firstOpen = days.find((day) => !sealed.has(day)) ?? addDays(today, 1)
    const completeThrough = firstOpen > firstDay ? addDays(firstOpen, -1) : null
    return { marketId: market.id, completeThrough, openFrom: firstOpen }
  })
}

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
  const marketIds = listUnits(markets).map(({ id }) => id)
  const [found, bounds] = await Promise.all([
    readTouchedDays(warehouse, { marketIds, ...withMargin({ startDate, endDate }) }),
    readBounds(warehouse, markets),
  ])
  const { finalBefore } = bounds
  const touched = found.filter(({ day }) => finalBefore === null || day >= finalBefore)
  const torn = new Set([...linkedDays(touched, touched.filter(isTorn))].map(keyOf))
  const outdated = new Set(touched.filter(isOutdated).map(keyOf))
  // After the touched days: what was renewed in between is sealed as they say, or better.
  const stored = await readSeals(warehouse, { first: startDate, last: endDate })
  const valid = validSeals(stored, { markets, finalBefore })
  const renewing = valid.filter((seal) => torn.has(keyOf(seal)) || outdated.has(keyOf(seal)))
  return {
    ...divideDays({
      ...bounds,
      seals: valid.filter((seal) => !torn.has(keyOf(seal))),
      markets,
      startDate,
      endDate,
    }),
    renewingDays: [...new Set(renewing.map(({ day }) => day))].toSorted(),
  }
}

/** Purchases can move further; the spans of ad events are never longer than a week. */
const marginDays = 31
const eventDays = { first: '2020-02-01', last: '2100-01-01' }

/** Days of events, and so many on both sides that the spans over the days asked for lie among them. */
function withMargin({ startDate, endDate }: DaysAsked) {
  const start = startDate > eventDays.first ? startDate : eventDays.first
  const end = endDate < eventDays.last ? endDate : eventDays.last
  return { first: addDays(start, -marginDays), last: addDays(end, marginDays) }
}

function keyOf({ unit, day }: Pick<Seal, 'unit' | 'day'>): string {
  return `${unit} ${day}`
}

interface Division extends DaysAsked, Bounds {
  readonly seals: readonly StoredSeal[]
  readonly markets: readonly ReportMarket[]
}

function divideDays(division: Division): Omit<ReportDays, 'renewingDays'> {
  const { seals, markets, startDate, endDate, finalBefore } = division
  const isFinal = (day: string): boolean => finalBefore !== null && day < finalBefore
  const units = listUnits(markets)
  const sealed = new Set(seals.map(keyOf))
  const days = listDays(startDate, endDate)
  const isOpen = (unit: number, day: string): boolean => {
    const firstDay = division.firstDays.get(unit)
    return (
      firstDay !== undefined &&
      day >= firstDay &&
      !isFinal(day) &&
      !sealed.has(keyOf({ unit, day }))
    )
  }
  const open = units.map((market) => ({
    market,
    days: days.filter((day) => isOpen(market.id, day)),
  }))
  const firstOpen = open.flatMap((one) => one.days.slice(0, 1)).toSorted()[0]
  const hasOpenDays = firstOpen !== undefined
  const hasEvents = units.some(({ id }) => division.firstDays.has(id))
  const completeThrough = hasOpenDays ? addDays(firstOpen, -1) : endDate
  return {
    seals,
    open,
    hasOpenDays,
    withoutOrders: new Set(
      seals.filter((seal) => seal.rollupVersion < rollupVersion).map(({ day }) => day)
    ),
    completeThrough: !hasEvents || completeThrough < startDate ? null : completeThrough,
  }
}
