import { answerJson, refuse, type Handler } from '../../access/handler.ts'
import { queryText } from '../../access/query-text.ts'
import { parseInstant } from '../../contract/instant.ts'
import type { SealedDays } from '../../contract/sealed-days.ts'
import { parsePositiveInt32 } from '../../domain/ids.ts'
import type { CampaignDeps } from '../deps.ts'

type DaysDeps = Pick<CampaignDeps, 'catalog' | 'listRestatements'>

/** Which days a client has to pull again: those that were sealed, or sealed again, since it last asked. */
export function createListSealedDays({ catalog, listRestatements }: DaysDeps): Handler {
  return async ({ pathParameters, query }) => {
    const snapshot = catalog.current()
    const advertiserId = parsePositiveInt32(pathParameters['advertiserId'] ?? '')
    if (advertiserId === null || !snapshot.advertisers.has(advertiserId)) {
      return refuse(404, ['There is no such advertiser.'])
    }
    const since = queryText(query, 'since')
    if (since.kind === 'repeated') return refuse(422, ['since must be given once'])
    const sinceMs = since.kind === 'absent' ? 0 : parseInstant(since.text)
    if (sinceMs === null) {
      return refuse(422, ['since must be an instant such as 2026-03-01T00:00:00Z'])
    }
    const restated = await listRestatements(sinceMs)
    const answer: SealedDays = {
      days: restated.map(({ day, marketId, revision, sealedAtMs }) => ({
        day,
        market: marketId === null ? null : (snapshot.markets.get(marketId)?.code ?? `${marketId}`),
        revision,
        sealedAt: new Date(sealedAtMs).toISOString(),
      })),
    }
    return answerJson(200, answer)
  }
}
