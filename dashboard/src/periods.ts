// Periods by name. A bookmark of "the last 28 days" moves on with the days, and one of fixed days does not.
import { addDays, daysBetween, parseDay } from '../../src/domain/day.ts'
import { intervalStart } from '../../src/domain/interval.ts'
import { t } from './language.ts'

export interface Days {
  readonly startDate: string
  readonly endDate: string
}

/** What today is for figures, which are cut into the days of markets. */
export interface MarketDays {
  /** The newest day that has begun in any market. */
  readonly newest: string
  /** The last day that is over in every market. */
  readonly lastWhole: string
  /** By currency: the last day that is over in every market of it. */
  readonly lastWholeOf: ReadonlyMap<string, string>
}

export const daysMax = 731
/** No clock of an event is older. */
export const firstDayEver = '1970-01-01'

/** Whether the days can be shown. */
export function isPeriod(startDate: string, endDate: string): boolean {
  const [start, end] = [parseDay(startDate), parseDay(endDate)]
  if (start === null || end === null || start < firstDayEver) return false
  const dayCount = daysBetween(start, end) + 1
  return dayCount >= 1 && dayCount <= daysMax
}

export const periodLabels = {
  today: t('Today'),
  yesterday: t('Yesterday'),
  'last-7': t('Last 7 days'),
  'last-28': t('Last 28 days'),
  'last-90': t('Last 90 days'),
  week: t('Week to date'),
  month: t('Month to date'),
  quarter: t('Quarter to date'),
  year: t('Year to date'),
  'last-month': t('Last month'),
  'last-year': t('Last year'),
} as const

export type PeriodName = keyof typeof periodLabels

export const periodNames: readonly PeriodName[] = [
  'today',
  'yesterday',
  'last-7',
  'last-28',
  'last-90',
  'week',
  'month',
  'quarter',
  'year',
  'last-month',
  'last-year',
]

/** Those that may go on into days that are still running. */
export const openPeriods: ReadonlySet<PeriodName | null> = new Set<PeriodName>([
  'last-7',
  'last-28',
  'last-90',
  'week',
  'month',
  'quarter',
  'year',
])

export function isPeriodName(text: string | null): text is PeriodName {
  return periodNames.some((name) => name === text)
}

interface Wish {
  readonly name: PeriodName
  readonly includesToday: boolean
}

/**
 * The days of a period. It ends with the last whole day unless days that are still running are asked for. A period
 * that has just begun has no whole day and shows those.
 */
export function daysOfPeriod({ name, includesToday }: Wish, market: MarketDays): Days {
  const { newest, lastWhole } = market
  const running = addDays(lastWhole, 1)
  const last = includesToday ? newest : lastWhole
  const toDate = (startDate: string) => ({
    startDate,
    endDate: last < startDate ? newest : last,
  })
  switch (name) {
    case 'today':
      return { startDate: running, endDate: newest }
    case 'yesterday':
      return { startDate: lastWhole, endDate: lastWhole }
    case 'last-7':
      return lastDays(7, last)
    case 'last-28':
      return lastDays(28, last)
    case 'last-90':
      return lastDays(90, last)
    case 'week':
      return toDate(intervalStart(running, 'WEEK'))
    case 'month':
      return toDate(intervalStart(running, 'MONTH'))
    case 'quarter':
      return toDate(addMonths(intervalStart(running, 'MONTH'), -((monthOf(running) - 1) % 3)))
    case 'year':
      return toDate(`${running.slice(0, 4)}-01-01`)
    case 'last-month':
      return wholeMonths(addMonths(intervalStart(running, 'MONTH'), -1), 1)
    case 'last-year':
      return wholeMonths(addMonths(`${running.slice(0, 4)}-01-01`, -12), 12)
  }
}

function lastDays(count: number, last: string): Days {
  return { startDate: addDays(last, 1 - count), endDate: last }
}

/** How far the next period of the same kind is away. */
interface Step {
  readonly unit: 'days' | 'months'
  readonly count: number
}

const stepsByName: Readonly<Partial<Record<PeriodName, Step>>> = {
  week: { unit: 'days', count: 7 },
  month: { unit: 'months', count: 1 },
  quarter: { unit: 'months', count: 3 },
  year: { unit: 'months', count: 12 },
}

/** Whole calendar months move by months, everything else by its length. */
function stepOf({ startDate, endDate }: Days, name: PeriodName | null): Step {
  const known = name === null ? undefined : stepsByName[name]
  if (known !== undefined) return known
  if (startDate === intervalStart(startDate, 'MONTH') && isMonthEnd(endDate)) {
    const years = Number(endDate.slice(0, 4)) - Number(startDate.slice(0, 4))
    return { unit: 'months', count: years * 12 + monthOf(endDate) - monthOf(startDate) + 1 }
  }
  return { unit: 'days', count: daysBetween(startDate, endDate) + 1 }
}

/** The period of the same kind before it (-1) or after it (1): that of a week to date is the same days a week before. */
export function movePeriod(days: Days, name: PeriodName | null, direction: -1 | 1): Days {
  const { unit, count } = stepOf(days, name)
  const by = count * direction
  if (unit === 'days') {
    return { startDate: addDays(days.startDate, by), endDate: addDays(days.endDate, by) }
  }
  return { startDate: addMonths(days.startDate, by), endDate: addMonths(days.endDate, by) }
}

const weeksOfYear = 52

/** The same days of the week a year earlier: shops sell by weekdays. */
export function sameWeekdaysLastYear({ startDate, endDate }: Days): Days {
  const back = -7 * weeksOfYear
  return { startDate: addDays(startDate, back), endDate: addDays(endDate, back) }
}

function wholeMonths(start: string, count: number): Days {
  return { startDate: start, endDate: addDays(addMonths(start, count), -1) }
}

/** The same day of another month. The last day of a month stays the last one, and a day that is missing becomes it. */
function addMonths(day: string, count: number): string {
  const months = Number(day.slice(0, 4)) * 12 + monthOf(day) - 1 + count
  const start = firstOf(months)
  const last = addDays(firstOf(months + 1), -1)
  const same = `${start.slice(0, 8)}${day.slice(8)}`
  return isMonthEnd(day) || parseDay(same) === null ? last : same
}

function firstOf(months: number): string {
  const [year, month] = [Math.floor(months / 12), (months % 12) + 1]
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-01`
}

function isMonthEnd(day: string): boolean {
  return addDays(day, 1).endsWith('-01')
}

function monthOf(day: string): number {
  return Number(day.slice(5, 7))
}
