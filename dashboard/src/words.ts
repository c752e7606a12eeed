import { nothing } from './format.ts'

/** `SPONSORED_BRAND` as people read it; abbreviations stay. */
export function wordsOf(name: string | null | undefined): string {
  if (name === null || name === undefined || name === '') return nothing
  if (name.length <= 3 || /\d/u.test(name)) return name
  const words = name.toLowerCase().replaceAll(/[_-]/gu, ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
