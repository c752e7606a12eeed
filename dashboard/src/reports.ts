// The requests of pages about a report.
import type { AdvertiserAccount } from '../../src/contract/me.ts'
import type { JsonReport } from '../../src/contract/report-json.ts'
import type { AttributionProfile, ReportBody } from '../../src/contract/report-request.ts'
import type { GroupBody } from '../../src/contract/group-request.ts'
import type { JsonGroups, JsonSeries } from '../../src/contract/report-json.ts'
import type { SeriesBody } from '../../src/contract/series-request.ts'
import type { ReportValues, ValueField } from '../../src/contract/report-values.ts'
import { readSummaries, type Summaries, type SummaryQuestion } from './advertisers.ts'
import type { Api } from './api.ts'
import type { Row } from './columns.ts'
import { baseOf } from './bases.ts'
import { groupRows, type GroupRows } from './group-rows.ts'
import { type Loaded, useLoaded } from './loaded.ts'
import type { Comparison } from './metrics.ts'
import { seriesRows, type SeriesRows } from './series-rows.ts'
import { useSession } from './session.ts'
import { seriesQuestionOf, type View } from './view.ts'

/**
 * As `useLoaded`; the last answer to the same question is there at once, dimmed until the next one comes: who goes
 * back does not wait.
 */
function useKept<T>(key: string, load: (signal: AbortSignal) => Promise<T>, scope = ''): Loaded<T> {
  const { answers } = useSession().api
  const loaded = useLoaded(
    key,
    async (signal) => {
      const answer = await load(signal)
      answers.set(key, answer)
      return answer
    },
    scope
  )
  if (loaded.state !== 'loading') return loaded
  // Keys begin with the kind of their answers.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const kept = answers.get(key) as T | undefined
  return kept === undefined ? loaded : { state: 'loading', previous: kept, isKept: true }
}

export function reportPath(advertiserId: number, name: string): string {
  return `v2/advertisers/${advertiserId}/reports/spa/${name}`
}

/** The period by day, week or month. */
export function useOverview(advertiserId: number, view: View): Loaded<SeriesRows> {
  const { api } = useSession()
  const question = seriesQuestionOf(view)
  return useKept(
    `series ${advertiserId} ${JSON.stringify(question)}`,
    async (signal) => await readSeries(api, { advertiserId, question, signal })
  )
}

interface SeriesAsked {
  readonly advertiserId: number
  readonly question: SeriesBody
  readonly signal: AbortSignal
}

async function readSeries(api: Api, { advertiserId, question, signal }: SeriesAsked) {
  const path = reportPath(advertiserId, 'series.json')
  return seriesRows(await api.post<JsonSeries>(path, question, signal))
}

/** The days that the period is compared with; null if there are none. Their own question, so that nothing waits for it. */
export function useBase(advertiserId: number, view: View): Loaded<SeriesRows | null> {
  const { api } = useSession()
  const days = baseOf(view)
  const question = days === null ? null : { ...seriesQuestionOf(view), ...days }
  const key = `series ${advertiserId} ${JSON.stringify(question)}`
  return useKept(
    key,
    async (signal) =>
      question === null ? null : await readSeries(api, { advertiserId, question, signal }),
    key
  )
}

/** All advertisers of the key. */
export function useSummary(question: SummaryQuestion): Loaded<Summaries> {
  const { api } = useSession()
  const { startDate, endDate, convertTo = '' } = question
  return useKept(
    `summary ${JSON.stringify(question)}`,
    async (signal) => await readSummaries(api, question, signal),
    `${startDate} ${endDate} ${convertTo}`
  )
}

export function useComparison(advertiserId: number, view: View): Loaded<Comparison> {
  const { api } = useSession()
  const { attributionProfile: _, ...question } = seriesQuestionOf(view)
  return useLoaded(`${advertiserId} ${JSON.stringify(question)}`, async (signal) => {
    const ask = async (attributionProfile: AttributionProfile) =>
      await readSeries(api, {
        advertiserId,
        question: { ...question, attributionProfile },
        signal,
      })
    const [both, clicks, views] = await Promise.all([
      ask('IMP_1_DAY_CLK_14_DAYS'),
      ask('CLK_14_DAYS'),
      ask('IMP_1_DAY'),
    ])
    return { IMP_1_DAY_CLK_14_DAYS: both, CLK_14_DAYS: clicks, IMP_1_DAY: views }
  })
}

export function useReport(advertiserId: number, request: ReportBody): Loaded<JsonReport> {
  const { api } = useSession()
  return useKept(
    `report ${advertiserId} ${JSON.stringify(request)}`,
    async (signal) =>
      await api.post<JsonReport>(reportPath(advertiserId, 'product.json'), request, signal),
    `${request.startDate} ${request.endDate}`
  )
}

/** All that one answer can have. */
export const groupsMax = 10_000

export function useGroups(advertiserId: number, request: GroupBody): Loaded<GroupRows> {
  const { api } = useSession()
  return useLoaded(
    `${advertiserId} ${JSON.stringify(request)}`,
    async (signal) => await readGroups(api, { advertiserId, request, signal }),
    `${request.startDate} ${request.endDate} ${request.groupBy.join(' ')} ${request.convertTo}`
  )
}

/** The same for other days, beside a table that is there already; null while nothing is asked. */
export function useGroupBase(
  advertiserId: number,
  request: GroupBody | null
): Loaded<GroupRows | null> {
  const { api } = useSession()
  const key = `base ${advertiserId} ${JSON.stringify(request)}`
  return useLoaded(
    key,
    async (signal) =>
      request === null ? null : await readGroups(api, { advertiserId, request, signal }),
    key
  )
}

/** The products of the filter, with their titles; none of those without figures in the period. */
export function useProducts(advertiserId: number, view: View): Loaded<readonly Row[]> {
  const { api } = useSession()
  const { startDate, endDate, filters } = view
  const { gtin: values } = filters
  const request: GroupBody = {
    startDate,
    endDate,
    groupBy: ['PRODUCT'],
    filters: [{ field: 'GTIN', values }],
    withOrders: false,
    page: 0,
    limit: groupsMax,
  }
  return useLoaded(`products ${advertiserId} ${JSON.stringify(request)}`, async (signal) =>
    values.length === 0 ? [] : (await readGroups(api, { advertiserId, request, signal })).rows
  )
}

interface GroupsAsked {
  readonly advertiserId: number
  readonly request: GroupBody
  readonly signal: AbortSignal
}

async function readGroups(api: Api, { advertiserId, request, signal }: GroupsAsked) {
  const path = reportPath(advertiserId, 'groups.json')
  return groupRows(await api.post<JsonGroups>(path, request, signal))
}

export interface ValuesAsked {
  readonly field: ValueField
  readonly text: string
  readonly startDate: string
  readonly endDate: string
}

/** What a filter can be set to; null while nobody asks. */
export function useValues(
  advertiserId: number,
  asked: ValuesAsked | null
): Loaded<ReportValues | null> {
  const { api } = useSession()
  return useLoaded(
    `values ${advertiserId} ${JSON.stringify(asked)}`,
    async (signal) => {
      if (asked === null) return null
      const { field, text, startDate, endDate } = asked
      const query = new URLSearchParams({ field, q: text, startDate, endDate })
      return await api.get<ReportValues>(
        `${reportPath(advertiserId, 'values')}?${query.toString()}`,
        signal
      )
    },
    `${advertiserId} ${asked?.field}`
  )
}

export function useAccount(advertiserId: number): Loaded<AdvertiserAccount> {
  const { api } = useSession()
  return useKept(
    `account ${advertiserId}`,
    async (signal) => await api.get(`v2/advertisers/${advertiserId}/account`, signal)
  )
}
