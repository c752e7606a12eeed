import { answerJson, refuse, type Handler } from '../../../http/handler.ts'
import { QueryReader } from '../../../http/query-reader.ts'
import type { SealedDays } from '../../../contract/sealed-days.ts'
import type { CampaignDeps } from '../../deps.ts'
import { findAdvertiser, noAdvertiser } from '../find-advertiser.ts'

type DaysDeps = Pick<CampaignDeps, 'catalog' | 'listRestatements'>

/** Which days a client has to pull again: those that were sealed, or sealed again, since it last asked. */
export function createListSealedDays({ catalog, listRestatements }: DaysDeps): Handler {
  return async (call) => {
    const snapshot = catalog.current()
    if (findAdvertiser(snapshot, call) === undefined) return noAdvertiser
    const reader = new QueryReader(call.query)
    const sinceMs = reader.instant('since') ?? 0
    if (reader.messages.length > 0) return refuse(422, reader.messages)
    const { days, hasMore } = await listRestatements(sinceMs)
    const answer: SealedDays = {
      days: days.map(({ day, marketId, revision, sealedAtMs }) => ({
        day,
        market: marketId === null ? null : (snapshot.markets.get(marketId)?.code ?? `${marketId}`),
        revision,
        sealedAt: new Date(sealedAtMs).toISOString(),
      })),
      hasMore,
    }
    return answerJson(200, answer)
  }
}
