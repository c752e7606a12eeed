import { campaignOperations } from '../../../contract/campaign-operations.ts'
import { trafficQualityColumns } from '../../../contract/report-columns.ts'
import { reportLimits } from '../../../contract/report-request.ts'
import { divideHalfEven } from '../../../domain/money.ts'
import type { HandlerTable } from '../../../http/handler.ts'
import type { CsvCell } from '../../../domain/csv.ts'
import type { TrafficQualityRow, UncountedVerdict } from '../../../reports/traffic-quality.ts'
import type { CampaignDeps } from '../../deps.ts'
import { advertiserIn, handleAt } from '../../handle.ts'
import type { ReportPlaces } from '../../report-places.ts'
import { csvAnswer, withinEventDays } from './csv-answer.ts'

type QualityDeps = Pick<CampaignDeps, 'catalog' | 'readTrafficQuality'>

/** Which events of an advertiser counted and which did not, as CSV. Takes a place like a report. */
export function createDownloadTrafficQuality(
  { catalog, readTrafficQuality }: QualityDeps,
  places: ReportPlaces
): HandlerTable {
  return handleAt(
    campaignOperations.downloadTrafficQuality,
    advertiserIn(catalog),
    async (call, { id: advertiserId }) =>
      places.run(call, async (keyId) => {
        const asked = { page: 0, limit: reportLimits.limitMax, ...call.query }
        const request = withinEventDays(asked)
        const { signal } = call
        const quality = await readTrafficQuality({ advertiserId, request, keyId, signal })
        return csvAnswer(quality, {
          what: 'traffic-quality',
          advertiserId,
          request: asked,
          header: trafficQualityColumns,
          cells: (row) => trafficQualityColumns.map((name) => cells[name](row)),
        })
      })
  )
}

const cells: Readonly<
  Record<(typeof trafficQualityColumns)[number], (row: TrafficQualityRow) => CsvCell>
> = {
  DATE: ({ date }) => ({ text: date }),
  MARKET: ({ market }) => ({ text: market }),
  PUBLISHER_ID: ({ publisherId }) => ({ number: String(publisherId) }),
  PUBLISHER_NAME: ({ publisherName }) => ({ text: publisherName }),
  KIND: ({ kind }) => ({ text: kind }),
  COUNTED: ({ counted }) => ({ number: String(counted) }),
  BOT: countOf('bot'),
  PREFETCH: countOf('prefetch'),
  EXPIRED: countOf('expired'),
  EARLY: countOf('early'),
  TOO_LATE: countOf('too-late'),
  NO_USER_AGENT: countOf('no-user-agent'),
  DATA_CENTRE: countOf('data-centre'),
  BOT_RATE: rateOf('bot'),
  PREFETCH_RATE: rateOf('prefetch'),
  EXPIRED_RATE: rateOf('expired'),
  EARLY_RATE: rateOf('early'),
  TOO_LATE_RATE: rateOf('too-late'),
  NO_USER_AGENT_RATE: rateOf('no-user-agent'),
  DATA_CENTRE_RATE: rateOf('data-centre'),
}

function countOf(verdict: UncountedVerdict): (row: TrafficQualityRow) => CsvCell {
  return ({ uncounted }) => ({ number: String(uncounted.get(verdict) ?? 0) })
}

/** The share of the row's events that do not count for this reason. A row has at least one event. */
function rateOf(verdict: UncountedVerdict): (row: TrafficQualityRow) => CsvCell {
  return ({ counted, uncounted }) => {
    const all = [...uncounted.values()].reduce((sum, count) => sum + count, counted)
    return { number: divideHalfEven(uncounted.get(verdict) ?? 0, all, 6) }
  }
}
