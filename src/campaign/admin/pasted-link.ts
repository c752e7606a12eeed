/** A tracking link in whatever form people find it, reduced to its tracking data. */
export type PastedLink =
  | { readonly ok: true; readonly trackingData: string }
  | { readonly ok: false; readonly reason: 'no-tracking-data' | 'broken-escape' }

const kinds: ReadonlySet<string> = new Set(['impression', 'click', 'load'])

/**
 * Takes the segment behind the last `/impression/`, `/click/` or `/load/` of an address, of whatever host
 * and path before, with its escapes undone; or the whole text where it is no address. Says nothing about
 * whether it is tracking data.
 */
export function findTrackingData(text: string): PastedLink {
  // Mails and terminals break long lines, and no link holds white space.
  const [path = ''] = text.replaceAll(/\s/gu, '').split(/[?#]/u, 1)
  const segments = path.split('/')
  const kindAt = segments.findLastIndex((segment) => kinds.has(segment))
  // Tracking data may itself hold slashes where it is in plain base64; no alphabet of it has a colon.
  const isAddress = kindAt >= 0 || path.startsWith('/') || path.includes(':')
  const found = isAddress ? takeBehind(segments, kindAt) : path
  if (found === '') return { ok: false, reason: 'no-tracking-data' }
  try {
    return { ok: true, trackingData: decodeURIComponent(found) }
  } catch {
    // A broken escape is the only fault of it, and the error says no more.
    return { ok: false, reason: 'broken-escape' }
  }
}

function takeBehind(segments: readonly string[], kindAt: number): string {
  return kindAt < 0 ? '' : (segments[kindAt + 1] ?? '')
}
