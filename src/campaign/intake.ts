import { answerJson, refuse, type Handler } from '../access/handler.ts'
import { QueryReader, type QueryRule } from '../access/query-reader.ts'
import type { SlotLimiter } from '../access/rate-limit.ts'
import { intakeLimits } from '../contract/intake.ts'
import { daysBetween, parseDay } from '../domain/day.ts'
import { parsePositiveInt32 } from '../domain/ids.ts'
import { assert } from '../lib/assert.ts'
import type { CampaignDeps } from './deps.ts'
import { busy } from './report/handlers.ts'

type ParsedRange =
  | { readonly ok: true; readonly startDate: string; readonly endDate: string }
  | { readonly ok: false; readonly messages: readonly string[] }

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
    const range = parseRange(query)
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

/** The rules of a report's range, with a bound of its own. */
function parseRange(query: URLSearchParams): ParsedRange {
  const reader = new QueryReader(query)
  const startDate = reader.required('startDate', dayRule)
  const endDate = reader.required('endDate', dayRule)
  if (startDate === null || endDate === null) return { ok: false, messages: reader.messages }

  const dayCount = daysBetween(startDate, endDate) + 1
  if (dayCount < 1) return { ok: false, messages: ['startDate must not be after endDate'] }
  const { daysMax } = intakeLimits
  return dayCount <= daysMax
    ? { ok: true, startDate, endDate }
    : {
        ok: false,
        messages: [`endDate must be at most ${daysMax} days from startDate, both included`],
      }
}

const dayRule: QueryRule<string> = { rule: 'a date such as 2026-03-01', parse: parseDay }
