import { isInt32 } from '../domain/ids.ts'

export type QueryText =
  | { readonly kind: 'absent' }
  | { readonly kind: 'repeated' }
  | { readonly kind: 'given'; readonly text: string }

/** One value of a query. A doubled parameter is refused: proxies disagree about which one counts. */
export function queryText(query: URLSearchParams, name: string): QueryText {
  const [text, ...others] = query.getAll(name)
  if (text === undefined) return { kind: 'absent' }
  return others.length > 0 ? { kind: 'repeated' } : { kind: 'given', text }
}

/** An int32 in its one spelling, or null: no blanks, no sign but a minus, no leading zeros. */
export function parseInt32Text(text: string): number | null {
  if (!/^(?:0|-?[1-9][0-9]{0,9})$/.test(text)) return null
  const value = Number(text)
  return isInt32(value) ? value : null
}
