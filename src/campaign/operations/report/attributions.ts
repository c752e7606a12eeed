import {
  answerJson,
  refuse,
  type Answer,
  type Call,
  type HandlerTable,
} from '../../../http/handler.ts'
import { parseDateRange } from '../../../http/date-range.ts'
import { QueryReader, type QueryRule } from '../../../http/query-reader.ts'
import type { CreditRule } from '../../../contract/explanation.ts'
import {
  attributionColumns,
  type AttributionColumn,
} from '../../../contract/attribution-columns.ts'
import { attributionProfiles, reportLimits } from '../../../contract/report-request.ts'
import type { AttributionProfile } from '../../../contract/report-request.ts'
import { parsePositiveInt32 } from '../../../domain/ids.ts'
import { isText } from '../../../domain/text.ts'
import type { AttributionRow, AttributionsRequest } from '../../../reports/attributions.ts'
import type { CsvCell } from '../../../reports/csv.ts'
import { printSeconds, printServedAdId } from '../../../attribution/explain/print.ts'
import type { CampaignDeps } from '../../deps.ts'
import { findAdvertiser, noAdvertiser } from '../find-advertiser.ts'
import type { ReportPlaces } from '../../report-places.ts'
import { withinEventDays } from './event-days.ts'
import { csvAnswer } from './handlers.ts'
import { readPageQuery } from './page-query.ts'

type AttributionDeps = Pick<CampaignDeps, 'catalog' | 'listAttributions' | 'explainOwnPurchase'>

/** The purchases behind the figures of a report, and why each is credited. Both take a place of reports. */
export function createAttributionHandlers(
  deps: AttributionDeps,
  places: ReportPlaces
): HandlerTable {
  return {
    downloadAttributions: (call) => download(deps, places, call),
    explainAttribution: (call) => explain(deps, places, call),
  }
}

async function download(deps: AttributionDeps, places: ReportPlaces, call: Call): Promise<Answer> {
  const advertiser = findAdvertiser(deps.catalog.current(), call)
  if (advertiser === undefined) return noAdvertiser
  const parsed = parseQuery(call.query)
  if (!parsed.ok) return refuse(422, parsed.messages)
  return await places.run(call, async (keyId) => {
    const { signal } = call
    const request = withinEventDays(parsed.request)
    const asked = { advertiserId: advertiser.id, request, keyId, signal }
    const result = await deps.listAttributions(asked)
    if ('finalBefore' in result) {
      const { finalBefore } = result
      return refuse(422, [
        `startDate must not be before ${finalBefore}: of older days only the report is kept`,
      ])
    }
    return csvAnswer(result, {
      file: fileName(advertiser.id, parsed.request),
      header: attributionColumns,
      cells: (row) => attributionColumns.map((column) => cellOf[column](row)),
    })
  })
}

async function explain(deps: AttributionDeps, places: ReportPlaces, call: Call): Promise<Answer> {
  const advertiser = findAdvertiser(deps.catalog.current(), call)
  if (advertiser === undefined) return noAdvertiser
  const publisherId = parsePositiveInt32(call.pathParameters['publisherId'] ?? '')
  const transactionId = call.pathParameters['transactionId'] ?? ''
  if (publisherId === null || !isText(transactionId)) return notCredited
  return await places.run(call, async () => {
    const question = { advertiserId: advertiser.id, publisherId, transactionId }
    const explanation = await deps.explainOwnPurchase(question)
    return explanation === null ? notCredited : answerJson(200, explanation)
  })
}

/** The same for a purchase that is not known, and for one that is credited to others. */
const notCredited = refuse(404, ['No such purchase is credited to this advertiser.'])

type ParsedQuery =
  | { readonly ok: true; readonly request: AttributionsRequest }
  | { readonly ok: false; readonly messages: readonly string[] }

function parseQuery(query: URLSearchParams): ParsedQuery {
  const reader = new QueryReader(query)
  const attributionProfile =
    reader.optional('attributionProfile', profileRule) ?? 'IMP_1_DAY_CLK_14_DAYS'
  const paging = readPageQuery(reader)
  const range = parseDateRange(query, reportLimits.daysMax)
  if (range.ok && reader.messages.length === 0) {
    const { startDate, endDate } = range
    return { ok: true, request: { startDate, endDate, attributionProfile, ...paging } }
  }
  return { ok: false, messages: [...reader.messages, ...(range.ok ? [] : range.messages)] }
}

const profileRule: QueryRule<AttributionProfile> = {
  rule: `one of: ${attributionProfiles.join(', ')}`,
  parse: (text) => attributionProfiles.find((profile) => profile === text) ?? null,
}

const ruleNames = {
  direct: 'DIRECT_CLICK',
  'in-group': 'IN_GROUP_CLICK',
  view: 'VIEW',
} as const satisfies Record<CreditRule, string>

const cellOf: Readonly<Record<AttributionColumn, (row: AttributionRow) => CsvCell>> = {
  DATE: ({ date }) => ({ text: date }),
  PURCHASED_AT: ({ purchasedAtMs }) => ({ text: new Date(purchasedAtMs).toISOString() }),
  MARKET: ({ market }) => ({ text: market }),
  PUBLISHER_ID: ({ publisherId }) => ({ number: String(publisherId) }),
  PUBLISHER_NAME: ({ publisherName }) => ({ text: publisherName }),
  TRANSACTION_ID: ({ transactionId }) => ({ text: transactionId }),
  LINE: ({ line }) => ({ number: String(line) }),
  PURCHASED_GTIN: ({ purchasedGtin }) => ({ text: purchasedGtin }),
  CAMPAIGN_ID: ({ campaignId }) => ({ number: String(campaignId) }),
  AD_GROUP_ID: ({ adGroupId }) => ({ number: String(adGroupId) }),
  ADVERTISED_GTIN: ({ advertisedGtin }) => ({ text: advertisedGtin }),
  RULE: ({ rule }) => ({ text: ruleNames[rule] }),
  TOUCHED_AT: ({ touchedAtMs }) => ({ text: new Date(touchedAtMs).toISOString() }),
  SECONDS_TO_PURCHASE: ({ purchasedAtMs, touchedAtMs }) => ({
    number: printSeconds(purchasedAtMs - touchedAtMs),
  }),
  UNITS: ({ units }) => ({ number: units }),
  CONVERSION_VALUE: ({ conversionValue }) => ({ number: conversionValue }),
  CURRENCY: ({ currency }) => ({ text: currency }),
  SERVED_AD_ID: ({ servedAdId }) => ({ text: printServedAdId(servedAdId) }),
}

function fileName(advertiserId: number, request: AttributionsRequest): string {
  const { startDate, endDate, page } = request
  const pagePart = page === 0 ? '' : `-page-${page}`
  return `attributions-advertiser-${advertiserId}-${startDate}-to-${endDate}${pagePart}.csv`
}
