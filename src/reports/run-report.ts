import { minorDigits } from '../domain/currency.ts'
import { divideHalfEven, formatDecimal, nanosScale, parseDecimal } from '../domain/money.ts'
import { assert } from '../lib/assert.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { noBlocks, openBlocks, wholeBlocks } from './blocks.ts'
import type { Values } from './blocks.ts'
import type { CatalogNames, ReportMarket } from './catalog-names.ts'
import type { KeptPages } from './kept-pages.ts'
import { questionOf } from './kept-pages.ts'
import type { MarketDays } from './day-rows.ts'
import { answerPage, noTotals } from './paged.ts'
import type { Computed } from './paged.ts'
import { answerColumns, buildReportQuery, rowsMax } from './query.ts'
import { loadRates, noRates } from './rates.ts'
import { readReportDays } from './sealed-days.ts'
import { coverWithSpans, readSpans } from './sealed-spans.ts'
import type { ReportCall, ReportResult, ReportRow, RunReport } from './report.ts'

export interface ReportDeps {
  readonly warehouse: Warehouse
  readonly catalog: () => CatalogNames
  readonly keptPages: KeptPages
}

/** Answers reports from the rollup and, for days that are not sealed, the events. */
export function createReportRunner(deps: ReportDeps): RunReport {
  return async (call: ReportCall): Promise<ReportResult> => {
    const { page, ...body } = call.request
    const question = questionOf([call.keyId, call.advertiserId, body])
    const asked = { question, page, limit: body.limit }
    return await answerPage(deps.keptPages, asked, () => compute(deps, call))
  }
}

/** All rows of the result, first to last. */
async function compute(deps: ReportDeps, call: ReportCall): Promise<Computed<ReportRow>> {
  const catalog = deps.catalog()
  const { days, spans } = await readParts(deps, call)
  const { completeThrough } = days
  const rates = days.hasOpenDays ? await loadRates(deps.warehouse, spanOf(days.open)) : noRates
  const query = buildReportQuery({ ...call, catalog, days, spans, rates })
  const stream = deps.warehouse.stream(query.sql, query.params, call.signal)
  const { first, rest } = await openBlocks(stream, call.signal)
  const format = createRowFormat(call.advertiserId, catalog)
  if (first === null) return { ...noTotals, completeThrough, blocks: noBlocks(), format }
  const head = first[0]
  assert(head !== undefined, 'a block of the engine has a row')
  const totals = readRow(head)
  return {
    totalRows: totals.total_rows,
    unconvertedCount: Number(totals.total_unconverted),
    completeThrough,
    blocks: wholeBlocks(first, rest, Math.min(totals.total_rows, rowsMax)),
    format,
  }
}

/** Open days, sealed ones, and spans in the place of sealed ones where no day is asked for. */
export async function readParts(
  { warehouse, catalog }: Pick<ReportDeps, 'warehouse' | 'catalog'>,
  { request }: Pick<ReportCall, 'request'>
) {
  const { startDate, endDate, dateBreakdown } = request
  const [days, stored] = await Promise.all([
    readReportDays(warehouse, catalog().markets(), request),
    dateBreakdown ? [] : readSpans(warehouse, { first: startDate, last: endDate }),
  ])
  const { spans, seals } = coverWithSpans(days.seals, stored)
  return { days: { ...days, seals }, spans }
}

/** The first and the last of the days asked for. */
export function spanOf(open: readonly MarketDays[]): {
  readonly first: string
  readonly last: string
} {
  const days = open.flatMap((one) => one.days).toSorted()
  return { first: days[0] ?? '1970-01-10', last: days.at(-1) ?? '1970-01-10' }
}

interface AnswerRow {
  readonly gtin: string
  readonly title: string
  readonly brand: string
  readonly market_id: number
  readonly publisher_id: number
  readonly campaign_id: number
  readonly ad_group_id: number
  readonly day: string | null
  readonly loads: number
  readonly impressions: number
  readonly clicks: number
  readonly conversions: number
  readonly units_sold: string
  readonly conversion_value: string
  readonly spend: string
  readonly total_rows: number
  readonly total_unconverted: string
}

/** The engine answers in the order of `answerColumns`; counts come as numbers, sums as text. */
function readRow(values: Values): AnswerRow {
  assert(values.length === answerColumns.length, 'the engine answers the columns asked for')
  // A loop: this runs for every row, and Object.fromEntries took as long as all the arithmetic.
  const row: Partial<Record<keyof AnswerRow, unknown>> = {}
  for (let index = 0; index < values.length; index++) {
    const name = answerColumns[index]
    if (name !== undefined) row[name] = values[index]
  }
  // The types are those of the query next door, which the engine holds to; tests compare each figure.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return row as AnswerRow
}

function createRowFormat(
  advertiserId: number,
  catalog: CatalogNames
): (values: Values) => ReportRow {
  const markets = new Map(catalog.markets().map((market) => [market.id, market]))
  const publishers = namesById(catalog.publishers())
  const campaigns = namesById(catalog.campaigns(advertiserId))
  const adGroups = namesById(catalog.adGroups(advertiserId))
  return (values) => {
    const row = readRow(values)
    return {
      gtin: row.gtin,
      title: row.title,
      brand: row.brand,
      publisherId: row.publisher_id,
      publisherName: publishers.get(row.publisher_id) ?? '',
      campaignId: row.campaign_id,
      campaignName: campaigns.get(row.campaign_id) ?? '',
      adGroupId: row.ad_group_id,
      adGroupName: adGroups.get(row.ad_group_id) ?? '',
      date: row.day,
      loads: String(row.loads),
      unitsSold: row.units_sold,
      ...marketOf(markets, row.market_id),
      ...formatFigures(row, markets.get(row.market_id)?.currency ?? ''),
    }
  }
}

/** A market that the catalog does not know shows by its id, without a currency. */
export function marketOf(markets: ReadonlyMap<number, ReportMarket>, id: number) {
  const market = markets.get(id)
  return { market: market?.code ?? String(id), currency: market?.currency ?? '' }
}

/** Every ratio is computed from exact amounts with one rounding, never from printed figures. */
function formatFigures(row: AnswerRow, currency: string) {
  const valueNanos = nanos(row.conversion_value)
  const spendNanos = nanos(row.spend)
  const clicks = BigInt(row.clicks)
  const impressions = BigInt(row.impressions)
  const conversions = BigInt(row.conversions)
  const digits = minorDigits(currency)
  return {
    impressions: String(impressions),
    clicks: String(clicks),
    conversions: String(conversions),
    clickThroughRate: divideHalfEven(clicks, impressions, 6),
    conversionRate: divideHalfEven(conversions, clicks, 6),
    conversionValue: formatDecimal(valueNanos, nanosScale, digits),
    adSpendRevenue: formatDecimal(spendNanos, nanosScale, digits),
    costPerClick: divideHalfEven(spendNanos, clicks * 1_000_000_000n, 4),
    returnOnAdSpend: divideHalfEven(valueNanos, spendNanos, 4),
    exact: { conversionValue: row.conversion_value, adSpendRevenue: row.spend },
  }
}

/** Billionths of what the engine printed as a decimal. */
export function nanos(decimal: string): bigint {
  const value = parseDecimal(decimal, nanosScale)
  assert(value !== null, 'the engine prints a decimal of 9 digits')
  return value
}

export function namesById(entries: readonly { readonly id: number; readonly name: string }[]) {
  return new Map(entries.map((entry) => [entry.id, entry.name]))
}
