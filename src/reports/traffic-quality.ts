// Reads counted and not counted events by day, market, publisher and kind. Counted events come from the same
// source as in the performance report (the rollup of sealed days, the events of open days), so that both
// agree. Only the events hold those that do not count.

import type { adEventVerdicts } from '../domain/ad-event-verdict.ts'
import { listDays } from '../domain/day.ts'
import { assert } from '../lib/assert.ts'
import type { Params, Warehouse } from '../warehouse/warehouse.ts'
import { askedDaysParams, inAskedRange, listUnits, withAskedDaySql } from '../days/market-days.ts'
import { boundAdvertiserSql } from './bound-advertiser.ts'
import type { CatalogNames, ReportMarket } from '../catalog/catalog-names.ts'
import { dayRowsParams, dayRowsSql } from '../days/day-rows.ts'
import { questionOf } from './kept-pages.ts'
import type { KeptPages } from './kept-pages.ts'
import { answerPage, reachableRows } from './paged.ts'
import type { Computed, PagedResult } from './paged.ts'
import { areKept } from '../days/kept-revisions.ts'
import { noRates } from '../days/rates.ts'
import { readReportDays } from '../days/sealed-days.ts'
import { sealParams, sealedRowSql } from '../days/seals.ts'
import type { DaysAsked, ReportDays } from '../days/sealed-days.ts'

export interface TrafficQualityRequest extends DaysAsked {
  readonly page: number
  readonly limit: number
}

export interface TrafficQualityCall {
  readonly advertiserId: number
  readonly request: TrafficQualityRequest
  /** Whose pages these are: kept pages are never shared between keys. */
  readonly keyId: string
  readonly signal: AbortSignal
}

/** Served ads by the verdict on their event; an event that came twice with one verdict counts once. */
export interface TrafficQualityRow {
  /** ISO day in the market's time zone, of the earliest receipt. */
  readonly date: string
  readonly market: string
  readonly publisherId: number
  readonly publisherName: string
  readonly kind: 'LOAD' | 'IMPRESSION' | 'CLICK'
  readonly counted: number
  /** Every verdict has its number. */
  readonly uncounted: ReadonlyMap<UncountedVerdict, number>
}

/** In the order of the columns of the statement. */
export const uncountedVerdicts = [
  'bot',
  'prefetch',
  'expired',
  'early',
  'too-late',
  'no-user-agent',
  'data-centre',
] as const satisfies readonly (typeof adEventVerdicts)[number][]

export type UncountedVerdict = (typeof uncountedVerdicts)[number]

/** By day, market, publisher and kind. */
export type TrafficQuality = PagedResult<TrafficQualityRow>

/** Resolves with the whole page. */
export type ReadTrafficQuality = (call: TrafficQualityCall) => Promise<TrafficQuality>

interface TrafficQualityDeps {
  readonly warehouse: Pick<Warehouse, 'rows' | 'stream' | 'barrier'>
  readonly catalog: () => CatalogNames
  readonly keptPages: KeptPages
}

export function createTrafficQualityReader(deps: TrafficQualityDeps): ReadTrafficQuality {
  return async (call) => {
    const { page, ...body } = call.request
    const question = questionOf(['traffic quality', call.keyId, call.advertiserId, body])
    const asked = { question, owner: call.keyId, page, limit: body.limit, signal: call.signal }
    return await answerPage(deps.keptPages, asked, (signal) => compute(deps, { ...call, signal }))
  }
}

async function compute(
  { warehouse, catalog }: TrafficQualityDeps,
  call: TrafficQualityCall
): Promise<Computed<TrafficQualityRow>> {
  const names = catalog()
  const markets = names.markets()
  const days = await readReportDays(warehouse, markets, call.request)
  const { completeThrough, renewingDays } = days
  const sql = trafficQualitySql(days, reachableRows(call.request.limit))
  return {
    advertiserId: call.advertiserId,
    blocks: warehouse.stream(sql, buildParams(call, { markets, days }), call.signal),
    readTotals: (row) => ({
      totalRows: row === null ? 0 : Number(row.at(-2)),
      unconvertedCount: 0,
      completeThrough,
      renewingDays,
    }),
    format: createRowFormat(names),
    areRowsKept: () => areKept(warehouse, { ...days, spans: [] }),
  }
}

const kinds = { 1: 'LOAD', 2: 'IMPRESSION', 3: 'CLICK' } as const

/** The columns of the statement below are the day, numbers, the number of all rows, and the advertiser. */
function createRowFormat(catalog: CatalogNames): (row: readonly unknown[]) => TrafficQualityRow {
  const codes = new Map(catalog.markets().map(({ id, code }) => [id, code]))
  const names = new Map(catalog.publishers().map(({ id, name }) => [id, name]))
  return ([date, ...figures]) => {
    const numbers = figures.map(Number)
    const [marketId = 0, publisherId = 0, kind = 0, counted = 0, ...uncounted] = numbers
    assert(kind === 1 || kind === 2 || kind === 3, 'the warehouse answers a kind of event')
    return {
      date: String(date),
      market: codes.get(marketId) ?? String(marketId),
      publisherId,
      publisherName: names.get(publisherId) ?? '',
      kind: kinds[kind],
      counted,
      uncounted: new Map(
        uncountedVerdicts.map((verdict, index) => [verdict, uncounted[index] ?? 0])
      ),
    }
  }
}

interface Asked {
  readonly markets: readonly ReportMarket[]
  readonly days: ReportDays
}

function buildParams(call: TrafficQualityCall, { markets, days }: Asked): Params {
  const { startDate, endDate } = call.request
  const asked = listDays(startDate, endDate)
  return {
    advertiserId: call.advertiserId,
    startDay: startDate,
    endDay: endDate,
    ...sealParams(days.seals),
    ...dayRowsParams(days.open, noRates),
    ...askedDaysParams(listUnits(markets).map((market) => ({ market, days: asked }))),
  }
}

function columnOf(verdict: UncountedVerdict): string {
  return verdict.replaceAll('-', '_')
}

const uncountedNames = uncountedVerdicts.map(columnOf)

function trafficQualitySql(days: ReportDays, rowsMax: number): string {
  const counted = [
    ...(days.seals.length === 0 ? [] : [sealedSql]),
    ...(days.hasOpenDays ? [openSql] : []),
  ]
  const parts = [uncountedSql, ...(counted.length === 0 ? [] : [byKindSql(counted)])]
  return `
  SELECT toString(day), market_id, publisher_id, kind,
    counted, ${uncountedNames.join(', ')}, count() OVER () AS total_rows,
    ${boundAdvertiserSql}
  FROM (
    SELECT day, market_id, publisher_id, kind, sum(counted_) AS counted,
      ${uncountedNames.map((name) => `sum(${name}_) AS ${name}`).join(', ')}
    FROM (${parts.join(' UNION ALL ')})
    GROUP BY day, market_id, publisher_id, kind
    HAVING counted + ${uncountedNames.join(' + ')} > 0
  )
  ORDER BY day, market_id, publisher_id, kind
  LIMIT ${rowsMax}
  SETTINGS join_use_nulls = 0, do_not_merge_across_partitions_select_final = 1,
    optimize_move_to_prewhere_if_final = 0`
}

/** Reads only the revision that counts, as the performance report does. */
const sealedSql = `
  SELECT day, market_id, publisher_id, loads, impressions, clicks
  FROM product_day
  WHERE advertiser_id = {advertiserId:Int32} AND day >= {startDay:Date} AND day <= {endDay:Date}
    AND ${sealedRowSql('product_day')}`

const openSql = `
  SELECT day, market_id, publisher_id, loads, impressions, clicks
  FROM (${dayRowsSql({
    advertisers: 'one',
    profiles: ['CLK_14_DAYS'],
    condition: '1',
  })})`

function byKindSql(counted: readonly string[]): string {
  return `
  SELECT day, market_id, publisher_id, figure.1 AS kind, figure.2 AS counted_,
    ${uncountedNames.map((name) => `0 AS ${name}_`).join(', ')}
  FROM (
    SELECT day, market_id, publisher_id, arrayJoin([
      (toUInt8(1), sum(loads)), (toUInt8(2), sum(impressions)), (toUInt8(3), sum(clicks))
    ]) AS figure
    FROM (${counted.join(' UNION ALL ')})
    GROUP BY day, market_id, publisher_id
  )`
}

/**
 * An event that does not count may have been served at any time before or after its receipt, so the day of
 * serving cannot bound the search. The verdict can: it belongs to the sorting key, so it may be checked
 * before repeats are merged, and it is the only column that is read of the events that count.
 */
const uncountedSql = `
  SELECT day, market_id, publisher_id, toUInt8(kind) AS kind, 0 AS counted_,
    ${uncountedVerdicts.map((verdict) => `countIf(verdict = '${verdict}') AS ${columnOf(verdict)}_`).join(', ')}
  FROM (${withAskedDaySql(`
    SELECT market_id, publisher_id, kind, verdict, received_at
    FROM ad_event FINAL
    PREWHERE advertiser_id = {advertiserId:Int32} AND verdict != 'counted'
    WHERE ${inAskedRange}`)})
  GROUP BY day, market_id, publisher_id, kind`
