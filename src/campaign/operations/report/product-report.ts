import { campaignOperations as operations } from '../../../contract/campaign-operations.ts'
import { listColumns } from '../../../contract/report-columns.ts'
import type { SealedDays } from '../../../contract/report-json.ts'
import { parseInstant, printInstant } from '../../../domain/instant.ts'
import { answerJson, type HandlerTable } from '../../../http/handler.ts'
import { labelsOf } from '../../../reports/locale.ts'
import type { CampaignDeps } from '../../deps.ts'
import { advertiserIn, handleAt } from '../../handle.ts'
import type { ReportPlaces } from '../../report-places.ts'
import { csvAnswer, resultHeaders, withinEventDays } from './csv-answer.ts'
import { cellOf, jsonReport, jsonSeries } from './print.ts'

type ReportDeps = Pick<CampaignDeps, 'catalog' | 'runReport' | 'readSeries' | 'listRestatements'>

/** The product report as CSV, as JSON and as sums by day, which share the places of reports; and its days. */
export function createReportHandlers(deps: ReportDeps, places: ReportPlaces): HandlerTable {
  const advertiser = advertiserIn(deps.catalog)
  return {
    ...handleAt(operations.downloadSpaProductReport, advertiser, async (call, { id }) =>
      places.run(call, async (keyId) => {
        const { body, query, signal } = call
        const request = withinEventDays(body)
        const result = await deps.runReport({ advertiserId: id, request, keyId, signal })
        const columns = listColumns(body)
        const labels = labelsOf(query.locale)
        return csvAnswer(result, {
          what: 'spa-product-report',
          advertiserId: id,
          request: body,
          header: columns.map((column) => labels[column]),
          cells: (row) => columns.map((column) => cellOf[column](row)),
        })
      })
    ),
    ...handleAt(operations.readSpaProductReport, advertiser, async (call, { id }) =>
      places.runShared(call, ['report', id, call.body], async (asker) => {
        const { body } = call
        const request = withinEventDays(body)
        const result = await deps.runReport({ advertiserId: id, request, ...asker })
        const headers = resultHeaders(result)
        return { ...answerJson(200, jsonReport(result, body)), headers, mayCompress: true }
      })
    ),
    ...handleAt(operations.readSpaProductSeries, advertiser, async (call, { id }) =>
      places.runShared(call, ['series', id, call.body], async ({ signal }) => {
        const { body } = call
        const request = withinEventDays(body)
        const series = await deps.readSeries({ advertiserId: id, request, signal })
        return { ...answerJson(200, jsonSeries(series, body.convertTo)), mayCompress: true }
      })
    ),
    ...handleAt(operations.listSealedDays, advertiser, async ({ query: { since } }) => {
      const sinceMs = since === undefined ? null : parseInstant(since)
      const days = await listSealedDays(deps, sinceMs ?? 0)
      return { ...answerJson(200, days), mayCompress: true }
    }),
  }
}

/** The days a client has to pull again: those that were sealed, or sealed again, since it last asked. */
async function listSealedDays(
  { catalog, listRestatements }: ReportDeps,
  sinceMs: number
): Promise<SealedDays> {
  const { days, hasMore } = await listRestatements(sinceMs)
  const { markets } = catalog.current()
  return {
    days: days.map(({ day, marketId, revision, sealedAtMs }) => ({
      day,
      market: marketId === null ? null : (markets.get(marketId)?.code ?? `${marketId}`),
      revision,
      sealedAt: printInstant(sealedAtMs),
    })),
    hasMore,
  }
}
