// The first day on which an advertiser has figures: before it there is nothing to compare with.
import type { ReportMarket } from '../catalog/catalog-names.ts'
import { readSealedThrough } from '../days/sealed-days.ts'
import { dayOf } from '../domain/day.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import {
  assertAnswersFor,
  assertAnswersForAll,
  boundAdvertiserSql,
  boundAdvertisersSql,
} from './bound-advertiser.ts'

export interface FirstDayDeps {
  readonly warehouse: Pick<Warehouse, 'rows' | 'barrier'>
  readonly markets: readonly ReportMarket[]
}

/**
 * Null while no event of the advertiser counted. Later credit and charges are never on an earlier day than their ad.
 * Events are asked too although days are sealed: days before those may still wait to be.
 */
export async function readFirstDay(
  { warehouse, markets }: FirstDayDeps,
  advertiserId: number
): Promise<string | null> {
  await warehouse.barrier(['product_day', 'ad_event'])
  const [sealed, events] = await Promise.all([
    warehouse.rows<SealedRow>(firstSealedSql, { advertiserId }),
    warehouse.rows<EventRow & Bound>(firstEventsSql, { advertiserId }),
  ])
  for (const row of [...sealed, ...events]) assertAnswersFor(advertiserId, row.bound_advertiser_id)
  const days = [...sealed.map(({ day }) => day), ...events.map(dayIn(markets))]
  return days.toSorted()[0] ?? null
}

/** The day of an event in its market. */
function dayIn(markets: readonly ReportMarket[]) {
  const zones = new Map(markets.map(({ id, timeZone }) => [id, timeZone]))
  return ({ at_ms, market_id }: EventRow) => dayOf(Number(at_ms), zones.get(market_id) ?? 'UTC')
}

/** The first days of several advertisers; those without any are left out. */
export async function readFirstDays(
  { warehouse, markets }: FirstDayDeps,
  advertiserIds: readonly number[]
): Promise<ReadonlyMap<number, string>> {
  await warehouse.barrier(['product_day', 'ad_event'])
  const sealed = await warehouse.rows<BoundRow & { readonly day: string }>(firstSealedDaysSql, {
    advertiserIds,
  })
  assertAnswersForAll(advertiserIds, sealed)
  const days = new Map(sealed.map((row) => [row.advertiser_id, row.day]))

  const openFrom = await readOpenFrom({ warehouse, markets }, [...days.values()])
  const others = advertiserIds.filter((id) => (days.get(id) ?? '9999') > openFrom)
  if (others.length === 0) return days
  const events = await warehouse.rows<BoundRow & EventRow>(firstEventsOfManySql, {
    advertiserIds: others,
  })
  assertAnswersForAll(others, events)
  const dayOfRow = dayIn(markets)
  for (const row of events) {
    const [day, known] = [dayOfRow(row), days.get(row.advertiser_id)]
    if (known === undefined || day < known) days.set(row.advertiser_id, day)
  }
  return days
}

/** The first day that is not sealed in some market. Whose figures begin on it or before has no event on an earlier one. */
async function readOpenFrom(
  { warehouse, markets }: FirstDayDeps,
  sealedDays: readonly string[]
): Promise<string> {
  const last = sealedDays.toSorted().at(-1)
  if (last === undefined) return ''
  const sealedThrough = await readSealedThrough(warehouse, markets, last)
  return sealedThrough.flatMap(({ openFrom }) => openFrom ?? []).toSorted()[0] ?? last
}

interface BoundRow {
  readonly advertiser_id: number
  readonly bound_advertisers: string
}

const firstSealedDaysSql = `
  SELECT advertiser_id, toString(min(product_day.day)) AS day, ${boundAdvertisersSql}
  FROM product_day
  WHERE advertiser_id IN {advertiserIds:Array(Int32)}
  GROUP BY advertiser_id`

/** Of few advertisers: those that are new, and while days wait to be sealed those that begin after these. */
const firstEventsOfManySql = `
  SELECT advertiser_id, market_id, toString(toUnixTimestamp64Milli(min(received_at))) AS at_ms,
    ${boundAdvertisersSql}
  FROM ad_event
  WHERE advertiser_id IN {advertiserIds:Array(Int32)} AND verdict = 'counted'
  GROUP BY advertiser_id, market_id`

interface Bound {
  readonly bound_advertiser_id: number
}

interface SealedRow extends Bound {
  readonly day: string
}

/** The table is in this order, so one part of it is read. */
const firstSealedSql = `
  SELECT toString(day) AS day, ${boundAdvertiserSql}
  FROM product_day
  WHERE advertiser_id = {advertiserId:Int32}
  ORDER BY product_day.day
  LIMIT 1`

interface EventRow {
  readonly market_id: number
  readonly at_ms: string
}

/** Two days of ads are enough: an event comes after its ad, and the days of markets differ from those of UTC by one. */
const firstEventsSql = `
  SELECT market_id, toString(toUnixTimestamp64Milli(min(received_at))) AS at_ms, ${boundAdvertiserSql}
  FROM ad_event
  WHERE advertiser_id = {advertiserId:Int32} AND verdict = 'counted' AND served_day <= (
    SELECT served_day + 1
    FROM ad_event
    WHERE advertiser_id = {advertiserId:Int32} AND verdict = 'counted'
    ORDER BY served_day
    LIMIT 1
  )
  GROUP BY market_id`
