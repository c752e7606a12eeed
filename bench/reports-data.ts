// Seeded events for the benchmark of reports, made by the engine itself: a function of the number of
// the event and the seed, so that any size comes out the same again.

import type { Warehouse } from '../src/warehouse/warehouse.ts'

export const firstDay = '2026-01-01'
export const dayCount = 60
/** The month that is reported, and the events the large advertiser has in it, whatever the size. */
export const month = { startDate: '2026-01-31', endDate: '2026-03-01' } as const
export const largeAdvertiser = { id: 1, monthEvents: 600_000 } as const
const rowsPerInsert = 250_000

export interface DataSize {
  readonly events: number
  readonly purchases: number
  readonly seed: number
}

/** Inserts the events and purchases of a size through the same doors as shipping. */
export async function insertData(warehouse: Warehouse, size: DataSize): Promise<void> {
  for (const from of chunks(size.events)) {
    const rows = Math.min(rowsPerInsert, size.events - from)
    await warehouse.command(eventsSql, { from, rows, ...paramsOf(size) })
  }
  for (const from of chunks(size.purchases)) {
    const rows = Math.min(rowsPerInsert, size.purchases - from)
    await warehouse.command(purchasesSql, { from, rows, ...paramsOf(size) })
  }
}

function chunks(count: number): readonly number[] {
  return Array.from(
    { length: Math.ceil(count / rowsPerInsert) },
    (_, index) => index * rowsPerInsert
  )
}

function paramsOf({ events, seed }: DataSize) {
  return {
    seed,
    events,
    large: Math.min(largeAdvertiser.monthEvents, events),
    first: Date.parse(firstDay),
    monthFrom: Date.parse(month.startDate),
  }
}

const dayMs = 86_400_000
const random = (salt: number): string => `cityHash64(number, {seed:UInt64}, ${salt})`

// The first `large` events are the large advertiser's, in the month; the others are spread over all days.
const isLarge = 'number < {large:UInt64}'
const eventMs = `toInt64(if(${isLarge},
  {monthFrom:Int64} + intDiv(number * ${30 * dayMs}, {large:UInt64}),
  {first:Int64} + intDiv((number - {large:UInt64}) * ${dayCount * dayMs}, greatest({events:UInt64} - {large:UInt64}, 1))))`
const productOf = (salt: number): string => `(${random(salt)} % 2000)`
// As in the service, an identity belongs to one publisher.
const shopper =
  "hex(MD5(concat('shopper', toString(publisher_id), '/', toString(number % intDiv({events:UInt64} + 14, 15)))))"

const eventsSql = `
INSERT INTO ad_event_in (served_ad_id, served_at_ms, received_at_ms, kind, verdict, publisher_id, site_id, market_id,
  advertiser_id, campaign_id, ad_group_id, gtin, gtin_key, group_id, user_identity, login_identity, currency, charge, shipped_at)
SELECT lower(hex(MD5(concat(toString({seed:UInt64}), '/', toString(number))))) AS served_ad_id,
  received_at_ms - 1000 AS served_at_ms, ${eventMs} AS received_at_ms,
  multiIf(${random(1)} % 100 < 20, 'load', ${random(1)} % 100 < 95, 'impression', 'click') AS kind,
  'counted' AS verdict,
  toInt32(10 + ${random(2)} % 3) AS publisher_id, toInt32(101) AS site_id, toInt32(1) AS market_id,
  toInt32(if(${isLarge}, 1, 2 + ${random(3)} % 200)) AS advertiser_id,
  toInt32(advertiser_id * 1000 + product % 10) AS campaign_id,
  toInt32(advertiser_id * 1000 + product % 50) AS ad_group_id,
  leftPad(toString(advertiser_id * 10000 + ${productOf(4)} AS product), 13, '0') AS gtin,
  leftPad(gtin, 14, '0') AS gtin_key, '' AS group_id,
  lower(${shopper}) AS user_identity, '' AS login_identity, 'EUR' AS currency,
  toDecimal128(multiIf(kind = 'click', '0.25', kind = 'impression', '0.002', '0'), 9) AS charge,
  fromUnixTimestamp64Milli(received_at_ms, 'UTC') AS shipped_at
FROM numbers({from:UInt64}, {rows:UInt64})`

// Each by the shopper of an event that came an hour earlier: one of three lines is the product of it.
const purchasesSql = `
INSERT INTO delivery_in (delivery_id, purchase_key, publisher_id, site_id, transaction_id, received_at_ms, verdict, user_identity,
  login_identity, currency, content_hash, line_gtin, line_gtin_key, line_group_id, line_brand, line_price, line_quantity,
  line_value, line_verdict, shipped_at)
SELECT lower(hex(MD5(concat('delivery', toString(purchase))))) AS delivery_id,
  lower(hex(MD5(concat('purchase', toString(purchase))))) AS purchase_key,
  toInt32(10 + ${random(2)} % 3) AS publisher_id, toInt32(101) AS site_id,
  toString(purchase) AS transaction_id, ${eventMs} + 3600000 AS received_at_ms, 'valid' AS verdict,
  lower(${shopper}) AS user_identity, '' AS login_identity, 'EUR' AS currency,
  lower(hex(MD5(toString(purchase)))) AS content_hash,
  [leftPad(toString(toInt32(if(${isLarge}, 1, 2 + ${random(3)} % 200)) * 10000 + ${productOf(4)}), 13, '0'),
    toString(1000 + purchase % 500), toString(2000 + purchase % 500)] AS line_gtin,
  arrayMap(g -> if(length(g) = 13, leftPad(g, 14, '0'), g), line_gtin) AS line_gtin_key,
  ['', '', ''] AS line_group_id, ['', '', ''] AS line_brand,
  [19.99, 5, 1.5] AS line_price, [1, 2, 1]::Array(Int32) AS line_quantity,
  [toDecimal128('19.99', 9), toDecimal128('10', 9), toDecimal128('1.5', 9)] AS line_value,
  ['valid', 'valid', 'valid'] AS line_verdict,
  -- Shipped by the hour: a trickle over two months, where a backlog is thousands at once.
  toStartOfHour(fromUnixTimestamp64Milli(received_at_ms, 'UTC')) + 3600 AS shipped_at
FROM (
  SELECT number AS purchase, cityHash64(number, {seed:UInt64}, 9) % {events:UInt64} AS number
  FROM numbers({from:UInt64}, {rows:UInt64})
)`
