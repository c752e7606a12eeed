import { parseDateRange } from '../../../http/date-range.ts'
import { refuse, type Handler } from '../../../http/handler.ts'
import { QueryReader } from '../../../http/query-reader.ts'
import { trafficQualityColumns, trafficQualityLimits } from '../../../contract/traffic-quality.ts'
import type { CsvCell } from '../../../reports/csv.ts'
import type { TrafficQualityRow } from '../../../reports/traffic-quality.ts'
import type { CampaignDeps } from '../../deps.ts'
import { findAdvertiser, noAdvertiser } from '../find-advertiser.ts'
import type { ReportPlaces } from '../../report-places.ts'
import { withinEventDays } from './event-days.ts'
import { csvAnswer } from './handlers.ts'
import { readPageQuery } from './page-query.ts'

type QualityDeps = Pick<CampaignDeps, 'catalog' | 'readTrafficQuality'>

/** Which events of an advertiser counted and which did not, as CSV. Takes a place like a report. */
export function createDownloadTrafficQuality(
  { catalog, readTrafficQuality }: QualityDeps,
  places: ReportPlaces
): Handler {
  return async (call) => {
    const advertiser = findAdvertiser(catalog.current(), call)
    if (advertiser === undefined) return noAdvertiser
    const reader = new QueryReader(call.query)
    const paging = readPageQuery(reader)
    const range = parseDateRange(call.query, trafficQualityLimits.daysMax)
    if (!range.ok || reader.messages.length > 0) {
      return refuse(422, [...reader.messages, ...(range.ok ? [] : range.messages)])
    }

    return await places.run(call, async (keyId) => {
      const { startDate, endDate } = range
      const advertiserId = advertiser.id
      const request = withinEventDays({ startDate, endDate, ...paging })
      const { signal } = call
      const quality = await readTrafficQuality({ advertiserId, request, keyId, signal })
      const pagePart = paging.page === 0 ? '' : `-page-${paging.page}`
      return csvAnswer(quality, {
        file: `traffic-quality-advertiser-${advertiserId}-${startDate}-to-${endDate}${pagePart}.csv`,
        header: trafficQualityColumns,
        cells: (row) => trafficQualityColumns.map((name) => cells[name](row)),
      })
    })
  }
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
  BOT: ({ bot }) => ({ number: String(bot) }),
  PREFETCH: ({ prefetch }) => ({ number: String(prefetch) }),
  EXPIRED: ({ expired }) => ({ number: String(expired) }),
  EARLY: ({ early }) => ({ number: String(early) }),
  TOO_LATE: ({ tooLate }) => ({ number: String(tooLate) }),
}
