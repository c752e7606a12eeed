/** Characters of a landing page's address. Together with the other bounds a token stays under 4 KiB. */
export const landingUrlLengthMax = 2_048

// Scheme, then a host (and port) in which an @ would be credentials, and throughout only what may
// stand in a Location header. A backslash is out because browsers read it as a slash.
const asciiAddress = /^https?:\/\/(?=[^/?#@]+(?:[/?#]|$))[!-[\]-~]+$/i
// Matches the common case (ASCII host, alphabetic TLD), for which no parser is needed. A parser takes a
// microsecond, so only the other addresses are given to one.
const plainAddress = /^https?:\/\/(?:[a-z\d]+[.-])*[a-z]+(?::\d{1,4})?(?:[/?#][!-[\]-~]*)?$/i
const beyondAscii = /\P{ASCII}/u
// Characters that a parser would silently drop or change: blanks, controls, format characters, backslashes.
const unsafe = /[\p{White_Space}\p{Cc}\p{Cf}\p{Cs}\\]/u

/** An absolute http(s) address in ASCII with a host and without credentials. */
export function isLandingUrl(text: string): boolean {
  if (typeof text !== 'string' || text.length > landingUrlLengthMax) return false
  return plainAddress.test(text) || (asciiAddress.test(text) && URL.canParse(text))
}

/**
 * The same address in ASCII, because a Location header can hold nothing else. Text that is ASCII already, or
 * not an address, is returned unchanged, so that `isLandingUrl` can judge it.
 */
export function toAsciiUrl(text: string): string {
  if (!beyondAscii.test(text) || unsafe.test(text) || text.length > landingUrlLengthMax) return text
  return URL.canParse(text) ? new URL(text).href : text
}
