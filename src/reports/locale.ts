import type { GroupColumn } from '../contract/group-request.ts'
import { parseLanguage } from '../domain/language.ts'
import { columnNames, labelsByLanguage } from './labels.ts'

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
