// The figures of each day of a market, straight from events and attributions. Reports of open days and the
// rollups of sealed days use this one statement, so that both give the same figures.

import { attributionProfiles } from '../contract/report-request.ts'
import type { AttributionProfile } from '../contract/report-request.ts'
import { gtinKeySql } from './gtin-key-sql.ts'
import type { Params } from '../warehouse/warehouse.ts'
import { placeInDaysSql, placeParams, runsOf, unknownMarket } from './market-days.ts'
import type { MarketDays } from './market-days.ts'
import { convertedSql, rateParams } from './rates.ts'
import type { Rates } from './rates.ts'
import { openRowsParams } from './open-rows.ts'
import { servedForDays } from './served-days.ts'

/** How the columns of a profile begin in the rows and in the rollup. */
export const profilePrefix = {
  CLK_14_DAYS: 'click',
  IMP_1_DAY: 'view',
  IMP_1_DAY_CLK_14_DAYS: 'best',
} as const satisfies Record<AttributionProfile, string>

/** The one bound as `advertiserId`, those bound as `advertiserIds`, or all. */
export type AdvertisersRead = 'one' | 'given' | 'all'

export interface DayRowsScope {
  readonly advertisers: AdvertisersRead
  readonly profiles: readonly AttributionProfile[]
  /** A condition on the keys of a row, from a closed list. */
  readonly condition: string
  /** Default: everything. Conditions come from a closed list. */
  readonly part?: RowsPart
  /** Which days of attributions are read: those that are answered from events (the default), or all asked for. */
  readonly range?: 'day' | 'asked'
}

/** Null leaves the events or the credit out. */
export interface RowsPart {
  /** All receipts of an event are in one part. */
  readonly events: string | null
  /** On `purchase_key`: a purchase is in one part with all its lines. */
  readonly purchases: string | null
}

const everything: RowsPart = { events: '1', purchases: '1' }

export const dimensions = [
  'unit',
  'day',
  'advertiser_id',
  'market_id',
  'publisher_id',
  'campaign_id',
  'ad_group_id',
  'gtin_key',
] as const

const reportDimensions = dimensions.filter((name) => name !== 'unit')
const ownDimensions = reportDimensions.filter((name) => name !== 'advertiser_id')

/** The figures of a row of the rollups. */
export const figureColumns: readonly string[] = [
  'loads',
  'impressions',
  'clicks',
  'spend',
  'spend_unconverted',
  ...attributionProfiles.flatMap((profile) =>
    ['gtin', 'conversions', 'units', 'value', 'unconverted', 'orders'].map(
      (name) => `${profilePrefix[profile]}_${name}`
    )
  ),
  'foreign_amounts',
]

/** Rows of the dimensions above and of the figures of `product_day` for the profiles of the scope. */
export function dayRowsSql(scope: DayRowsScope): string {
  return `
  SELECT ${dimensions.join(', ')},
    sum(loads) AS loads, sum(impressions) AS impressions, sum(clicks) AS clicks,
    sum(spend) AS spend, sum(spend_unconverted) AS spend_unconverted,
    ${scope.profiles.map((profile) => sumsOf(profilePrefix[profile])).join(', ')},
    sum(foreign_amounts) AS foreign_amounts,
    arrayDistinct(groupArrayArray(foreign_currencies)) AS foreign_currencies
  FROM (${partsSql(scope, { by: dimensions.join(', '), more: foreignSql })})
  GROUP BY ${dimensions.join(', ')}`
}

/**
 * The same figures in two rows, one of the events and one of the credit, for a caller that sums them anyway: without
 * what only a rollup needs, and without the advertiser if there is one.
 */
export function dayPartsSql(scope: DayRowsScope): string {
  const named = scope.advertisers === 'one' ? ownDimensions : reportDimensions
  return partsSql(scope, { by: named.join(', '), more: '' })
}

/** A condition on rows with `advertiser_id`. */
export const advertiserConditions = {
  one: 'advertiser_id = {advertiserId:Int32}',
  given: 'advertiser_id IN {advertiserIds:Array(Int32)}',
  all: '1',
} as const satisfies Record<AdvertisersRead, string>

interface Columns {
  readonly by: string
  /** The text of columns that follow the figures. */
  readonly more: string
}

function partsSql(scope: DayRowsScope, columns: Columns): string {
  const { events, purchases } = scope.part ?? everything
  const parts = [
    ...(events === null ? [] : [countedSql(scope, events, columns)]),
    ...(purchases === null ? [] : [creditedSql(scope, columns)]),
  ]
  return parts.join(' UNION ALL ')
}

function sumsOf(prefix: string): string {
  return `minIf(${prefix}_gtin, ${prefix}_gtin != '') AS ${prefix}_gtin,
    sum(${prefix}_conversions) AS ${prefix}_conversions, sum(${prefix}_units) AS ${prefix}_units,
    sum(${prefix}_value) AS ${prefix}_value, sum(${prefix}_unconverted) AS ${prefix}_unconverted,
    sum(${prefix}_orders) AS ${prefix}_orders`
}

function countedSql(scope: DayRowsScope, events: string, { by, more }: Columns): string {
  return `
  SELECT ${by}, min(gtin) AS seen_gtin,
    countIf(kind = 'load') AS loads, countIf(kind = 'impression') AS impressions,
    countIf(kind = 'click') AS clicks,
    sum(converted) AS spend, countIf(is_unconverted) AS spend_unconverted,
    ${scope.profiles.map(noCredit).join(', ')}${more}
  FROM (${convertedSql(
    'charge',
    withDaySql(
      `
      SELECT advertiser_id, market_id, publisher_id, campaign_id, ad_group_id, gtin_key, gtin,
        kind, charge, currency, received_at AS happened_at
      FROM ad_event FINAL
      WHERE ${advertiserConditions[scope.advertisers]}
        AND verdict = 'counted'
        AND ${events}
        AND ${servedForDays('dayMin', 'dayMax')}
        AND ${inRange('received_at')}
        AND ${scope.condition}`
    )
  )})
  GROUP BY ${by}`
}

/** Not `groupUniqArray`: each of its states holds a table of 400 bytes, and there may be a row per event. */
const foreignSql = `,
    countIf(is_foreign) AS foreign_amounts,
    arrayDistinct(groupArrayIf(toString(currency), is_foreign)) AS foreign_currencies`

/** Which touchpoints a profile credits: bit 0 clicks, bit 1 impressions; a click goes before an impression. */
const creditedKinds = {
  CLK_14_DAYS: 1,
  IMP_1_DAY: 2,
  IMP_1_DAY_CLK_14_DAYS: 3,
} as const satisfies Record<AttributionProfile, number>

/**
 * Each attribution once for every profile, with `credited_to` for each of its lines: the advertiser to whom
 * the profile credits the line, or `nobody`, a number that no advertiser has. `is_first` says whether the line
 * is the first one of the purchase that is credited to that advertiser. This looks at the whole purchase,
 * whatever is asked for. So exactly one row of all days and markets has the order, and orders add up over any
 * rows.
 */
function withCreditSql(attributions: string, profiles: readonly AttributionProfile[]): string {
  return `
  SELECT *,
    arrayMap((id, place) -> id != nobody AND indexOf(credited_to, id) = place,
      credited_to, arrayEnumerate(credited_to)) AS is_first
  FROM (
    SELECT *, toInt64(-2147483649) AS nobody,
      arrayMap(rule -> toInt8(rule) != 0 AND bitTest(profile, 0), click_rule) AS is_click,
      arrayMap((is_clicked, clicked, viewed_ad, viewed) -> multiIf(
          is_clicked, toInt64(clicked), viewed_ad != toFixedString('', 16) AND bitTest(profile, 1), toInt64(viewed), nobody),
        is_click, click_advertiser_id, view_served_ad_id, view_advertiser_id) AS credited_to
    FROM (${withProfileSql(attributions, profiles)})
  )`
}

function withProfileSql(attributions: string, profiles: readonly AttributionProfile[]): string {
  const kinds = profiles.map((profile) => creditedKinds[profile])
  return `SELECT *, ${kinds.length === 1 ? kinds[0] : `arrayJoin([${kinds.join(', ')}])`} AS profile FROM (${attributions})`
}

function creditedSql(scope: DayRowsScope, { by, more }: Columns): string {
  const credit = scope.profiles.map((profile) => creditOf(profile, scope.profiles.length))
  return `
  SELECT ${by}, '' AS seen_gtin,
    toUInt64(0) AS loads, toUInt64(0) AS impressions, toUInt64(0) AS clicks,
    toDecimal128(0, 9) AS spend, toUInt64(0) AS spend_unconverted,
    ${credit.join(', ')}${more}
  FROM (${creditedLinesSql(scope)})
  GROUP BY ${by}`
}

/** Columns that figures do not need, but that tell one credited line from another. */
const lineDetail = {
  columns: `transaction_id, delivery_id, line_index, ${touchedBy('at')} AS touched_at, ${touchedBy('served_ad_id')} AS served_ad_id,
    multiIf(NOT is_click, 'view', rule = 1, 'direct', 'in-group') AS rule,`,
  joined:
    'line_index, click_at, click_served_ad_id, view_at, view_served_ad_id, arrayMap(r -> toInt8(r), click_rule) AS rule,',
}

/** A column of the click or of the impression that the line is credited to. */
function touchedBy(column: string): string {
  return `if(is_click, click_${column}, view_${column})`
}

/** The attributions with a line for the advertiser, possibly in another profile. */
export const attributedRowsSql = ({ range = 'day', ...scope }: AttributedScope): string => `
  SELECT * FROM attribution FINAL
  WHERE day >= {${range}Min:Date} - 1 AND day <= {${range}Max:Date} + 1
    AND ${scope.part?.purchases ?? '1'}
    AND ${attributedTo[scope.advertisers]}`

const attributedTo = {
  one: '(has(click_advertiser_id, {advertiserId:Int32}) OR has(view_advertiser_id, {advertiserId:Int32}))',
  given: `(hasAny(click_advertiser_id, {advertiserIds:Array(Int32)})
      OR hasAny(view_advertiser_id, {advertiserIds:Array(Int32)}))`,
  all: 'notEmpty(line_index)',
} as const satisfies Record<AdvertisersRead, string>

const creditedTo = {
  one: 'credited_to = {advertiserId:Int32}',
  given: 'credited_to IN {advertiserIds:Array(Int32)}',
  all: 'credited_to != nobody',
} as const satisfies Record<AdvertisersRead, string>

type AttributedScope = Pick<DayRowsScope, 'advertisers' | 'part' | 'range'>

/** The lines that the profiles credit, with day, unit and value in the market's currency. */
export function creditedLinesSql(scope: DayRowsScope, withDetail = false): string {
  const lines = `
      SELECT * FROM (${linesOfAdvertisersSql(scope, withDetail)})
      WHERE ${inRange('happened_at')}`
  return convertedSql('value', withDaySql(lines))
}

/** The same lines, whole purchases of them, before they are placed in days. */
export function linesOfAdvertisersSql(scope: DayRowsScope, withDetail: boolean): string {
  const detail = withDetail ? lineDetail : { columns: '', joined: '' }
  return `
      SELECT *, ${gtinKeySql('gtin')} AS gtin_key
      FROM (
        SELECT purchase_key, publisher_id, currency, received_at AS happened_at, profile,
          line_quantity AS quantity, line_value AS value, is_first, ${detail.columns}
          ${touchedBy('market_id')} AS market_id, toInt32(credited_to) AS advertiser_id,
          ${touchedBy('campaign_id')} AS campaign_id, ${touchedBy('ad_group_id')} AS ad_group_id,
          ${touchedBy('gtin')} AS gtin
        FROM (${withCreditSql(attributedRowsSql(scope), scope.profiles)})
        ARRAY JOIN line_quantity, line_value, is_click, credited_to, is_first, ${detail.joined}
          click_market_id, click_campaign_id, click_ad_group_id, click_gtin,
          view_market_id, view_campaign_id, view_ad_group_id, view_gtin
        WHERE ${creditedTo[scope.advertisers]}
      )
      WHERE ${scope.condition}`
}

/** Where there is one profile, every line is credited in it: conditions would have to be analysed all the same. */
function creditOf(profile: AttributionProfile, profileCount: number): string {
  const prefix = profilePrefix[profile]
  const [isOwn, suffix] =
    profileCount === 1 ? ['', ''] : [`profile = ${creditedKinds[profile]}`, 'If']
  const [own, andOwn] = isOwn === '' ? ['', ''] : [`, ${isOwn}`, ` AND ${isOwn}`]
  return `min${suffix}(gtin${own}) AS ${prefix}_gtin, uniqExact${suffix}(purchase_key${own}) AS ${prefix}_conversions,
    sum${suffix}(toInt64(quantity)${own}) AS ${prefix}_units, sum${suffix}(converted${own}) AS ${prefix}_value,
    countIf(is_unconverted${andOwn}) AS ${prefix}_unconverted, countIf(is_first${andOwn}) AS ${prefix}_orders`
}

function noCredit(profile: AttributionProfile): string {
  const prefix = profilePrefix[profile]
  return `seen_gtin AS ${prefix}_gtin, toUInt64(0) AS ${prefix}_conversions, toInt64(0) AS ${prefix}_units,
    toDecimal128(0, 9) AS ${prefix}_value, toUInt64(0) AS ${prefix}_unconverted, toUInt64(0) AS ${prefix}_orders`
}

function inRange(instant: string): string {
  const at = `toUnixTimestamp64Milli(${instant})`
  return `${at} >= ${boundOfUnit('FromMs')} AND ${at} < ${boundOfUnit('ToMs')}`
}

function boundOfUnit(name: 'FromMs' | 'ToMs'): string {
  return `transform(market_id, {marketIds:Array(Int32)}, {market${name}:Array(Int64)}, {unknown${name}:Int64})`
}

/** Adds unit, day and currency of the market, and keeps only what lies in the days asked for. */
function withDaySql(rows: string): string {
  return placeInDaysSql(rows, { instant: 'happened_at', runs: 'run' })
}

/** The parameters that `dayRowsSql` binds, except `advertiserId` and the parameters of the condition. */
export function dayRowsParams(asked: readonly MarketDays[], rates: Rates): Params {
  const withRuns = runsOf(asked)
  const days = asked.flatMap((one) => one.days)
  const unknown = withRuns.find(({ market }) => market.id === unknownMarket.id)?.runs ?? []
  const range = {
    marketFromMs: withRuns.map(({ runs }) => runs[0]?.fromMs ?? 0),
    marketToMs: withRuns.map(({ runs }) => runs.at(-1)?.toMs ?? 0),
    unknownFromMs: unknown[0]?.fromMs ?? 0,
    unknownToMs: unknown.at(-1)?.toMs ?? 0,
  }
  return {
    dayMin: days.reduce((least, day) => (day < least ? day : least), days[0] ?? '1970-01-02'),
    dayMax: days.reduce((most, day) => (day > most ? day : most), days[0] ?? '1970-01-02'),
    ...range,
    ...openRowsParams(range),
    ...placeParams(withRuns, 'run'),
    ...rateParams(rates, days),
  }
}
