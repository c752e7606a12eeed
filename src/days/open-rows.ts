// The figures of open days of one advertiser, by day or of all days together, without conversions. A rollup takes the
// general statement in day-rows.ts; tests hold both equal. This one is short, because ClickHouse spends as long on the text of
// a statement as on reading a month, and aggregates by what is stored: keys, names and currencies are looked at once for
// a row of the report, not once for an event.

import type { AttributionProfile } from '../contract/report-request.ts'
import type { Params } from '../warehouse/warehouse.ts'
import { gtinKeySql } from './gtin-key-sql.ts'
import { dayNumberSql } from './day-shifts.ts'
import type { MarketShifts } from './day-shifts.ts'
import { currencyOf } from './market-days.ts'
import { servedForDays } from './served-days.ts'

export interface OpenScope {
  readonly profile: AttributionProfile
  /** A condition on the keys of a row, from a closed list. */
  readonly condition: string
  /** Null: rows of all days together, under day 0. */
  readonly shifts: MarketShifts | null
  /** False: orders are 0, and cost nothing. */
  readonly withOrders: boolean
}

/**
 * Rows for a caller that sums them. Their columns are those of sealed days in the same order (`figures` in
 * reports/query.ts), since UNION ALL joins columns by place. An amount in another currency than the market's is not in
 * `spend` or `value` but in `unconverted`: with rates, a caller that finds any has to read the general statement. The
 * days of each market are consecutive.
 */
export function openRowsSql(scope: OpenScope): string {
  return `
  SELECT market_id, publisher_id, campaign_id, ad_group_id, product_key AS gtin_key, toDate(day_number) AS day, gtin_seen,
    loads, impressions, clicks, conversions, units,
    if((home = ${currencyOf('market_id')}) AS is_home, all_value, toDecimal128(0, 9)) AS value,
    if(is_home, all_charge, toDecimal128(0, 9)) AS spend, if(is_home, 0, amounts) AS unconverted, orders
  FROM (${countedSql(scope)} UNION ALL ${creditedSql(scope)})`
}

/**
 * By the GTIN as it was spelled, of which the key is a function: so one text is read and compared for an event, not
 * three. The key has a name of its own, because a condition on `gtin_key` is meant for the stored column.
 */
function countedSql({ condition, shifts }: OpenScope): string {
  const at = `toInt64(${latestEarliness} - earliness)`
  return `
    SELECT market_id, publisher_id, campaign_id, ad_group_id, ${gtinKeySql('gtin')} AS product_key,
      ${dayOf(at, shifts)} AS day_number, gtin AS gtin_seen, toString(currency) AS home,
      countIf(kind = 'load') AS loads, countIf(kind = 'impression') AS impressions,
      countIf(kind = 'click') AS clicks, toUInt64(0) AS conversions, toUInt64(0) AS orders, toInt64(0) AS units,
      toDecimal128(0, 9) AS all_value, sum(charge) AS all_charge, countIf(charge != 0) AS amounts
    FROM ad_event FINAL
    WHERE advertiser_id = {advertiserId:Int32} AND verdict = 'counted'
      AND ${servedForDays('dayMin', 'dayMax')}
      AND earliness <= ${boundOf('FromEarliness')} AND earliness > ${boundOf('ToEarliness')}
      AND ${condition}
    GROUP BY market_id, publisher_id, campaign_id, ad_group_id, gtin, currency, day_number`
}

function dayOf(atMs: string, shifts: MarketShifts | null): string {
  return shifts === null ? 'toUInt16(0)' : dayNumberSql(atMs, shifts)
}

/** Which lines each profile credits, as in day-rows.ts: a click goes before an impression. */
const clicked = `(rule != 'none' AND clicked_id = {advertiserId:Int32})`
const viewed = `(viewed_ad != toFixedString('', 16) AND viewed_id = {advertiserId:Int32})`
const credits = {
  CLK_14_DAYS: { isCredited: clicked, isClick: '1' },
  IMP_1_DAY: { isCredited: viewed, isClick: '0' },
  IMP_1_DAY_CLK_14_DAYS: {
    isCredited: `if(rule != 'none', clicked_id = {advertiserId:Int32}, ${viewed})`,
    isClick: `rule != 'none'`,
  },
} as const satisfies Record<AttributionProfile, object>

/** A purchase is in one currency, so conversions add up over currencies. */
function creditedSql({ profile, condition, shifts, withOrders }: OpenScope): string {
  const { isCredited, isClick } = credits[profile]
  const own = ['market_id', 'campaign_id', 'ad_group_id', 'gtin'] as const
  const joined = ['click', 'view'].flatMap((kind) => own.map((name) => `${kind}_${name}`))
  const touched = own.map((name) => `if(${isClick}, click_${name}, view_${name}) AS ${name}`)
  const orders = withOrders ? ordersOf(isCredited) : noOrders
  return `
    SELECT market_id, publisher_id, campaign_id, ad_group_id, gtin_key, day_number, min(gtin), home,
      toUInt64(0) AS loads, toUInt64(0) AS impressions, toUInt64(0) AS clicks,
      uniqExact(purchase_key) AS conversions, ${orders.count} AS orders, sum(toInt64(quantity)) AS units,
      sum(value) AS all_value, toDecimal128(0, 9) AS all_charge, countIf(value != 0) AS amounts
    FROM (
      SELECT purchase_key, publisher_id, toString(currency) AS home, quantity, value, ${orders.columns}
        ${touched.join(', ')}, ${gtinKeySql('gtin')} AS gtin_key,
        ${dayOf('toUnixTimestamp64Milli(received_at)', shifts)} AS day_number
      FROM (
        SELECT purchase_key, publisher_id, currency, received_at, line_quantity, line_value, click_rule, ${orders.found}
          click_advertiser_id, view_served_ad_id, view_advertiser_id, ${joined.join(', ')}
        FROM attribution FINAL
        WHERE day >= {dayMin:Date} - 1 AND day <= {dayMax:Date} + 1
          AND (has(click_advertiser_id, {advertiserId:Int32}) OR has(view_advertiser_id, {advertiserId:Int32}))
      )
      ARRAY JOIN line_quantity AS quantity, line_value AS value, click_rule AS rule, ${orders.joined}
        click_advertiser_id AS clicked_id, view_served_ad_id AS viewed_ad, view_advertiser_id AS viewed_id,
        ${joined.join(', ')}
      WHERE ${isCredited}
        AND toUnixTimestamp64Milli(received_at) >= ${boundOf('FromMs')}
        AND toUnixTimestamp64Milli(received_at) < ${boundOf('ToMs')}
        AND ${condition}
    )
    GROUP BY market_id, publisher_id, campaign_id, ad_group_id, gtin_key, home, day_number`
}

const noOrders = { count: 'toUInt64(0)', columns: '', found: '', joined: '' }

/** An order counts where the first line of the purchase stands that is credited to the advertiser, whatever is asked for. */
function ordersOf(isCredited: string): typeof noOrders {
  return {
    count: 'countIf(place = first_place)',
    columns: 'place, first_place,',
    found: `arrayEnumerate(click_rule) AS line_place,
          arrayFirstIndex((rule, clicked_id, viewed_ad, viewed_id) -> ${isCredited},
            click_rule, click_advertiser_id, view_served_ad_id, view_advertiser_id) AS first_place,`,
    joined: 'line_place AS place,',
  }
}

type BoundName = 'FromMs' | 'ToMs' | 'FromEarliness' | 'ToEarliness'

function boundOf(name: BoundName): string {
  const type = name.endsWith('Ms') ? 'Int64' : 'UInt64'
  return `transform(market_id, {marketIds:Array(Int32)}, {market${name}:Array(${type})}, {unknown${name}:${type}})`
}

/** `ad_event` keeps the instant of receipt as what is left until this one, because its engine keeps the greatest. */
const latestEarliness = 9_000_000_000_000_000
const earlinessOfMs = (atMs: number): number => latestEarliness - atMs

interface RangeParams {
  readonly marketFromMs: readonly number[]
  readonly marketToMs: readonly number[]
  readonly unknownFromMs: number
  readonly unknownToMs: number
}

/** The parameters that `openRowsSql` binds, besides those of `dayRowsParams`. */
export function openRowsParams(range: RangeParams): Params {
  return {
    marketFromEarliness: range.marketFromMs.map(earlinessOfMs),
    marketToEarliness: range.marketToMs.map(earlinessOfMs),
    unknownFromEarliness: earlinessOfMs(range.unknownFromMs),
    unknownToEarliness: earlinessOfMs(range.unknownToMs),
  }
}
