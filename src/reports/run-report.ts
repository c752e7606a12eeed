import type { Warehouse } from '../warehouse/warehouse.ts'
import type { CatalogNames } from '../catalog/catalog-names.ts'
import { BasisReader } from './report-basis.ts'
import type { KeptPages } from './kept-pages.ts'
import { questionOf } from './kept-pages.ts'
import { answerPage } from './paged.ts'
import type { Computed } from './paged.ts'
import { Conversions } from './conversions.ts'
import { buildReportQuery } from './query.ts'
import type { QuerySource } from './query.ts'
import { createRowFormat, readTotals } from './report-rows.ts'
import type { ReportCall, ReportResult, ReportRow, RunReport } from './report.ts'

export interface ReportDeps {
  readonly warehouse: Warehouse
  readonly catalog: () => CatalogNames
  readonly keptPages: KeptPages
  /** Shared by the readers of all kinds of reports; by default, this one has its own. */
  readonly basis?: BasisReader
}

interface RunnerDeps extends ReportDeps {
  readonly basis: BasisReader
  readonly conversions: Conversions
}

/** Answers reports from the rollup and, for days that are not sealed, from the events. */
export function createReportRunner(given: ReportDeps): RunReport {
  const { basis = new BasisReader(given) } = given
  const deps = { ...given, basis, conversions: new Conversions() }
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
  const basis = await deps.basis.read(call.request, () => !dateBreakdown)
  const { completeThrough, renewingDays } = basis.days
  return {
    advertiserId: call.advertiserId,
    blocks: streamRows(deps, { ...call, catalog, ...basis }),
    readTotals: (row) => ({
      ...(row === null ? noRows : readTotals(row)),
      completeThrough,
      renewingDays,
    }),
    format: createRowFormat(call.advertiserId, catalog),
    areRowsKept: () => deps.basis.areRowsKept(basis),
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
