// The days, weeks or months of a period as the points of a chart.
import { addDays, listDays } from '../../src/domain/day.ts'
import { intervalStart, type Interval } from '../../src/domain/interval.ts'
import { formatRange, formatWeekday } from './format.ts'
import type { Days } from './periods.ts'
import { t } from './language.ts'

export interface ChartPoint extends Days {
  /** The start of the whole interval, which may lie before the period: sums are named by it. */
  readonly start: string
  /** False while it runs, and where the period cuts it: its sum is not that of a whole one. */
  readonly isWhole: boolean
  readonly isRunning: boolean
}

/** As many points as lines can be read of. */
const limits = { daysMax: 62, weeksMax: 400 } as const

/** Days for two months, weeks for a year, then months. */
export function usualInterval(dayCount: number): Interval {
  if (dayCount <= limits.daysMax) return 'DAY'
  return dayCount <= limits.weeksMax ? 'WEEK' : 'MONTH'
}

interface Asked extends Days {
  readonly interval: Interval
}

export function pointsOf(
  { startDate, endDate, interval }: Asked,
  lastWhole: string
): readonly ChartPoint[] {
  const starts = new Set(listDays(startDate, endDate).map((day) => intervalStart(day, interval)))
  return [...starts].map((start) => {
    const last = lastDayOf(start, interval)
    const from = start < startDate ? startDate : start
    const to = last > endDate ? endDate : last
    return {
      start,
      startDate: from,
      endDate: to,
      isWhole: from === start && to === last && to <= lastWhole,
      isRunning: to > lastWhole,
    }
  })
}

function lastDayOf(start: string, interval: Interval): string {
  if (interval === 'DAY') return start
  if (interval === 'WEEK') return addDays(start, 6)
  return addDays(intervalStart(addDays(start, 31), 'MONTH'), -1)
}

/** `Sat, 28 Nov 2026`, or the days of a week or month. */
export function describePoint({ startDate, endDate, isWhole, isRunning }: ChartPoint): string {
  const days = startDate === endDate ? formatWeekday(startDate) : formatRange(startDate, endDate)
  if (isWhole) return days
  return isRunning ? t('{{days}}, so far', { days }) : t('{{days}}, in part', { days })
}

const labelPx = 72
const monthSteps = [1, 2, 3, 6, 12] as const

/** Where the axis is labelled: at starts of days, of weeks or of months, none twice, as many as there is room for. */
export function labelledStarts({ startDate, endDate }: Days, widthPx: number): readonly string[] {
  const room = Math.max(2, Math.floor(widthPx / labelPx))
  const days = listDays(startDate, endDate)
  if (days.length <= room) return days
  const everyOther = days.filter((_day, index) => index % 2 === 0)
  if (everyOther.length <= room) return everyOther
  const mondays = days.filter((day) => intervalStart(day, 'WEEK') === day)
  for (const count of [1, 2, 4]) {
    const some = mondays.filter((_day, index) => index % count === 0)
    if (some.length <= room && some.length > 1) return some
  }
  const months = days.filter((day) => day.endsWith('-01'))
  const step = monthSteps.find((count) => months.length / count <= room) ?? 12
  // From January on, so that each year is labelled alike.
  const some = months.filter((day) => (Number(day.slice(5, 7)) - 1) % step === 0)
  return some.length > 1 ? some : [startDate, endDate]
}
