// The part of a report that is shown, as the address describes it: the same address shows the same figures.
// Parts that are missing or misspelt have their defaults.
import type { GroupBody, GroupOrder } from '../../src/contract/group-request.ts'
import type { AttributionProfile } from '../../src/contract/report-request.ts'
import type { SeriesBody } from '../../src/contract/series-request.ts'
import { daysBetween } from '../../src/domain/day.ts'
import { intervals, type Interval } from '../../src/domain/interval.ts'
import { isText } from '../../src/domain/text.ts'
import { parseBase, type BaseChoice } from './bases.ts'
import { usualInterval } from './chart-points.ts'
import { columnsOfTab, defaultColumnsOf, isSortable, type ColumnName } from './columns.ts'
import {
  defaultOrder,
  defaultTab,
  filterKinds,
  filterNames,
  noFilters,
  tabNames,
  tabs,
  type Filters,
  type TabName,
} from './groups.ts'
import {
  daysOfPeriod,
  isPeriod,
  isPeriodName,
  type Days,
  type MarketDays,
  type PeriodName,
} from './periods.ts'
import { t } from './language.ts'
import { readCurrency, targetOf } from './shown-currency.ts'

export const profiles = [
  'IMP_1_DAY_CLK_14_DAYS',
  'CLK_14_DAYS',
  'IMP_1_DAY',
] as const satisfies readonly AttributionProfile[]

export const profileNames: Readonly<Record<AttributionProfile, string>> = {
  IMP_1_DAY_CLK_14_DAYS: t('Clicks 14 days, impressions 1 day'),
  CLK_14_DAYS: t('Clicks 14 days'),
  IMP_1_DAY: t('Impressions 1 day'),
}

export const pageSizes = [10, 25, 50, 100, 250] as const
/** The interface has no page behind this one. */
export const pageMax = 1_000
const defaultPeriod: PeriodName = 'last-28'

export interface View extends Days, BaseChoice {
  /** Null for days that were chosen one by one. */
  readonly period: PeriodName | null
  /** Whether a period by name goes on into days that are not over. */
  readonly includesToday: boolean
  readonly profile: AttributionProfile
  /** Null means the first one of the answer. */
  readonly currency: string | null
  readonly filters: Filters
  /** The only currency of the rows; null means all. */
  readonly onlyCurrency: string | null
  /** What the table is grouped by. */
  readonly tab: TabName
  readonly orderBy: GroupOrder
  readonly isDescending: boolean
  readonly page: number
  readonly pageSize: number
  readonly columns: readonly ColumnName[]
  readonly isComparing: boolean
  /** What a point of the chart stands for. */
  readonly interval: Interval
}

export function parseView(query: URLSearchParams, market: MarketDays): View {
  const orderBy = query.get('sort')
  const tab = tabNames.find((known) => known === query.get('group')) ?? tabSortedBy(orderBy)
  const own = columnsOfTab(tab)
  const chosen = (query.get('columns') ?? '').split(',')
  // The name comes first in any case: without it nobody knows what the figures are of.
  const columns = own.filter((name, place) => place === 0 || chosen.includes(name))
  const pageSize = Number(query.get('size'))
  const period = parsePeriod(query, market)
  return {
    ...period,
    interval: parseInterval(query.get('by'), period),
    ...parseBase(query),
    profile: parseProfile(query),
    currency: readCurrency(query.get('currency')),
    filters: readFilters(query),
    onlyCurrency: null,
    tab,
    orderBy: own.filter(isSortable).find((name) => name === orderBy) ?? defaultOrder,
    isDescending: query.get('order') !== 'asc',
    page: clampPage(query.get('page')),
    pageSize: pageSizes.find((size) => size === pageSize) ?? 25,
    columns: columns.length > 1 ? columns : defaultColumnsOf(tab),
    isComparing: query.get('compare') === 'profiles',
  }
}

/** An address without a tab may be sorted by a column that only all rows have. */
function tabSortedBy(orderBy: string | null): TabName {
  const has = (tab: TabName) => columnsOfTab(tab).some((name) => name === orderBy)
  return !has(defaultTab) && has('rows') ? 'rows' : defaultTab
}

export function parseProfile(query: URLSearchParams): AttributionProfile {
  return profiles.find((known) => known === query.get('profile')) ?? profiles[0]
}

function parseInterval(name: string | null, { startDate, endDate }: Days): Interval {
  const known = intervals.find((one) => one.toLowerCase() === name)
  return known ?? usualInterval(daysBetween(startDate, endDate) + 1)
}

/** Whether the address names days that cannot be shown. */
export function hasUnusablePeriod(query: URLSearchParams): boolean {
  const [period, startDate, endDate] = ['period', 'from', 'to'].map((name) => query.get(name) ?? '')
  if (isPeriodName(period ?? '')) return false
  return [period, startDate, endDate].some(Boolean) && !isPeriod(startDate ?? '', endDate ?? '')
}

/** The last four weeks, unless the address names a period or a valid range. */
function parsePeriod(query: URLSearchParams, market: MarketDays) {
  const [startDate, endDate] = [query.get('from') ?? '', query.get('to') ?? '']
  const named = query.get('period')
  const includesToday = query.get('today') === 'included'
  if (!isPeriodName(named) && isPeriod(startDate, endDate)) {
    return { startDate, endDate, period: null, includesToday }
  }
  const period = isPeriodName(named) ? named : defaultPeriod
  return { ...daysOfPeriod({ name: period, includesToday }, market), period, includesToday }
}

const keptParameters = [
  'period',
  'today',
  'from',
  'to',
  'base',
  'base-from',
  'base-to',
  'profile',
  'currency',
]

/** Period, profile and currency are kept from page to page, and what else is named; filters belong to one page. */
export function carriedOn(query: URLSearchParams, more: readonly string[] = []): URLSearchParams {
  const kept = new Set([...keptParameters, ...more])
  return new URLSearchParams([...query].filter(([name]) => kept.has(name)))
}

function clampPage(text: string | null): number {
  const page = Number(text)
  return Number.isInteger(page) && page >= 0 ? Math.min(page, pageMax) : 0
}

/** More would fit into no address. */
const valuesMax = 100

/** The values of each filter, each once: `brand=A&brand=B` matches both. */
function readFilters(query: URLSearchParams): Filters {
  const read = (name: keyof Filters) => {
    const texts = query.getAll(name).filter((text) => isValue(name, text))
    return [name, [...new Set(texts)].slice(0, valuesMax)] as const
  }
  return { ...noFilters, ...Object.fromEntries(filterNames.map(read)) }
}

/** People edit addresses; the service is not asked what it would refuse. */
function isValue(name: keyof Filters, text: string): boolean {
  if (!filterKinds[name].field.endsWith('_ID')) return text.trim() !== '' && isText(text)
  return /^(?:0|[1-9]\d{0,9})$/u.test(text) && Number(text) < 2 ** 31
}

type Question = Pick<View, 'startDate' | 'endDate' | 'profile' | 'filters'>

/** The request to the service, without paging and order. */
export function questionOf(view: Question): SeriesBody {
  return {
    startDate: view.startDate,
    endDate: view.endDate,
    attributionProfile: view.profile,
    filters: filtersOf(view.filters),
  }
}

/** As sums, by what the chart shows. */
export function seriesQuestionOf(view: View) {
  const convertTo = targetOf(view.currency)
  return {
    ...questionOf(view),
    interval: view.interval,
    ...(convertTo !== null && { convertTo }),
  }
}

export function tableRequestOf(view: View): GroupBody {
  const convertTo = targetOf(view.currency)
  return {
    ...questionOf(view),
    ...(convertTo !== null && { convertTo }),
    ...(convertTo === null && view.onlyCurrency !== null && { currency: view.onlyCurrency }),
    groupBy: tabs[view.tab].groupBy,
    withOrders: [...view.columns, view.orderBy].includes('ORDERS'),
    orderBy: view.orderBy,
    sortType: view.isDescending ? 'DESC' : 'ASC',
    page: view.page,
    limit: view.pageSize,
  }
}

/**
 * The state of a page, with its rows kept to one currency, as totals and chart are: amounts of several can be neither
 * added nor put in order.
 */
export function inCurrency(view: View, currency: string): View {
  return { ...view, currency, onlyCurrency: currency }
}

function filtersOf(filters: Filters): NonNullable<SeriesBody['filters']> {
  return filterNames
    .map((name) => ({ field: filterKinds[name].field, values: filters[name] }))
    .filter(({ values }) => values.length > 0)
}
