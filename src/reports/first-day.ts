// The first day on which an advertiser has figures: before it there is nothing to compare with.
import type { ReportMarket } from '../catalog/catalog-names.ts'
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

/** Null while no event of the advertiser counted. Later credit and charges are never on an earlier day than their ad. */
export async function readFirstDay(
  { warehouse, markets }: FirstDayDeps,
  advertiserId: number
): Promise<string | null> {
  await warehouse.barrier(['product_day', 'ad_event'])
  const sealed = await warehouse.rows<SealedRow>(firstSealedSql, { advertiserId })
  for (const row of sealed) assertAnswersFor(advertiserId, row.bound_advertiser_id)
  const [known] = sealed
  if (known !== undefined) return known.day

  // Nothing is sealed yet, so that there are few events.
  const open = await warehouse.rows<OpenRow & { readonly bound_advertiser_id: number }>(
    firstEventsSql,
    { advertiserId }
  )
  for (const row of open) assertAnswersFor(advertiserId, row.bound_advertiser_id)
  return open.map(dayIn(markets)).toSorted()[0] ?? null
}

/** The day of an event in its market. */
function dayIn(markets: readonly ReportMarket[]) {
  const zones = new Map(markets.map(({ id, timeZone }) => [id, timeZone]))
  return ({ at_ms, market_id }: OpenRow) => dayOf(Number(at_ms), zones.get(market_id) ?? 'UTC')
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

  const others = advertiserIds.filter((id) => !days.has(id))
  if (others.length === 0) return days
  const open = await warehouse.rows<BoundRow & OpenRow>(firstEventsOfManySql, {
    advertiserIds: others,
  })
  assertAnswersForAll(others, open)
  const dayOfRow = dayIn(markets)
  for (const row of open) {
    const [day, known] = [dayOfRow(row), days.get(row.advertiser_id)]
    if (known === undefined || day < known) days.set(row.advertiser_id, day)
  }
  return days
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

/** Nothing of these advertisers is sealed yet, so that they have few events. */
const firstEventsOfManySql = `
  SELECT advertiser_id, market_id, toString(toUnixTimestamp64Milli(min(received_at))) AS at_ms,
    ${boundAdvertisersSql}
  FROM ad_event
  WHERE advertiser_id IN {advertiserIds:Array(Int32)} AND verdict = 'counted'
  GROUP BY advertiser_id, market_id`

interface SealedRow {
  readonly day: string
  readonly bound_advertiser_id: number
}

/** The table is in this order, so one part of it is read. */
const firstSealedSql = `
  SELECT toString(day) AS day, ${boundAdvertiserSql}
  FROM product_day
  WHERE advertiser_id = {advertiserId:Int32}
  ORDER BY product_day.day
  LIMIT 1`

interface OpenRow {
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
