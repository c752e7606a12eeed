/** A tracking link in whatever form people find it, reduced to its tracking data. */
export type PastedLink =
  | { readonly ok: true; readonly trackingData: string }
  | { readonly ok: false; readonly reason: 'no-tracking-data' | 'several-links' | 'broken-escape' }

const kinds: ReadonlySet<string> = new Set(['impression', 'click', 'load'])
/** Tracking data is longer than this, and the words of a path are not. */
const links = /\/(?:impression|click|load)\/([\w%+=-]{40,})/gu

/**
 * Takes the segment behind the last `/impression/`, `/click/` or `/load/` of an address, of whatever host
 * and path before, with its escapes undone; or the whole text where it is no address. It may be in quotes. Says nothing
 * about whether it is tracking data.
 */
export function findTrackingData(text: string): PastedLink {
  // An answer about one of two ads would be taken for an answer about the other.
  if (new Set([...text.matchAll(links)].map((match) => match[1])).size > 1) {
    return { ok: false, reason: 'several-links' }
  }
  // Mails and terminals break long lines, and no link holds white space.
  const whole = unescapeAddress(text.replaceAll(/\s/gu, '').replace(/^["'<]+/u, ''))
  const [path = ''] = whole.split(/[?#"'>]/u, 1)
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

/** An address that was escaped as a whole, as a value within another one. */
function unescapeAddress(text: string): string {
  if (!/^https?%3A/iu.test(text)) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
