import {
  answerJson,
  refuse,
  type Answer,
  type Call,
  type Handler,
  type HandlerTable,
} from '../../../http/handler.ts'
import { parseJsonBody } from '../../../contract/json.ts'
import { parseReportRequest, type ReportRequest } from '../../../contract/report-request.ts'
import { resolveLabels, type Labels } from '../../../reports/locale.ts'
import { listColumns } from '../../../contract/report-columns.ts'
import type { CsvCell } from '../../../reports/csv.ts'
import type { PagedResult } from '../../../reports/paged.ts'
import type { ReportResult } from '../../../reports/report.ts'
import type { CampaignDeps } from '../../deps.ts'
import { findAdvertiser, noAdvertiser } from '../find-advertiser.ts'
import type { ReportPlaces } from '../../report-places.ts'
import { queryText } from '../../../http/query-text.ts'
import { cellOf } from './cells.ts'
import { csvFile } from './csv-report.ts'
import { withinEventDays } from './event-days.ts'
import { jsonReport } from './json-report.ts'
import { jsonSeries } from './json-series.ts'

type ReportDeps = Pick<CampaignDeps, 'catalog' | 'runReport' | 'readSeries'>

interface Asked {
  readonly advertiserId: number
  readonly request: ReportRequest
  readonly labels: Labels
}

type ParsedCall =
  { readonly ok: true; readonly asked: Asked } | { readonly ok: false; readonly answer: Answer }

type Print = (result: ReportResult, asked: Asked) => Answer

/** The report as CSV and as JSON. Both share the places of reports. */
export function createReportHandlers(deps: ReportDeps, places: ReportPlaces): HandlerTable {
  const report =
    (print: Print): Handler =>
    async (call) => {
      const parsed = parseCall(deps, call)
      if (!parsed.ok) return parsed.answer
      const { asked } = parsed
      return await places.run(call, async (keyId) => {
        const { advertiserId } = asked
        const request = withinEventDays(asked.request)
        const { signal } = call
        const result = await deps.runReport({ advertiserId, request, keyId, signal })
        return print(result, asked)
      })
    }

  return {
    downloadSpaProductReport: report(printCsv),
    readSpaProductReport: report(printJson),
    readSpaProductSeries: createReadSeries(deps, places),
  }
}

/** Takes the body of a report, so that chart and table answer the same question. */
function createReadSeries(deps: ReportDeps, places: ReportPlaces): Handler {
  return async (call) => {
    const parsed = parseCall(deps, call)
    if (!parsed.ok) return parsed.answer
    const { advertiserId, request } = parsed.asked
    return await places.run(call, async () => {
      const { signal } = call
      const asked = { advertiserId, request: withinEventDays(request), signal }
      return answerJson(200, jsonSeries(await deps.readSeries(asked)))
    })
  }
}

function parseCall({ catalog }: ReportDeps, call: Call): ParsedCall {
  const advertiser = findAdvertiser(catalog.current(), call)
  if (advertiser === undefined) return { ok: false, answer: noAdvertiser }
  const labels = parseLocale(call.query)
  const body = parseJsonBody(call.body)
  const parsed = body.ok ? parseReportRequest(body.value) : body
  if (labels.ok && parsed.ok) {
    const asked = { advertiserId: advertiser.id, request: parsed.request, labels: labels.labels }
    return { ok: true, asked }
  }
  const messages = [...(labels.ok ? [] : [labels.message]), ...(parsed.ok ? [] : parsed.messages)]
  return { ok: false, answer: refuse(422, messages) }
}

function parseLocale(query: URLSearchParams) {
  const locale = queryText(query, 'locale')
  if (locale.kind === 'repeated') {
    return { ok: false, message: 'locale must be given once' } as const
  }
  return resolveLabels(locale.kind === 'given' ? locale.text : undefined)
}

const printCsv: Print = (result, asked) => {
  const columns = listColumns(asked.request)
  return csvAnswer(result, {
    file: fileName(asked),
    header: columns.map((column) => asked.labels[column]),
    cells: (row) => columns.map((column) => cellOf[column](row)),
  })
}

const printJson: Print = (result, asked) => ({
  status: 200,
  headers: resultHeaders(result),
  body: { json: jsonReport(result, asked.request) },
})

/** `file` holds letters, digits and dashes only, so that nothing in it needs quoting. */
export function csvAnswer<Row>(
  result: PagedResult<Row>,
  print: {
    readonly file: string
    readonly header: readonly string[]
    readonly cells: (row: Row) => readonly CsvCell[]
  }
): Answer {
  const { file, header, cells } = print
  return {
    status: 200,
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${file}"`,
      ...resultHeaders(result),
    },
    body: { text: csvFile({ rows: result.rows, header, cells }) },
  }
}

function resultHeaders(result: PagedResult<unknown>): Readonly<Record<string, string>> {
  const { totalRows, completeThrough, unconvertedCount, resultId } = result
  const renewingCount = result.renewingDays?.length ?? 0
  return {
    'x-total-rows': String(totalRows),
    ...(resultId !== undefined && { 'x-result-id': resultId }),
    ...(completeThrough !== null && { 'x-complete-through': completeThrough }),
    ...(renewingCount > 0 && { 'x-renewing-days': String(renewingCount) }),
    ...(unconvertedCount > 0 && { 'x-unconverted': String(unconvertedCount) }),
  }
}

function fileName({ advertiserId, request }: Asked): string {
  const { startDate, endDate, page } = request
  const pagePart = page === 0 ? '' : `-page-${page}`
  return `spa-product-report-advertiser-${advertiserId}-${startDate}-to-${endDate}${pagePart}.csv`
}
