import type { GroupColumn } from '../contract/group-request.ts'
import { parseLanguage } from '../domain/language.ts'
import { columnNames, convertedLabels, labelsByLanguage } from './labels.ts'

export type Labels = Readonly<Record<GroupColumn, string>>

const labels: ReadonlyMap<string | null, Labels> = new Map(Object.entries(labelsByLanguage))

/**
 * The header of a report: without a locale the column names themselves, with one labels in its language, or
 * English labels for a language without a translation. Values do not depend on the locale.
 */
export function labelsOf(locale: string | undefined): Labels {
  if (locale === undefined) return columnNames
  return labels.get(parseLanguage(locale)) ?? labelsByLanguage.en
}

/** The header of the columns that sums in one currency add: what they were converted from, and what has no rate. */
export function convertedLabelsOf(locale: string): readonly string[] {
  return (
    new Map(Object.entries(convertedLabels)).get(parseLanguage(locale) ?? 'en') ??
    convertedLabels.en
  )
}
