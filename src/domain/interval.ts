// Days, weeks and months as the parts of a range of days.
import { addDays } from './day.ts'

export const intervals = ['DAY', 'WEEK', 'MONTH'] as const

export type Interval = (typeof intervals)[number]

/** The first day of the interval that has the day: weeks begin on Monday, months are those of the calendar. */
export function intervalStart(day: string, interval: Interval): string {
  if (interval === 'MONTH') return `${day.slice(0, 7)}-01`
  return interval === 'WEEK' ? addDays(day, -daysSinceMonday(day)) : day
}

function daysSinceMonday(day: string): number {
  return (new Date(day).getUTCDay() + 6) % 7
}
