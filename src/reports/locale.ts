import type { Column } from '../contract/report-columns.ts'
import { columnNames, labelsByLanguage } from './labels.ts'

export type Labels = Readonly<Record<Column, string>>

export type LabelsResult =
  { readonly ok: true; readonly labels: Labels } | { readonly ok: false; readonly message: string }

/** The longest tags in use have about 40 letters; a well-formed tag can have any length. */
const localeLengthMax = 100

const labels: ReadonlyMap<string, Labels> = new Map(Object.entries(labelsByLanguage))

/**
 * The header of a report: without a locale the column names themselves, with one labels in its language, or
 * English labels for a language without a translation. Values do not depend on the locale. `de`, `de-DE`
 * and `de_DE` mean the same; anything that is not a BCP 47 tag is refused.
 */
export function resolveLabels(locale: string | undefined): LabelsResult {
  if (locale === undefined) return { ok: true, labels: columnNames }
  const language = parseLanguage(locale)
  if (language === null) {
    return { ok: false, message: 'locale must be a language tag such as "de" or "de-DE"' }
  }
  return { ok: true, labels: labels.get(language) ?? labelsByLanguage.en }
}

/** The canonical language of a tag (`deu` is `de`), or null when it is malformed. */
function parseLanguage(locale: string): string | null {
  if (locale.length > localeLengthMax) return null
  try {
    return new Intl.Locale(locale.replaceAll('_', '-')).language
  } catch {
    // The constructor has one way to say that a tag is malformed: a RangeError.
    return null
  }
}
