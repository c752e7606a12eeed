import { parseDateRange } from '../access/date-range.ts'
import { answerJson, refuse, type Handler } from '../access/handler.ts'
import type { SlotLimiter } from '../access/rate-limit.ts'
import { intakeLimits } from '../contract/intake.ts'
import { parsePositiveInt32 } from '../domain/ids.ts'
import { assert } from '../lib/assert.ts'
import type { CampaignDeps } from './deps.ts'
import { busy } from './report/handlers.ts'

/** What a publisher sent, by day and by what became of it. Takes a slot of the key like a report. */
export function createReadIntake(
  { catalog, readIntake }: Pick<CampaignDeps, 'catalog' | 'readIntake'>,
  slots: SlotLimiter
): Handler {
  return async ({ key, pathParameters, query, signal }) => {
    const snapshot = catalog.current()
    const publisherId = parsePositiveInt32(pathParameters['publisherId'] ?? '')
    const publisher = publisherId === null ? undefined : snapshot.publishers.get(publisherId)
    if (publisher === undefined) return refuse(404, ['There is no such publisher.'])
    const range = parseDateRange(query, intakeLimits.daysMax)
    if (!range.ok) return refuse(422, range.messages)

    assert(key !== null, 'an intake is read with a key')
    const release = slots.acquire(key.id)
    if (release === null) return busy
    try {
      const intake = await readIntake({
        publisherId: publisher.id,
        startDate: range.startDate,
        endDate: range.endDate,
        siteIds: (publisher.sites ?? []).map(({ id }) => id),
        marketIds: [...snapshot.markets.keys()],
        signal,
      })
      return answerJson(200, intake)
    } finally {
      release()
    }
  }
}
