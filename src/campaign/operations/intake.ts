import { parseDateRange } from '../../http/date-range.ts'
import { answerJson, refuse, type Handler } from '../../http/handler.ts'
import { intakeLimits } from '../../contract/intake.ts'
import { parsePositiveInt32 } from '../../domain/ids.ts'
import type { CampaignDeps } from '../deps.ts'
import type { ReportPlaces } from '../report-places.ts'

/** What a publisher sent, by day and by what became of it. Takes a place like a report. */
export function createReadIntake(
  { catalog, readIntake }: Pick<CampaignDeps, 'catalog' | 'readIntake'>,
  places: ReportPlaces
): Handler {
  return async (call) => {
    const { pathParameters, query } = call
    const snapshot = catalog.current()
    const publisherId = parsePositiveInt32(pathParameters['publisherId'] ?? '')
    const publisher = publisherId === null ? undefined : snapshot.publishers.get(publisherId)
    if (publisher === undefined) return refuse(404, ['There is no such publisher.'])
    const range = parseDateRange(query, intakeLimits.daysMax)
    if (!range.ok) return refuse(422, range.messages)

    return await places.run(call, async () => {
      const intake = await readIntake({
        publisherId: publisher.id,
        startDate: range.startDate,
        endDate: range.endDate,
        siteIds: (publisher.sites ?? []).map(({ id }) => id),
        marketIds: [...snapshot.markets.keys()],
        signal: call.signal,
      })
      return answerJson(200, intake)
    })
  }
}
