import { parseDateRange } from '../../http/date-range.ts'
import { answerJson, refuse, type Handler } from '../../http/handler.ts'
import { QueryReader, type QueryRule } from '../../http/query-reader.ts'
import { unconvertedLimits, type UnconvertedPage } from '../../contract/unconverted.ts'
import { parseDay } from '../../domain/day.ts'
import type { UnconvertedPlace } from '../../reports/unconverted.ts'
import type { AdminDeps } from './deps.ts'

/** No event lies outside of these, and the warehouse's dates wrap round outside of 1970 to 2149. */
const dayMin = '2020-01-01'
const dayMax = '2100-12-31'

/** Which amounts have no rate, a page at a time. */
export function createListUnconverted({
  readUnconverted,
}: Pick<AdminDeps, 'readUnconverted'>): Handler {
  return async ({ query }) => {
    const range = parseDateRange(query, unconvertedLimits.daysMax)
    const reader = new QueryReader(query)
    const after = reader.optional('after', cursorRule)
    const limit = reader.limit()
    const messages = [...(range.ok ? [] : range.messages), ...reader.messages]
    if (!range.ok || messages.length > 0) return refuse(422, messages)
    const { startDate, endDate } = range
    if (startDate < dayMin || endDate > dayMax) {
      return refuse(422, [`startDate and endDate must lie between ${dayMin} and ${dayMax}`])
    }
    // One more than asked for tells whether there is another page.
    const found = await readUnconverted({ startDate, endDate, after, limit: limit + 1 })
    const rows = found.slice(0, limit)
    const last = rows.at(-1)
    const page: UnconvertedPage = {
      rows,
      ...(found.length > rows.length && last !== undefined && { next: printCursor(last) }),
    }
    return answerJson(200, page)
  }
}

function printCursor({ date, marketId, advertiserId, currency }: UnconvertedPlace): string {
  return [date, marketId, advertiserId, currency].join('_')
}

const cursorRule: QueryRule<UnconvertedPlace> = {
  rule: 'the next of the page before, unchanged',
  parse: (text) => {
    const [, day = '', marketId, advertiserId, currency = ''] =
      /^(\d{4}-\d\d-\d\d)_(\d{1,10})_(\d{1,10})_([A-Z]{0,3})$/.exec(text) ?? []
    const date = parseDay(day)
    if (date === null || date < dayMin || date > dayMax) return null
    const ids = [Number(marketId), Number(advertiserId)] as const
    if (ids.some((id) => id > 2_147_483_647)) return null
    return { date, marketId: ids[0], advertiserId: ids[1], currency }
  },
}
