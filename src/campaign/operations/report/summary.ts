import { isForAdvertiser } from '../../../access/authenticate.ts'
import type { AccessKey } from '../../../access/key.ts'
import { campaignOperations as operations } from '../../../contract/campaign-operations.ts'
import type { JsonSummary } from '../../../contract/report-json.ts'
import type { SummaryRequest } from '../../../contract/summary-request.ts'
import { answerJson, refuse, type HandlerTable } from '../../../http/handler.ts'
import { addUpDays, addUpInto, type OneCurrencySums } from '../../../reports/sums.ts'
import type { AdvertiserSums } from '../../../reports/summary.ts'
import type { CampaignDeps } from '../../deps.ts'
import { handle } from '../../handle.ts'
import type { ReportPlaces } from '../../report-places.ts'
import { withinEventDays } from './csv-answer.ts'
import { printIfAny, printInOneCurrency, printTotals, printWithOrders } from './print.ts'

type Advertisers = ReturnType<CampaignDeps['catalog']['current']>['advertisers']

/** The totals of many advertisers, in the places of reports. */
export function createSummaryHandlers(
  { catalog, readSummary }: Pick<CampaignDeps, 'catalog' | 'readSummary'>,
  places: ReportPlaces
): HandlerTable {
  return handle(operations.readSpaProductSummary, async (call) => {
    const { key, body } = call
    const { advertisers } = catalog.current()
    const found = findAdvertisers(key, body, advertisers)
    if (!found.ok) return found.answer

    const { ids, next } = found
    return await places.runShared(call, ['summary', ids, body], async ({ signal }) => {
      const { advertiserIds: _ids, after: _after, limit: _limit, ...question } = body
      const { comparison } = question
      const request = {
        ...withinEventDays(question),
        comparison: comparison === null ? null : withinEventDays(comparison),
      }
      const result = await readSummary({ advertiserIds: ids, request, signal })
      const summary: JsonSummary = {
        advertisers: [...result.advertisers].map(([id, sums]) => {
          const name = advertisers.get(id)?.name ?? String(id)
          return Object.assign({ id, name }, printAdvertiser(sums, body.convertTo))
        }),
        ...(next !== null && { next }),
        completeThrough: result.completeThrough,
        renewingDays: [...result.renewingDays],
        unconverted: result.unconvertedCount,
      }
      return { ...answerJson(200, summary), mayCompress: true }
    })
  })
}

/**
 * The advertisers of the page. A key learns of no other: whom it is not for is refused whether or not it exists, as
 * where the path names one.
 */
function findAdvertisers(
  key: AccessKey,
  { advertiserIds, after, limit }: SummaryRequest,
  advertisers: Advertisers
) {
  if (advertiserIds?.some((id) => !isForAdvertiser(key, id)) === true) {
    const message = 'The key is not for all of these advertisers.'
    return { ok: false, answer: refuse('PARTY_FORBIDDEN', [message]) } as const
  }
  if (advertiserIds?.some((id) => !advertisers.has(id)) === true) {
    const message = '/advertiserIds must name advertisers of the catalog'
    return { ok: false, answer: refuse('REQUEST_INVALID', [message]) } as const
  }
  const all = advertiserIds ?? [...advertisers.keys()].filter((id) => isForAdvertiser(key, id))
  const behind = all.filter((id) => id > after).toSorted((one, other) => one - other)
  const ids = behind.slice(0, limit)
  const last = behind.length > limit ? ids.at(-1) : undefined
  return { ok: true, ids, next: last ?? null } as const
}

export function printAdvertiser(sums: AdvertiserSums, convertTo: string | null) {
  return {
    totals: sums.totals.map(printTotals),
    comparison: sums.comparison.map(printTotals),
    days: sums.days.map(({ day, ...own }) => ({ DATE: day, ...dayFigures(printWithOrders(own)) })),
    firstDay: sums.firstDay,
    ...(convertTo !== null && {
      converted: {
        totals: printIfAny(addUpInto(convertTo, sums.totals)),
        comparison: printIfAny(addUpInto(convertTo, sums.comparison)),
        days: addUpDays(convertTo, sums.days).map(printDay),
      },
    }),
  }
}

function printDay({ day, sums }: { readonly day: string; readonly sums: OneCurrencySums }) {
  return { DATE: day, ...dayFigures(printInOneCurrency(sums)) }
}

type Printed = ReturnType<typeof printWithOrders>
type Amounts = 'CONVERSION_VALUE' | 'AD_SPEND_REVENUE'

/** A day of a small chart: there may be very many of them. */
function dayFigures<Amount extends string | null>({
  IMPRESSIONS,
  CLICKS,
  LOADS,
  CONVERSION_VALUE,
  AD_SPEND_REVENUE,
  CURRENCY,
  ORDERS,
}: Pick<Printed, 'IMPRESSIONS' | 'CLICKS' | 'LOADS' | 'CURRENCY' | 'ORDERS'> &
  Readonly<Record<Amounts, Amount>>) {
  return { IMPRESSIONS, CLICKS, LOADS, CONVERSION_VALUE, AD_SPEND_REVENUE, CURRENCY, ORDERS }
}
