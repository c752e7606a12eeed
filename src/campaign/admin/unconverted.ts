import { adminOperations } from '../../contract/admin-operations.ts'
import { pageLimits } from '../../contract/fields.ts'
import { isEventDay } from '../../contract/parameters.ts'
import type { UnconvertedPage } from '../../contract/unconverted.ts'
import { parseDay } from '../../domain/day.ts'
import { isInt32 } from '../../domain/ids.ts'
import { answerJson, refuse, type HandlerTable } from '../../http/handler.ts'
import type { UnconvertedPlace } from '../../reports/unconverted.ts'
import { cutPage, handle } from '../handle.ts'
import type { AdminDeps } from './deps.ts'

/** Which amounts have no rate, a page at a time. */
export function createListUnconverted({
  readUnconverted,
}: Pick<AdminDeps, 'readUnconverted'>): HandlerTable {
  return handle(adminOperations.listUnconverted, async ({ query }) => {
    const { startDate, endDate, limit = pageLimits.default } = query
    const after = query.after === undefined ? null : readCursor(query.after)
    if (after === 'broken')
      return refuse('REQUEST_INVALID', ['after must be the next of the page before, unchanged'])
    const found = await readUnconverted({ startDate, endDate, after, limit: limit + 1 })
    const { shown, next } = cutPage(found, limit, printCursor)
    const page: UnconvertedPage = { rows: shown, ...next }
    return answerJson(200, page)
  })
}

function printCursor({ date, marketId, advertiserId, currency }: UnconvertedPlace): string {
  return [date, marketId, advertiserId, currency].join('_')
}

/** The form is checked by the contract; the warehouse also needs a day and ids that it can hold. */
function readCursor(text: string): UnconvertedPlace | 'broken' {
  const [day = '', marketId, advertiserId, currency = ''] = text.split('_')
  const date = parseDay(day)
  const ids = [Number(marketId), Number(advertiserId)] as const
  if (date === null || !isEventDay(date) || !ids.every(isInt32)) return 'broken'
  return { date, marketId: ids[0], advertiserId: ids[1], currency }
}
