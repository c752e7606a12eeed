import { suggest } from './suggest.ts'

export interface UnknownField {
  /** The name as it was sent if it can be printed, else `?`. */
  readonly name: string
  /** `is not known here; did you mean landingUrl?` */
  readonly rule: string
}

/** Fields that nobody reads. Most are misspelt, and would otherwise be ignored silently. */
export function findUnknownFields(
  value: unknown,
  known: ReadonlySet<string>
): readonly UnknownField[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.keys(value)
    .filter((name) => !known.has(name))
    .map((name) => ({ name: printable(name), rule: unknownRule(name, [...known]) }))
}

export function unknownRule(name: string, known: readonly string[]): string {
  const nearest = isName(name) ? suggest(name, known) : null
  return nearest === null ? 'is not known here' : `is not known here; did you mean ${nearest}?`
}

/** Messages go into logs and answers, and a field may have any name, so only plain names are repeated. */
export function printable(name: string): string {
  return isName(name) ? name : '?'
}

function isName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/u.test(name)
}
