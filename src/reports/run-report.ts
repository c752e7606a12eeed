import type { Warehouse } from '../warehouse/warehouse.ts'
import type { CatalogNames } from '../catalog/catalog-names.ts'
import type { KeptPages } from './kept-pages.ts'
import { questionOf } from './kept-pages.ts'
import type { MarketDays } from '../days/market-days.ts'
import { answerPage } from './paged.ts'
import type { Computed } from './paged.ts'
import { Conversions } from './conversions.ts'
import { buildReportQuery } from './query.ts'
import type { QuerySource } from './query.ts'
import { areKept } from '../days/kept-revisions.ts'
import { loadRates, noRates } from '../days/rates.ts'
import { createRowFormat, readTotals } from './report-rows.ts'
import { DayFacts } from '../days/day-facts.ts'
import { findReportDays } from '../days/sealed-days.ts'
import { coverWithSpans, spansWithin, type DaySpan } from '../days/sealed-spans.ts'
import type { ReportRequest } from '../contract/report-request.ts'
import type { ReportCall, ReportResult, ReportRow, RunReport } from './report.ts'

export interface ReportDeps {
  readonly warehouse: Warehouse
  readonly catalog: () => CatalogNames
  readonly keptPages: KeptPages
}

type RunnerDeps = ReportDeps & FactDeps & { readonly conversions: Conversions }

/** Answers reports from the rollup and, for days that are not sealed, from the events. */
export function createReportRunner(given: ReportDeps): RunReport {
  const facts = new DayFacts(given.warehouse)
  const deps = { ...given, facts, conversions: new Conversions() }
  return async (call: ReportCall): Promise<ReportResult> => {
    const { page, ...body } = call.request
    const question = questionOf([call.keyId, call.advertiserId, body])
    const asked = { question, owner: call.keyId, page, limit: body.limit, signal: call.signal }
    return await answerPage(deps.keptPages, asked, (signal) => compute(deps, { ...call, signal }))
  }
}

/** All rows of the result, first to last. */
async function compute(deps: RunnerDeps, call: ReportCall): Promise<Computed<ReportRow>> {
  const catalog = deps.catalog()
  const { dateBreakdown } = call.request
  const { days, spans } = await readParts(deps, call.request, () => !dateBreakdown)
  const { completeThrough, renewingDays } = days
  const rates = days.hasOpenDays ? await loadRates(deps.warehouse, rangeOf(days.open)) : noRates
  return {
    advertiserId: call.advertiserId,
    blocks: streamRows(deps, { ...call, catalog, days, spans, rates }),
    readTotals: (row) => ({
      ...(row === null ? noRows : readTotals(row)),
      completeThrough,
      renewingDays,
    }),
    format: createRowFormat(call.advertiserId, catalog),
    areRowsKept: () => areKept(deps.warehouse, { ...days, spans }),
  }
}

type Asked = Omit<QuerySource, 'converts'> & Pick<ReportCall, 'signal'>

function streamRows(
  { warehouse, conversions }: RunnerDeps,
  { signal, ...source }: Asked
): AsyncIterable<Buffer> {
  const { advertiserId, rates } = source
  return conversions.blocks({
    advertiserId,
    rates,
    stream: (converts) => {
      const { sql, params } = buildReportQuery({ ...source, converts })
      return warehouse.stream(sql, params, signal)
    },
    readUnconvertedCount: (row) => readTotals(row).unconvertedCount,
  })
}

const noRows = { totalRows: 0, unconvertedCount: 0 }

export interface FactDeps {
  readonly facts: DayFacts
  readonly catalog: () => CatalogNames
}

/** Open days, sealed days, and in place of sealed days the spans that the caller has a use for. */
export async function readParts(
  { facts, catalog }: FactDeps,
  request: Pick<ReportRequest, 'startDate' | 'endDate'>,
  isUsable: (span: DaySpan) => boolean
) {
  const days = await findReportDays(facts, catalog().markets(), request)
  const within = spansWithin(days.lists.spans, request)
  const { spans, seals } = coverWithSpans(days.seals, within.filter(isUsable))
  return { days: { ...days, seals }, spans }
}

/** The first and the last of the days asked for. */
export function rangeOf(open: readonly MarketDays[]): {
  readonly first: string
  readonly last: string
} {
  const days = open.flatMap((one) => one.days).toSorted()
  return { first: days[0] ?? '1970-01-10', last: days.at(-1) ?? '1970-01-10' }
}
