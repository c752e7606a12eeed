// How many orders stand behind what was credited. An order is a purchase; it counts once, where its first
// line stands that is credited to the advertiser, so that orders add up over days and markets. The rollup
// says so of each row. Which line is the first that passes filters, only the attributions can tell.

import type { ReportRequest } from '../contract/report-request.ts'
import { listDays } from '../domain/day.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { assertAnswersFor, boundAdvertiserSql } from './bound-advertiser.ts'
import type { CatalogNames } from '../catalog/catalog-names.ts'
import { dayRowsParams, linesOfAdvertisersSql } from '../days/day-rows.ts'
import { readFinalDays } from '../days/final-days.ts'
import { filterParams, productConditions, productKeyConditions, rowConditions } from './filters.ts'
import { listUnits, placeInDaysSql } from '../days/market-days.ts'
import { noRates } from '../days/rates.ts'

export interface OrdersAsked {
  readonly advertiserId: number
  readonly request: ReportRequest
  readonly catalog: CatalogNames
}

/** Counts by day and currency; null if the attributions of the day have been dropped. */
export type CountOrders = (day: string, currency: string) => bigint | null

interface OrdersRow {
  readonly day: string
  readonly currency: string
  readonly orders: string
  readonly bound_advertiser_id: number
}

/** Counts the orders of lines that pass the filters, always from the current attributions. */
export async function readFilteredOrders(
  warehouse: Pick<Warehouse, 'rows' | 'barrier'>,
  { advertiserId, request, catalog }: OrdersAsked
): Promise<CountOrders> {
  const { announcedBefore } = await readFinalDays(warehouse)
  const markets = catalog.markets()
  const days = listDays(request.startDate, request.endDate)
  const asked = listUnits(markets).map((market) => ({ market, days }))
  const rows = await warehouse.rows<OrdersRow>(ordersSql(request), {
    advertiserId,
    ...dayRowsParams(asked, noRates),
    ...filterParams(request, catalog),
  })
  for (const row of rows) assertAnswersFor(advertiserId, row.bound_advertiser_id)
  const counts = new Map(rows.map((row) => [`${row.day} ${row.currency}`, BigInt(row.orders)]))
  return (day, currency) =>
    announcedBefore !== null && day < announcedBefore
      ? null
      : (counts.get(`${day} ${currency}`) ?? 0n)
}

/** Holds 731 days in the currencies of all markets. */
const countsMax = 200_000

/** Finds the first line of a purchase before placing it in a day: other lines may be in other markets. */
function ordersSql(request: ReportRequest): string {
  const scope = {
    advertisers: 'one',
    profiles: [request.attributionProfile],
    condition: rowConditions(request),
  } as const
  const firstLines = `
  SELECT purchase_key, happened_at, argMin(l.market_id, l.line_index) AS market_id
  FROM (
    SELECT market_id AS product_market_id, gtin_key AS product_key, title, brand
    FROM product FINAL
    WHERE market_id IN {marketIds:Array(Int32)} AND ${productKeyConditions(request)}
  ) AS p
  RIGHT JOIN (${linesOfAdvertisersSql(scope, true)}) AS l
    ON p.product_market_id = l.market_id AND p.product_key = l.gtin_key
  WHERE ${productConditions(request)}
  GROUP BY purchase_key, happened_at`
  return `
SELECT toString(day) AS day, if(market_currency = '-', '', market_currency) AS currency,
  toString(count()) AS orders, ${boundAdvertiserSql}
FROM (${placeInDaysSql(firstLines, { instant: 'happened_at', runs: 'run' })})
GROUP BY day, currency
LIMIT ${countsMax}
SETTINGS join_use_nulls = 0, do_not_merge_across_partitions_select_final = 1`
}
