import { findUnknownFields } from '../lib/unknown-fields.ts'
import { invalid } from './client-error.ts'

/** Callers may write JavaScript: what is misspelt would be left out in silence. */
export function expectKnown<T extends object>(
  value: T,
  { at, known }: { readonly at: string; readonly known: readonly string[] }
): T {
  const unknown = findUnknownFields(value, new Set(known))
  if (unknown.length === 0) return value
  throw invalid(
    'REQUEST_INVALID',
    unknown.map(({ name, rule }) => `${at}/${name} ${rule}`)
  )
}

/** The options of one call. */
export function expectOptions<T extends object>(options: T, known: readonly string[]): T {
  return expectKnown(options, { at: '/options', known: ['signal', ...known] })
}
