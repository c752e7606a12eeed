// The first day on which an advertiser has figures: before it there is nothing to compare with.
import type { ReportMarket } from '../catalog/catalog-names.ts'
import { dayOf } from '../domain/day.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { assertAnswersFor, boundAdvertiserSql } from './bound-advertiser.ts'

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
  const open = await warehouse.rows<OpenRow>(firstEventsSql, { advertiserId })
  for (const row of open) assertAnswersFor(advertiserId, row.bound_advertiser_id)
  const zones = new Map(markets.map(({ id, timeZone }) => [id, timeZone]))
  const days = open.map(({ at_ms, market_id }) =>
    dayOf(Number(at_ms), zones.get(market_id) ?? 'UTC')
  )
  return days.toSorted()[0] ?? null
}

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
  readonly bound_advertiser_id: number
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
