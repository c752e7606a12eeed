import { daysBetween, parseDay } from '../domain/day.ts'
import { QueryReader, type QueryRule } from './query-reader.ts'

export type ParsedRange =
  | { readonly ok: true; readonly startDate: string; readonly endDate: string }
  | { readonly ok: false; readonly messages: readonly string[] }

const dayRule: QueryRule<string> = { rule: 'a date such as 2026-03-01', parse: parseDay }

/** `startDate` and `endDate` of a query, both included; the rules of a report's range. */
export function parseDateRange(query: URLSearchParams, daysMax: number): ParsedRange {
  const reader = new QueryReader(query)
  const startDate = reader.required('startDate', dayRule)
  const endDate = reader.required('endDate', dayRule)
  if (startDate === null || endDate === null) return { ok: false, messages: reader.messages }

  const dayCount = daysBetween(startDate, endDate) + 1
  if (dayCount < 1) return { ok: false, messages: ['startDate must not be after endDate'] }
  if (dayCount <= daysMax) return { ok: true, startDate, endDate }
  return {
    ok: false,
    messages: [`endDate must be at most ${daysMax} days from startDate, both included`],
  }
}
