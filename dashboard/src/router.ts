// The address of what is shown is the part after the #: it works under any prefix, needs no support by the server, and
// never reaches a log.
import { useEffect, useState } from 'preact/hooks'

export interface Place {
  readonly path: readonly string[]
  readonly query: URLSearchParams
}

/** `#/advertisers/500/products?profile=IMP_1_DAY` as its parts, decoded. */
export function parseAddress(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#/u, '').split(/\?(.*)/su, 2)
  const parts = path.split('/').filter((part) => part !== '')
  return { path: parts.map(decodePart), query: new URLSearchParams(query) }
}

/** People edit addresses. A broken escape is a name that does not exist. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export function addressOf(path: readonly (string | number)[], query?: URLSearchParams): string {
  const text = query === undefined ? '' : query.toString()
  return `#/${path.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`
}

/** Of a list on the page of what to look at. */
export function listAddress(list: string): string {
  return addressOf(['operator', 'to-look-at'], new URLSearchParams({ list }))
}

export function usePlace(): Place {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const read = () => setHash(location.hash)
    addEventListener('hashchange', read)
    read()
    return () => removeEventListener('hashchange', read)
  }, [])
  return parseAddress(hash)
}

/** A new step for the browser's back button. */
export function goTo(address: string): void {
  location.hash = address
}

/** Replaces the address of the current step, for text that is typed letter by letter. */
export function replaceWith(address: string): void {
  history.replaceState(history.state, '', address)
  dispatchEvent(new Event('hashchange'))
}

/** What to set: several values under one name, or none. */
export type Changes = Readonly<Record<string, string | null | readonly string[]>>

/** The query with some parameters set, or left out where the value is null or empty. */
export function withQuery(query: URLSearchParams, changes: Changes): URLSearchParams {
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes)) {
    if (typeof value === 'string' && value !== '') next.set(name, value)
    else next.delete(name)
    if (typeof value === 'object') for (const one of value ?? []) next.append(name, one)
  }
  return next
}

/** Of what is drawn, not of what is asked. */
const looks: ReadonlySet<string> = new Set(['chart', 'columns', 'compare', 'metric'])

/** Shows the page with another query. A change of looks alone is no step for the browser's back button. */
export function changeQuery(
  path: readonly (string | number)[],
  query: URLSearchParams,
  changes: Changes
): void {
  const address = addressOf(path, withQuery(query, changes))
  if (Object.keys(changes).every((name) => looks.has(name))) replaceWith(address)
  else goTo(address)
}
