// What figures are compared with, as the address describes it.
import { daysBetween } from '../../src/domain/day.ts'
import {
  isPeriod,
  movePeriod,
  sameWeekdaysLastYear,
  type Days,
  type PeriodName,
} from './periods.ts'
import { t } from './language.ts'

/** The period before, the same weekdays of the year before, days that were chosen, nothing. */
export const bases = ['before', 'last-year', 'chosen', 'none'] as const
export type Base = (typeof bases)[number]

export interface BaseChoice {
  readonly base: Base
  /** The chosen days; null if the address has none that can be shown. */
  readonly baseDays: Days | null
}

export interface Compared extends Days, BaseChoice {
  readonly period: PeriodName | null
}

export function parseBase(query: URLSearchParams): BaseChoice {
  const [startDate, endDate] = [query.get('base-from') ?? '', query.get('base-to') ?? '']
  return {
    base: bases.find((known) => known === query.get('base')) ?? 'before',
    baseDays: isPeriod(startDate, endDate) ? { startDate, endDate } : null,
  }
}

/** The days that figures are compared with; null if with none, or if they cannot be compared with these days. */
export function baseOf(view: Compared): Days | null {
  switch (view.base) {
    case 'before':
      return ifShown(movePeriod(view, view.period, -1))
    case 'last-year':
      return ifShown(sameWeekdaysLastYear(view))
    case 'chosen':
      return problemOfChoice(view) === null ? view.baseDays : null
    case 'none':
      return null
  }
}

function ifShown(days: Days): Days | null {
  return isPeriod(days.startDate, days.endDate) ? days : null
}

/** Why these days cannot be what the period is compared with; null if they can. */
export function problemOfBase(period: Days, { startDate, endDate }: Days): string | null {
  if (!isPeriod(startDate, endDate)) return problemOfDays()
  // A day on both sides would be compared with itself.
  return startDate <= period.endDate && period.startDate <= endDate
    ? t('The days to compare with overlap the period: choose days before or after it.')
    : null
}

export function problemOfDays(): string {
  return t('Choose a first day that is not after the last one, and at most 731 days.')
}

/** Why nothing is compared although days were chosen; null if something is, or if none were. */
export function problemOfChoice(view: Compared): string | null {
  if (view.base !== 'chosen') return null
  return problemOfBase(view, view.baseDays ?? { startDate: '', endDate: '' })
}

export function countDays({ startDate, endDate }: Days): number {
  return daysBetween(startDate, endDate) + 1
}
