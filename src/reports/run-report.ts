import { minorDigits } from '../domain/currency.ts'
import { divideHalfEven, formatDecimal, nanosScale, parseDecimal } from '../domain/money.ts'
import { assert } from '../lib/assert.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import type { CatalogNames, ReportMarket } from './catalog-names.ts'
import { answerColumns, buildReportQuery } from './query.ts'
import type { ReportCall, ReportResult, ReportRow, RunReport } from './report.ts'

export interface ReportDeps {
  readonly warehouse: Warehouse
  readonly catalog: () => CatalogNames
}

/** Answers reports straight from the events; the rows are pulled through in flat memory. */
export function createReportRunner(deps: ReportDeps): RunReport {
  return async (call: ReportCall): Promise<ReportResult> => {
    const catalog = deps.catalog()
    const query = buildReportQuery({ ...call, catalog })
    const stream = deps.warehouse.stream(query.sql, query.params, call.signal)
    const blocks = stream[Symbol.asyncIterator]()
    const first = await blocks.next()
    if (first.done === true) return await answerEmptyPage(deps, call, query)
    const head = first.value[0]
    assert(head !== undefined, 'a block of the engine has a row')
    const totals = readRow(head)
    const format = createRowFormat(call.advertiserId, catalog)
    return {
      totalRows: totals.total_rows,
      unconvertedCount: Number(totals.total_unconverted),
      completeThrough: null,
      rows: formatBlocks(first.value, blocks, format),
    }
  }
}

/** A page behind the last one is empty, but says how many rows there are. */
async function answerEmptyPage(
  deps: ReportDeps,
  call: ReportCall,
  query: ReturnType<typeof buildReportQuery>
): Promise<ReportResult> {
  const [row] =
    call.request.page === 0
      ? []
      : await deps.warehouse.rows<{ totalRows: number; totalUnconverted: string }>(
          query.countSql,
          query.params
        )
  return {
    totalRows: row?.totalRows ?? 0,
    unconvertedCount: Number(row?.totalUnconverted ?? 0),
    completeThrough: null,
    rows: noBlocks(),
  }
}

async function* noBlocks(): AsyncGenerator<readonly ReportRow[]> {
  // A page without rows has no block.
}

async function* formatBlocks(
  first: readonly (readonly unknown[])[],
  rest: AsyncIterator<readonly unknown[][]>,
  format: (row: readonly unknown[]) => ReportRow
): AsyncGenerator<readonly ReportRow[]> {
  try {
    yield first.map(format)
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
      yield next.value.map(format)
    }
  } finally {
    await rest.return?.()
  }
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
function readRow(values: readonly unknown[]): AnswerRow {
  assert(values.length === answerColumns.length, 'the engine answers the columns asked for')
  // The types are those of the query next door, which the engine holds to; tests compare each figure.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(
    answerColumns.map((name, index) => [name, values[index]])
  ) as unknown as AnswerRow
}

function createRowFormat(
  advertiserId: number,
  catalog: CatalogNames
): (values: readonly unknown[]) => ReportRow {
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

function marketOf(markets: ReadonlyMap<number, ReportMarket>, id: number) {
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

function nanos(decimal: string): bigint {
  const value = parseDecimal(decimal, nanosScale)
  assert(value !== null, 'the engine prints a decimal of 9 digits')
  return value
}

function namesById(entries: readonly { readonly id: number; readonly name: string }[]) {
  return new Map(entries.map((entry) => [entry.id, entry.name]))
}
