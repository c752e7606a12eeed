// Reads the amounts without a rate into their market's currency, which reports count but cannot add up. The
// rollup tells which sealed days have any, so only the events of those days are read.

import type { UnconvertedRow } from '../contract/unconverted.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { askedDaysParams, inAskedRange, listUnits, withAskedDaySql } from '../days/market-days.ts'
import type { ReportMarket } from '../catalog/catalog-names.ts'
import { printAmount } from '../attribution/explain/print.ts'
import { areKept, readKept } from '../days/kept-revisions.ts'
import type { MarketDays } from '../days/market-days.ts'
import { convertedSql, loadRates, rateParams } from '../days/rates.ts'
import { readReportDays } from '../days/sealed-days.ts'
import { sealParams, sealedRowSql } from '../days/seals.ts'
import type { DaysAsked, ReportDays } from '../days/sealed-days.ts'
import { servedForDays } from '../days/served-days.ts'

/** The place of a row in the order of all rows. */
export interface UnconvertedPlace {
  readonly date: string
  readonly marketId: number
  readonly advertiserId: number
  readonly currency: string
}

export interface UnconvertedQuestion extends DaysAsked {
  /** Only rows behind this one. */
  readonly after: UnconvertedPlace | null
  readonly limit: number
}

/** The first rows by date, market, advertiser and currency. */
export type ReadUnconverted = (question: UnconvertedQuestion) => Promise<readonly UnconvertedRow[]>

interface UnconvertedDeps {
  readonly warehouse: Pick<Warehouse, 'rows' | 'barrier'>
  readonly markets: () => readonly ReportMarket[]
}

export function createUnconvertedReader({ warehouse, markets }: UnconvertedDeps): ReadUnconverted {
  return async ({ after, limit, ...asked }) => {
    const known = markets()
    const suspected = await readKept(async () => {
      const days = await readReportDays(warehouse, known, asked)
      const found = await findDays(warehouse, { known, days, fromDay: after?.date ?? '' })
      return (await areKept(warehouse, { ...days, spans: [] })) ? found : null
    })
    const names = suspected.flatMap((one) => one.days).toSorted()
    const [first, last] = [names[0], names.at(-1)]
    if (first === undefined || last === undefined) return []
    const rates = await loadRates(warehouse, { first, last })
    const rows = await warehouse.rows<Omit<UnconvertedRow, 'market'>>(unconvertedSql, {
      ...askedDaysParams(suspected),
      ...rateParams(rates, names),
      firstDay: first,
      lastDay: last,
      afterDay: after?.date ?? '1970-01-01',
      afterMarket: after?.marketId ?? 0,
      afterAdvertiser: after?.advertiserId ?? 0,
      afterCurrency: after?.currency ?? '',
      rowsMax: limit,
    })
    const codes = new Map(known.map(({ id, code }) => [id, code]))
    return rows.map((row) => ({
      date: row.date,
      marketId: row.marketId,
      market: codes.get(row.marketId) ?? null,
      advertiserId: row.advertiserId,
      currency: row.currency,
      impressions: row.impressions,
      clicks: row.clicks,
      spend: printAmount(row.spend, row.currency),
      lines: row.lines,
      value: printAmount(row.value, row.currency),
    }))
  }
}

interface Suspicion {
  readonly known: readonly ReportMarket[]
  readonly days: ReportDays
  readonly fromDay: string
}

/** Open days, and days that had such amounts when they were sealed. */
async function findDays(
  warehouse: Pick<Warehouse, 'rows'>,
  { known, days, fromDay }: Suspicion
): Promise<readonly MarketDays[]> {
  const seals = days.seals.filter(({ day }) => day >= fromDay)
  const sealed =
    seals.length === 0
      ? []
      : await warehouse.rows<{ unit: number; day: string }>(suspectedSql, {
          fromDay: seals[0]?.day ?? '',
          toDay: seals.at(-1)?.day ?? '',
          ...sealParams(seals),
        })
  return listUnits(known).map((market) => {
    const open = days.open.find((one) => one.market.id === market.id)?.days ?? []
    const own = sealed.filter(({ unit }) => unit === market.id).map(({ day }) => day)
    return { market, days: [...open.filter((day) => day >= fromDay), ...own].toSorted() }
  })
}

const suspectedSql = `
SELECT DISTINCT unit, toString(d.day) AS day
FROM product_day AS d
WHERE d.day >= {fromDay:Date} AND d.day <= {toDay:Date}
  AND spend_unconverted + best_unconverted > 0
  AND ${sealedRowSql('d')}`

const dimensions = 'day, market_id, advertiser_id, currency'

/** Days of serving and UTC days of receipt around those asked for, as in day-rows.ts. */
const eventsSql = convertedSql(
  'charge',
  withAskedDaySql(`
    SELECT market_id, advertiser_id, currency, kind, charge, received_at
    FROM ad_event FINAL
    WHERE verdict = 'counted' AND charge != 0
      AND ${servedForDays('firstDay', 'lastDay')}
      AND ${inAskedRange}`)
)

/** The lines that the default profile credits: the best click, else the best impression. */
const linesSql = convertedSql(
  'value',
  withAskedDaySql(`
    SELECT if(rule != 0, click_market, view_market) AS market_id,
      if(rule != 0, click_advertiser, view_advertiser) AS advertiser_id, currency, value, received_at
    FROM (
      SELECT currency, received_at, line_value, arrayMap(r -> toInt8(r), click_rule) AS rules,
        click_market_id, click_advertiser_id, view_served_ad_id, view_market_id, view_advertiser_id
      FROM attribution FINAL
      WHERE day >= {firstDay:Date} - 1 AND day <= {lastDay:Date} + 1 AND notEmpty(line_index)
        AND ${inAskedRange}
    )
    ARRAY JOIN line_value AS value, rules AS rule,
      click_market_id AS click_market, click_advertiser_id AS click_advertiser,
      view_served_ad_id AS view_id, view_market_id AS view_market, view_advertiser_id AS view_advertiser
    WHERE rule != 0 OR view_id != toFixedString('', 16)`)
)

const unconvertedSql = `
SELECT toString(day) AS date, market_id AS marketId, advertiser_id AS advertiserId, currency,
  sum(impressions_) AS impressions, sum(clicks_) AS clicks, toString(sum(spend_)) AS spend,
  sum(lines_) AS lines, toString(sum(value_)) AS value
FROM (
  SELECT ${dimensions}, countIf(kind = 'impression') AS impressions_, countIf(kind = 'click') AS clicks_,
    sum(charge) AS spend_, toUInt64(0) AS lines_, toDecimal128(0, 9) AS value_
  FROM (${eventsSql}) WHERE is_unconverted
  GROUP BY ${dimensions}
  UNION ALL
  SELECT ${dimensions}, toUInt64(0), toUInt64(0), toDecimal128(0, 9), count(), sum(value)
  FROM (${linesSql}) WHERE is_unconverted
  GROUP BY ${dimensions}
)
WHERE (${dimensions}) > ({afterDay:Date}, {afterMarket:Int32}, {afterAdvertiser:Int32}, {afterCurrency:String})
GROUP BY ${dimensions}
ORDER BY ${dimensions}
LIMIT {rowsMax:UInt32}
SETTINGS join_use_nulls = 0, do_not_merge_across_partitions_select_final = 1,
  optimize_move_to_prewhere_if_final = 0`
