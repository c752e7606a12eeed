import { formatDay, formatNumber, nothing } from './format.ts'

/** `SPONSORED_BRAND` as people read it; abbreviations stay. */
export function wordsOf(name: string | null | undefined): string {
  if (name === null || name === undefined || name === '') return nothing
  if (name.length <= 3 || /\d/u.test(name)) return name
  const words = name.toLowerCase().replaceAll(/[_-]/gu, ' ')
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
      ? `${formatDay(first)} is being renewed`
      : `${renewingDays.length} days from ${formatDay(first)} to ${formatDay(last)} are being renewed`
  return `${describeSealed(completeThrough, endDate)} ${renewing}: late input changes figures within minutes.`
}

function describeSealed(completeThrough: string | null, endDate: string): string {
  if (completeThrough === null) return 'No day is sealed yet: figures may still change.'
  if (completeThrough >= endDate) return 'All days are sealed.'
  return `Sealed through ${formatDay(completeThrough)}; later days may still change.`
}

/** As the CSV of credited lines names the rules, and as explanations do. */
const rules: Readonly<Record<string, string>> = {
  DIRECT_CLICK: 'Click on the product',
  IN_GROUP_CLICK: 'Click on its group',
  VIEW: 'View',
  direct: 'Click on the product',
  'in-group': 'Click on its group',
  view: 'View',
}

/** Why an ad is credited. */
export function ruleWords(rule: string | null | undefined): string {
  return rules[rule ?? ''] ?? wordsOf(rule)
}

/** `1 unit`, `2 units`. */
export function countOf(count: number, noun: string): string {
  return `${formatNumber(count)} ${noun}${count === 1 ? '' : 's'}`
}
