import { formatDay, nothing } from './format.ts'
import { t } from './language.ts'
import { wordTable } from './word-table.ts'

/** `SPONSORED_BRAND` as people read it; abbreviations stay. */
export function wordsOf(name: string | null | undefined): string {
  if (name === null || name === undefined || name === '') return nothing
  const known = Object.hasOwn(wordTable, name) ? wordTable[name] : undefined
  if (known !== undefined) return known
  if (name.length <= 3 || /\d/u.test(name)) return name
  const words = name.replaceAll(/[_-]|(?<=[a-z])(?=[A-Z])/gu, ' ').toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

interface Completeness {
  readonly completeThrough: string | null
  /** Oldest first. */
  readonly renewingDays: readonly string[]
}

/** Says whether figures may still change: those of days that are not sealed or are being renewed. */
export function describeCompleteness(figures: Completeness, endDate: string): string {
  const { completeThrough, renewingDays } = figures
  const [first, last] = [renewingDays[0], renewingDays.at(-1)]
  if (first === undefined) return describeSealed(completeThrough, endDate)
  const renewing =
    renewingDays.length === 1
      ? t('{{day}} is being renewed: late input changes figures within minutes.', {
          day: formatDay(first),
        })
      : t(
          '{{count}} days from {{first}} to {{last}} are being renewed: late input changes figures within minutes.',
          { count: renewingDays.length, first: formatDay(first), last: formatDay(last) }
        )
  return `${describeSealed(completeThrough, endDate)} ${renewing}`
}

function describeSealed(completeThrough: string | null, endDate: string): string {
  if (completeThrough === null) return t('No day is sealed yet: figures may still change.')
  if (completeThrough >= endDate) return t('All days are sealed.')
  return t('Sealed through {{day}}; later days may still change.', {
    day: formatDay(completeThrough),
  })
}

/** As the CSV of credited lines names the rules, and as explanations do. */
const rules: Readonly<Record<string, string>> = {
  DIRECT_CLICK: t('Click on the product'),
  IN_GROUP_CLICK: t('Click on its group'),
  VIEW: t('View'),
  direct: t('Click on the product'),
  'in-group': t('Click on its group'),
  view: t('View'),
}

/** Why an ad is credited. */
export function ruleWords(rule: string | null | undefined): string {
  return rules[rule ?? ''] ?? wordsOf(rule)
}
