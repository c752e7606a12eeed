import { campaignOperations } from '../../contract/campaign-operations.ts'
import { answerJson, type HandlerTable } from '../../http/handler.ts'
import type { CampaignDeps } from '../deps.ts'
import { handleAt } from '../handle.ts'
import type { ReportPlaces } from '../report-places.ts'

/** What a publisher sent, by day and by what became of it. Takes a place like a report. */
export function createReadIntake(
  { catalog, readIntake }: Pick<CampaignDeps, 'catalog' | 'readIntake'>,
  places: ReportPlaces
): HandlerTable {
  const publisherInPath = {
    find: (path: { readonly publisherId: number }) =>
      catalog.current().publishers.get(path.publisherId),
    notFound: 'There is no such publisher.',
  }
  return handleAt(campaignOperations.readIntake, publisherInPath, async (call, publisher) =>
    places.run(call, async () => {
      const intake = await readIntake({
        ...call.query,
        publisherId: publisher.id,
        siteIds: (publisher.sites ?? []).map(({ id }) => id),
        marketIds: [...catalog.current().markets.keys()],
        signal: call.signal,
      })
      return answerJson(200, intake)
    })
  )
}
