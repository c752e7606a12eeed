// The part of a report that is shown, as the address describes it: the same address shows the same figures.
// Parts that are missing or misspelt have their defaults.
import type {
  AttributionProfile,
  OrderByColumn,
  ReportBody,
} from '../../src/contract/report-request.ts'
import { addDays, daysBetween, parseDay } from '../../src/domain/day.ts'
import { columnNames, isSortable, type ColumnName } from './columns.ts'

export const profiles = [
  'IMP_1_DAY_CLK_14_DAYS',
  'CLK_14_DAYS',
  'IMP_1_DAY',
] as const satisfies readonly AttributionProfile[]

export const profileNames: Readonly<Record<AttributionProfile, string>> = {
  IMP_1_DAY_CLK_14_DAYS: 'Clicks 14 days, impressions 1 day',
  CLK_14_DAYS: 'Clicks 14 days',
  IMP_1_DAY: 'Impressions 1 day',
}

export const pageSizes = [10, 25, 50, 100, 250] as const
const daysMax = 731
/** The interface has no page behind this one. */
export const pageMax = 1_000
const defaultDays = 28

export interface Filters {
  readonly title: string
  readonly brand: string
  readonly market: string
  readonly gtin: string
}

export interface View {
  readonly startDate: string
  readonly endDate: string
  readonly profile: AttributionProfile
  /** Null means the first one of the answer. */
  readonly currency: string | null
  readonly filters: Filters
  /** Market codes; empty means all. Applied in addition to the filters that people choose. */
  readonly markets: readonly string[]
  readonly orderBy: OrderByColumn
  readonly isDescending: boolean
  readonly page: number
  readonly pageSize: number
  readonly columns: readonly ColumnName[]
  readonly isComparing: boolean
}

const defaultColumns: readonly ColumnName[] = [
  'PRODUCT_TITLE',
  'GTIN',
  'CAMPAIGN_NAME',
  'AD_GROUP_NAME',
  'MARKET',
  'IMPRESSIONS',
  'CLICKS',
  'CLICK_THROUGH_RATE',
  'CONVERSIONS',
  'AD_SPEND_REVENUE',
  'CONVERSION_VALUE',
  'RETURN_ON_AD_SPEND',
]

export function parseView(query: URLSearchParams, today: string): View {
  const orderBy = query.get('sort')
  const profile = query.get('profile')
  const columns = (query.get('columns') ?? '').split(',').filter(isColumnName)
  const pageSize = Number(query.get('size'))
  return {
    ...parsePeriod(query, today),
    profile: profiles.find((known) => known === profile) ?? profiles[0],
    currency: query.get('currency'),
    filters: {
      title: query.get('title') ?? '',
      brand: query.get('brand') ?? '',
      market: query.get('market') ?? '',
      gtin: query.get('gtin') ?? '',
    },
    markets: [],
    orderBy: orderBy !== null && isSortable(orderBy) ? orderBy : 'AD_SPEND_REVENUE',
    isDescending: query.get('order') !== 'asc',
    page: clampPage(query.get('page')),
    pageSize: pageSizes.find((size) => size === pageSize) ?? 25,
    columns:
      columns.length > 0 ? columnNames.filter((name) => columns.includes(name)) : defaultColumns,
    isComparing: query.get('compare') === 'profiles',
  }
}

/** Whether the address names days that cannot be shown. */
export function hasUnusablePeriod(query: URLSearchParams): boolean {
  const [startDate, endDate] = [query.get('from') ?? '', query.get('to') ?? '']
  return (startDate !== '' || endDate !== '') && !isPeriod(startDate, endDate)
}

/** The last four weeks, unless the address names a valid range. */
function parsePeriod(query: URLSearchParams, today: string) {
  const [startDate, endDate] = [query.get('from') ?? '', query.get('to') ?? '']
  return isPeriod(startDate, endDate) ? { startDate, endDate } : lastDays(defaultDays, today)
}

export function isPeriod(startDate: string, endDate: string): boolean {
  const [start, end] = [parseDay(startDate), parseDay(endDate)]
  if (start === null || end === null) return false
  const dayCount = daysBetween(start, end) + 1
  return dayCount >= 1 && dayCount <= daysMax
}

export function lastDays(count: number, today: string) {
  return { startDate: addDays(today, 1 - count), endDate: today }
}

/** The period of the same length just before. */
export function periodBefore({ startDate, endDate }: Pick<View, 'startDate' | 'endDate'>) {
  const dayCount = daysBetween(startDate, endDate) + 1
  return { startDate: addDays(startDate, -dayCount), endDate: addDays(startDate, -1) }
}

function clampPage(text: string | null): number {
  const page = Number(text)
  return Number.isInteger(page) && page >= 0 ? Math.min(page, pageMax) : 0
}

function isColumnName(text: string): text is ColumnName {
  return columnNames.some((name) => name === text)
}

/** The request to the service, without paging and order. */
export function questionOf(view: View): Omit<ReportBody, 'page' | 'limit'> {
  return {
    startDate: view.startDate,
    endDate: view.endDate,
    attributionProfile: view.profile,
    filters: [
      ...filtersOf(view.filters),
      ...(view.markets.length > 0 ? [{ field: 'MARKET', values: view.markets } as const] : []),
    ],
  }
}

export function tableRequestOf(view: View): ReportBody {
  return {
    ...questionOf(view),
    orderBy: view.orderBy,
    sortType: view.isDescending ? 'DESC' : 'ASC',
    page: view.page,
    limit: view.pageSize,
  }
}

/**
 * The state of a page, with its rows kept to the markets of one currency, as totals and chart are:
 * amounts of several can be neither added nor put in order. A market that is chosen has one currency.
 */
export function inCurrency(view: View, codes: readonly string[]): View {
  if (view.filters.market !== '' || codes.length === 0) return view
  return { ...view, markets: codes }
}

function filtersOf(filters: Filters): NonNullable<ReportBody['filters']> {
  return [
    { field: 'PRODUCT_TITLE', values: [filters.title] } as const,
    { field: 'BRAND', values: [filters.brand] } as const,
    { field: 'MARKET', values: [filters.market] } as const,
    { field: 'GTIN', values: [filters.gtin] } as const,
  ].filter(({ values }) => values[0]?.trim() !== '')
}

/** For some hours, that of a market differs. */
export function readersDay(date: Date): string {
  const [year, month, day] = [date.getFullYear(), date.getMonth() + 1, date.getDate()]
  return `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
}
