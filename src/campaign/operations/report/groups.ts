import { campaignOperations as operations } from '../../../contract/campaign-operations.ts'
import { answerJson, type HandlerTable } from '../../../http/handler.ts'
import { readValues } from '../../../reports/values.ts'
import type { CampaignDeps } from '../../deps.ts'
import { advertiserIn, handleAt } from '../../handle.ts'
import type { ReportPlaces } from '../../report-places.ts'
import { csvAnswer, resultHeaders, withinEventDays } from './csv-answer.ts'
import { csvOfGroups, jsonGroups } from './print-groups.ts'

/** The product report by groups, as JSON and as CSV, and the groups that a filter can name. */
export function createGroupHandlers(
  deps: Pick<CampaignDeps, 'catalog' | 'runGroups'>,
  places: ReportPlaces
): HandlerTable {
  const advertiser = advertiserIn(deps.catalog)
  return {
    ...handleAt(operations.readSpaProductGroups, advertiser, async (call, { id }) =>
      places.runShared(call, ['groups', id, call.body], async (asker) => {
        const { body } = call
        const request = withinEventDays(body)
        const result = await deps.runGroups({ advertiserId: id, request, ...asker })
        const headers = resultHeaders(result)
        return { ...answerJson(200, jsonGroups(result, body)), headers, mayCompress: true }
      })
    ),
    ...handleAt(operations.downloadSpaProductGroups, advertiser, async (call, { id }) =>
      places.run(call, async (keyId) => {
        const { body, query, signal } = call
        const request = withinEventDays(body)
        const result = await deps.runGroups({ advertiserId: id, request, keyId, signal })
        return csvAnswer(result, {
          what: 'spa-product-groups',
          advertiserId: id,
          request: body,
          ...csvOfGroups(body, query.locale),
        })
      })
    ),
    ...handleAt(operations.listSpaReportValues, advertiser, async (call, { id }) =>
      places.run(call, async (keyId) => {
        const { query, signal } = call
        const asker = { advertiserId: id, keyId, signal }
        const values = await readValues(deps.runGroups, withinEventDays(query), asker)
        return { ...answerJson(200, values), mayCompress: true }
      })
    ),
  }
}
