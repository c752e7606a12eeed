// Reads the totals of many advertisers by one statement a period, from the same sealed and open rows as their series.
import type { SummaryRequest } from '../contract/summary-request.ts'
import { readKept } from '../days/kept-revisions.ts'
import type { DaySpan } from '../days/sealed-spans.ts'
import { addDays, listDays } from '../domain/day.ts'
import { assert } from '../lib/assert.ts'
import { assertAnswersForAll, boundAdvertisersSql } from './bound-advertiser.ts'
import { readFirstDays } from './first-day.ts'
import { BasisReader } from './report-basis.ts'
import { readTargetParams } from './one-currency.ts'
import { reportSettings, rowsOfManySql, rowsParams, type RowsParts } from './query.ts'
import type { CurrencySums, CurrencyTotals } from './report.ts'
import type { ReportDeps } from './run-report.ts'
import type { DaySums } from './series.ts'
import {
  currencyParams,
  rowsToSumSql,
  summedSql,
  toCurrencySums,
  totalsOf,
  unconvertedIn,
  type SummedRow,
} from './summed-rows.ts'

type SummaryQuestion = Omit<SummaryRequest, 'advertiserIds' | 'after' | 'limit'>

export interface SummaryCall {
  readonly advertiserIds: readonly number[]
  readonly request: SummaryQuestion
  readonly signal: AbortSignal
}

export interface AdvertiserSums {
  /** By currency. */
  readonly totals: readonly CurrencyTotals[]
  readonly comparison: readonly CurrencyTotals[]
  /** By day, then by currency; days without rows are left out. */
  readonly days: readonly DaySums[]
  readonly firstDay: string | null
}

export interface SummaryResult {
  /** Each of the advertisers asked for. */
  readonly advertisers: ReadonlyMap<number, AdvertiserSums>
  readonly completeThrough: string | null
  /** Days that received events after they were sealed, oldest first. */
  readonly renewingDays: readonly string[]
  readonly unconvertedCount: number
}

export type ReadSummary = (call: SummaryCall) => Promise<SummaryResult>

type SummaryDeps = Pick<ReportDeps, 'warehouse' | 'catalog' | 'basis'>

interface Deps extends SummaryDeps {
  readonly basis: BasisReader
}

export function createSummaryReader(given: SummaryDeps): ReadSummary {
  const { basis = new BasisReader(given) } = given
  const deps = { ...given, basis }
  return (call) => readKept(() => readOnce(deps, call))
}

/** Null if the sealed days were replaced so long ago that their rows may be gone. */
async function readOnce(deps: Deps, asked: SummaryCall): Promise<SummaryResult | null> {
  const { advertiserIds, request, signal } = asked
  const { comparison, trendDays } = request
  const period = await readPeriod(deps, { ...asked, period: { ...request, trendDays } })
  if (period === null) return null
  signal.throwIfAborted()
  const before =
    comparison === null
      ? null
      : await readPeriod(deps, { ...asked, period: { ...comparison, trendDays: 0 } })
  if (comparison !== null && before === null) return null
  signal.throwIfAborted()
  const places = { warehouse: deps.warehouse, markets: deps.catalog().markets() }
  const firstDays = await readFirstDays(places, advertiserIds)
  const advertisers = advertiserIds.map((id): [number, AdvertiserSums] => [
    id,
    {
      ...(period.byAdvertiser.get(id) ?? noSums),
      comparison: before?.byAdvertiser.get(id)?.totals ?? [],
      firstDay: firstDays.get(id) ?? null,
    },
  ])
  return {
    advertisers: new Map(advertisers),
    completeThrough: period.completeThrough,
    renewingDays: period.renewingDays,
    unconvertedCount: period.unconvertedCount,
  }
}

const noSums = { totals: [], days: [] } as const

interface Period {
  readonly startDate: string
  readonly endDate: string
  readonly trendDays: number
}

async function readPeriod(
  deps: Deps,
  { advertiserIds, request, period }: SummaryCall & { readonly period: Period }
) {
  const { attributionProfile, convertTo } = request
  const { startDate, endDate, trendDays } = period
  const trendFrom = addDays(endDate, 1 - trendDays)
  const range = { startDate: trendFrom < startDate ? trendFrom : startDate, endDate }
  // Days of the trend are told apart, and the sum of a week has no rate: only its days have.
  const isUsable = ({ firstDay, dayCount }: DaySpan) =>
    convertTo === null && firstDay >= startDate && addDays(firstDay, dayCount - 1) < trendFrom
  const basis = await deps.basis.read(range, isUsable)
  const { days } = basis
  const rowsQuestion = { ...range, attributionProfile, filters: [], dateBreakdown: true }
  const source = {
    advertisers: 'given',
    request: rowsQuestion,
    ...basis,
    converts: true,
  } as const
  const markets = deps.catalog().markets()
  const converted = { currency: convertTo ?? '', first: range.startDate, last: endDate }
  const rows = await deps.warehouse.rows<SumsRow>(sumsSql(source, convertTo), {
    ...rowsParams(source),
    ...(convertTo !== null && (await readTargetParams(deps.warehouse, markets, converted))),
    ...currencyParams(markets),
    advertiserIds,
    trendFrom,
  })
  assertAnswersForAll(advertiserIds, rows)
  assert(rows.length < sumsMax, 'the sums of advertisers, days and currencies fit into the list')
  if (!(await deps.basis.areRowsKept(basis))) return null
  const { withoutOrders } = days
  const periodHasOrders = !listDays(startDate, endDate).some((day) => withoutOrders.has(day))
  return {
    byAdvertiser: divide(rows, { startDate, withoutOrders, periodHasOrders }),
    completeThrough: days.completeThrough,
    renewingDays: days.renewingDays,
    unconvertedCount: unconvertedIn(rows.filter((row) => isOfPeriod(row.part, startDate))),
  }
}

interface SumsRow extends SummedRow {
  readonly advertiser_id: number
  /** A day of the trend; '' for the days before it together. */
  readonly part: string
  readonly bound_advertisers: string
}

/** Holds 200 advertisers with a trend of 62 days in 80 currencies. */
const sumsMax = 1_000_000

function sumsSql(
  source: RowsParts & { readonly advertisers: 'given' },
  convertTo: string | null
): string {
  return `
SELECT advertiser_id, if(day < {trendFrom:Date}, '', toString(day)) AS part, currency,
  ${summedSql(convertTo)}, ${boundAdvertisersSql}
FROM (${rowsToSumSql(rowsOfManySql(source), { keys: 'advertiser_id, day', convertTo })})
GROUP BY advertiser_id, part, currency
ORDER BY advertiser_id, part, currency
LIMIT ${sumsMax}
SETTINGS ${reportSettings}`
}

interface Division {
  readonly startDate: string
  readonly withoutOrders: ReadonlySet<string>
  readonly periodHasOrders: boolean
}

/** Each advertiser's days and totals. */
function divide(rows: readonly SumsRow[], division: Division) {
  const { startDate, periodHasOrders } = division
  const byAdvertiser = new Map<number, SumsRow[]>()
  for (const row of rows) {
    const own = byAdvertiser.get(row.advertiser_id)
    if (own === undefined) byAdvertiser.set(row.advertiser_id, [row])
    else own.push(row)
  }
  const sumsOf = (own: readonly SumsRow[]) => {
    const ofPeriod = own.filter(({ part }) => isOfPeriod(part, startDate))
    return {
      days: own.filter(({ part }) => part !== '').map((row) => toDay(row, division)),
      totals: totalsOf(
        ofPeriod.map((row) => toSums(row, periodHasOrders)),
        ofPeriod
      ),
    }
  }
  return new Map([...byAdvertiser].map(([id, own]) => [id, sumsOf(own)]))
}

function isOfPeriod(part: string, startDate: string): boolean {
  return part === '' || part >= startDate
}

function toDay(row: SumsRow, { withoutOrders }: Division): DaySums {
  return { day: row.part, ...toSums(row, !withoutOrders.has(row.part)) }
}

function toSums(row: SumsRow, areOrdersKnown: boolean): CurrencySums {
  return toCurrencySums(row, areOrdersKnown ? BigInt(row.orders) : null)
}
