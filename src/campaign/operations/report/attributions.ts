import { printSeconds, printServedAdId } from '../../../attribution/explain/print.ts'
import { campaignOperations as operations } from '../../../contract/campaign-operations.ts'
import type { CreditRule } from '../../../contract/explanation.ts'
import { attributionColumns, type AttributionColumn } from '../../../contract/report-columns.ts'
import { reportLimits, type AttributionRule } from '../../../contract/report-request.ts'
import { printInstant } from '../../../domain/instant.ts'
import { answerJson, refuse, type HandlerTable } from '../../../http/handler.ts'
import type { AttributionRow } from '../../../reports/attributions.ts'
import type { CsvCell } from '../../../domain/csv.ts'
import type { CampaignDeps } from '../../deps.ts'
import { advertiserIn, handleAt } from '../../handle.ts'
import type { ReportPlaces } from '../../report-places.ts'
import { csvAnswer, withinEventDays } from './csv-answer.ts'

type AttributionDeps = Pick<CampaignDeps, 'catalog' | 'listAttributions' | 'explainOwnPurchase'>

/** The purchases behind the figures of a report, and why each is credited. Both take a place of reports. */
export function createAttributionHandlers(
  deps: AttributionDeps,
  places: ReportPlaces
): HandlerTable {
  const advertiser = advertiserIn(deps.catalog)
  // The same answer for a purchase that is not known, and for one that is credited to others.
  const purchase = {
    find: () => true,
    notFound: 'No such purchase is credited to this advertiser.',
  }
  return {
    ...handleAt(operations.downloadAttributions, advertiser, (call, { id }) =>
      places.run(call, async (keyId) => {
        const asked = {
          attributionProfile: 'IMP_1_DAY_CLK_14_DAYS',
          page: 0,
          limit: reportLimits.limitMax,
          sortType: 'ASC',
          ...call.query,
        } as const
        const { signal } = call
        const request = withinEventDays(asked)
        const result = await deps.listAttributions({ advertiserId: id, request, keyId, signal })
        if ('finalBefore' in result) {
          return refuse('DAYS_FINAL', [
            `startDate must not be before ${result.finalBefore}: of older days only the report is kept`,
          ])
        }
        return csvAnswer(result, {
          what: 'attributions',
          advertiserId: id,
          request: asked,
          header: attributionColumns,
          cells: (row) => attributionColumns.map((column) => cellOf[column](row)),
        })
      })
    ),
    ...handleAt(operations.explainAttribution, purchase, async (call) => {
      if ((await advertiser.find(call.path)) === undefined) {
        return refuse('RESOURCE_UNKNOWN', [advertiser.notFound])
      }
      return await places.run(call, async () => {
        const explanation = await deps.explainOwnPurchase(call.path)
        return explanation === null
          ? refuse('RESOURCE_UNKNOWN', [purchase.notFound])
          : answerJson(200, explanation)
      })
    }),
  }
}

const ruleNames = {
  direct: 'DIRECT_CLICK',
  'in-group': 'IN_GROUP_CLICK',
  view: 'VIEW',
} as const satisfies Record<CreditRule, AttributionRule>

const cellOf: Readonly<Record<AttributionColumn, (row: AttributionRow) => CsvCell>> = {
  DATE: ({ date }) => ({ text: date }),
  PURCHASED_AT: ({ purchasedAtMs }) => ({ text: printInstant(purchasedAtMs) }),
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
  TOUCHED_AT: ({ touchedAtMs }) => ({ text: printInstant(touchedAtMs) }),
  SECONDS_TO_PURCHASE: ({ purchasedAtMs, touchedAtMs }) => ({
    number: printSeconds(purchasedAtMs - touchedAtMs),
  }),
  UNITS: ({ units }) => ({ number: units }),
  CONVERSION_VALUE: ({ conversionValue }) => ({ number: conversionValue }),
  CURRENCY: ({ currency }) => ({ text: currency }),
  SERVED_AD_ID: ({ servedAdId }) => ({ text: printServedAdId(servedAdId) }),
}
