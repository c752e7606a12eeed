import type { AdEventKind } from '../domain/windows.ts'

/** The route of a request. Paths are exact: case, slashes and escapes are folded only in a token. */
export type Route =
  | { readonly name: 'conversion' | 'return' | 'alive' | 'ready' }
  | { readonly name: 'ad-event'; readonly kind: AdEventKind; readonly token: string }
  | { readonly name: 'missing-token'; readonly kind: AdEventKind }
  | { readonly name: 'broken-escape' }
  | { readonly name: 'unknown' }

const fixed: ReadonlyMap<string, Route> = new Map([
  ['/conversion', { name: 'conversion' }],
  ['/return', { name: 'return' }],
  ['/healthz', { name: 'alive' }],
  ['/readyz', { name: 'ready' }],
])
const links: readonly { readonly kind: AdEventKind; readonly path: string }[] = [
  { kind: 'impression', path: '/impression' },
  { kind: 'click', path: '/click' },
  { kind: 'load', path: '/load' },
]
const unknown: Route = { name: 'unknown' }
const brokenEscape: Route = { name: 'broken-escape' }

export function findRoute(target: string): Route {
  const path = pathOf(target)
  return findLink(path) ?? fixed.get(path) ?? (unescape(path) === null ? brokenEscape : unknown)
}

/** Log lines show this instead of the path, which holds a token, and a token holds a shopper. */
export function routePattern(route: Route): string {
  switch (route.name) {
    case 'conversion':
    case 'return':
      return `/${route.name}`
    case 'alive':
      return '/healthz'
    case 'ready':
      return '/readyz'
    case 'ad-event':
    case 'missing-token':
      return `/${route.kind}/{trackingData}`
    case 'broken-escape':
    case 'unknown':
      return 'none'
  }
}

function findLink(path: string): Route | undefined {
  for (const { kind, path: prefix } of links) {
    if (!path.startsWith(prefix)) continue
    if (path.length <= prefix.length + 1) {
      const isMissing = path.length === prefix.length || path.endsWith('/')
      return isMissing ? { name: 'missing-token', kind } : undefined
    }
    const segment = path.slice(prefix.length + 1)
    if (path[prefix.length] !== '/' || segment.includes('/')) return undefined
    const token = unescape(segment)
    return token === null ? brokenEscape : { name: 'ad-event', kind, token }
  }
  return undefined
}

/** Decoded exactly once, and a `+` stays a plus: it means a blank in queries only. */
function unescape(text: string): string | null {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    // URIError is how this function says no; the text is not repeated anywhere.
    return null
  }
}

/** The path without the query, which is never read, and without the `http://host` that a proxy may send. */
function pathOf(target: string): string {
  const queryAt = target.indexOf('?')
  const whole = queryAt === -1 ? target : target.slice(0, queryAt)
  if (whole.startsWith('/')) return whole
  const absolute = /^https?:\/\/[^/]*/i.exec(whole)
  return absolute === null ? whole : whole.slice(absolute[0].length)
}
