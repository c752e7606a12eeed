// Reads a report as sums by day, week or month and in total, for charts and headings. The rows stay in the warehouse.

import type { SeriesRequest } from '../contract/series-request.ts'
import { addDays, listDays } from '../domain/day.ts'
import { intervalStart, type Interval } from '../domain/interval.ts'
import { assert } from '../lib/assert.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { assertAnswersFor, boundAdvertiserSql } from './bound-advertiser.ts'
import type { CatalogNames } from '../catalog/catalog-names.ts'
import { Conversions } from './conversions.ts'
import { readFirstDay } from './first-day.ts'
import { BasisReader } from './report-basis.ts'
import { readFilteredOrders, type CountOrders } from './orders.ts'
import { readTargetParams } from './one-currency.ts'
import { reportParams, reportRowsSql, reportSettings, type QuerySource } from './query.ts'
import { readKept } from '../days/kept-revisions.ts'
import type { DaySpan } from '../days/sealed-spans.ts'
import type { CurrencySums, CurrencyTotals } from './report.ts'
import {
  currencyParams,
  rowsToSumSql,
  summedSql,
  toCurrencySums,
  totalsOf,
  unconvertedIn,
  type SummedRow,
} from './summed-rows.ts'

export interface DaySums extends CurrencySums {
  /** The first day of the interval, which may lie before the days asked for. */
  readonly day: string
}

export interface SeriesResult {
  /** By interval, then by currency; intervals without rows are left out. */
  readonly days: readonly DaySums[]
  /** The sums of all intervals, by currency. */
  readonly totals: readonly CurrencyTotals[]
  readonly completeThrough: string | null
  /** The first day with figures of the advertiser, whatever was asked for. */
  readonly firstDay: string | null
  /** Days that received events after they were sealed, oldest first. */
  readonly renewingDays: readonly string[]
  readonly unconvertedCount: number
}

export interface SeriesCall {
  readonly advertiserId: number
  /** Paging, order and breakdown have no effect. */
  readonly request: SeriesRequest
  readonly signal: AbortSignal
}

export type ReadSeries = (call: SeriesCall) => Promise<SeriesResult>

export interface SeriesDeps {
  readonly warehouse: Warehouse
  readonly catalog: () => CatalogNames
  /** Shared by the readers of all kinds of reports; by default, this one has its own. */
  readonly basis?: BasisReader
}

interface Deps extends SeriesDeps {
  readonly basis: BasisReader
  readonly conversions: Conversions
}

/**
 * One reading by interval gives the totals too: every figure is exact and belongs to one day, so the sums of the
 * intervals are those of the report without a breakdown.
 */
export function createSeriesReader(given: SeriesDeps): ReadSeries {
  const { basis = new BasisReader(given) } = given
  const deps = { ...given, basis, conversions: new Conversions() }
  return (call) => readKept(() => readOnce(deps, call))
}

/** Null if the sealed days were replaced so long ago that their rows may be gone. */
async function readOnce(
  deps: Deps,
  { advertiserId, request, signal }: SeriesCall
): Promise<SeriesResult | null> {
  signal.throwIfAborted()
  const byDay = { ...request, dateBreakdown: true }
  const { interval, convertTo = null } = request
  // The sum of a week has no rate: only its days have.
  const isUsable = (span: DaySpan) => convertTo === null && isWithinOne(interval, span)
  const basis = await deps.basis.read(request, isUsable)
  const { days } = basis
  const catalog = deps.catalog()
  const source = { advertiserId, request: byDay, catalog, ...basis }
  const rows = await readSums(deps, source, request)
  signal.throwIfAborted()
  const filteredOrders =
    request.filters.length === 0 ? null : await readFilteredOrders(deps.warehouse, source)
  if (!(await deps.basis.areRowsKept(basis))) return null
  const places = { warehouse: deps.warehouse, markets: catalog.markets() }
  const firstDay = await readFirstDay(places, advertiserId)
  const parts = partsOf(request)
  const sums = rows.map((row) => toSums(row, { filteredOrders, days, parts }))
  return {
    days: sums,
    totals: totalsOf(
      sums.map(({ day: _day, ...own }) => own),
      rows
    ),
    completeThrough: days.completeThrough,
    firstDay,
    renewingDays: days.renewingDays,
    unconvertedCount: unconvertedIn(rows),
  }
}

interface SumsRow extends SummedRow {
  readonly start: string
  readonly bound_advertiser_id: number
}

/** Whether a span stands for days of one interval. */
function isWithinOne(interval: Interval, { firstDay, dayCount }: DaySpan): boolean {
  const lastDay = addDays(firstDay, dayCount - 1)
  return intervalStart(firstDay, interval) === intervalStart(lastDay, interval)
}

/** The days asked for, by the first day of their interval. */
function partsOf({ startDate, endDate, interval }: SeriesRequest) {
  const parts = new Map<string, string[]>()
  for (const day of listDays(startDate, endDate)) {
    const start = intervalStart(day, interval)
    const known = parts.get(start)
    if (known === undefined) parts.set(start, [day])
    else known.push(day)
  }
  return parts
}

type Asked = Omit<QuerySource, 'converts'>

async function readSums({ warehouse, conversions }: Deps, source: Asked, request: SeriesRequest) {
  const { advertiserId, catalog, rates } = source
  const { interval, convertTo = null } = request
  const markets = catalog.markets()
  const range = { first: request.startDate, last: request.endDate }
  const target =
    convertTo === null
      ? {}
      : await readTargetParams(warehouse, markets, { currency: convertTo, ...range })
  const read = async (converts: boolean) => {
    const converted = { ...source, converts }
    const rows = await warehouse.rows<SumsRow>(sumsSql(converted, { interval, convertTo }), {
      ...reportParams(converted),
      ...target,
      ...currencyParams(markets),
    })
    for (const row of rows) assertAnswersFor(advertiserId, row.bound_advertiser_id)
    assert(rows.length < sumsMax, 'the sums of days and currencies fit into the list')
    return rows
  }
  return await conversions.rows({ advertiserId, rates, read, countUnconverted: unconvertedIn })
}

interface OrdersSource {
  readonly filteredOrders: CountOrders | null
  readonly days: QuerySource['days']
  readonly parts: ReadonlyMap<string, readonly string[]>
}

function ordersOf(row: SumsRow, { filteredOrders, days, parts }: OrdersSource): bigint | null {
  const own = parts.get(row.start) ?? []
  if (filteredOrders === null) {
    return own.some((day) => days.withoutOrders.has(day)) ? null : BigInt(row.orders)
  }
  return own
    .map((day) => filteredOrders(day, row.currency))
    .reduce((sum, count) => (sum === null || count === null ? null : sum + count), 0n)
}

function toSums(row: SumsRow, source: OrdersSource): DaySums {
  return { day: row.start, ...toCurrencySums(row, ordersOf(row, source)) }
}

// Holds 731 days in the currencies of all markets.
const sumsMax = 200_000

/** Of a span this is its own interval, because spans that are in two are not read. */
const startSql = {
  DAY: 'day',
  WEEK: 'toMonday(day)',
  MONTH: 'toStartOfMonth(day)',
} as const satisfies Record<Interval, string>

function sumsSql(
  source: QuerySource,
  { interval, convertTo }: { readonly interval: Interval; readonly convertTo: string | null }
): string {
  return `
SELECT toString(${startSql[interval]}) AS start, currency,
  ${summedSql(convertTo)}, ${boundAdvertiserSql}
FROM (${rowsToSumSql(reportRowsSql(source), { keys: 'day', convertTo })})
GROUP BY start, currency
ORDER BY start, currency
LIMIT ${sumsMax}
SETTINGS ${reportSettings}`
}
