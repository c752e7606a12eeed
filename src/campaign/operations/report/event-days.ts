import type { DaysAsked } from '../../../days/sealed-days.ts'

/**
 * Instants of events lie in the years 2020 to 2100; the months around them hold every zone. A range
 * beyond asks for no more, but its days may be ones that the warehouse cannot write or count with.
 */
const eventDays = { first: '2019-12-01', last: '2101-01-31' } as const

export function withinEventDays<Asked extends DaysAsked>(asked: Asked): Asked {
  const { startDate, endDate } = asked
  return { ...asked, startDate: clampDay(startDate), endDate: clampDay(endDate) }
}

/** ISO days of four-digit years sort as text. */
function clampDay(day: string): string {
  if (day < eventDays.first) return eventDays.first
  return day > eventDays.last ? eventDays.last : day
}
