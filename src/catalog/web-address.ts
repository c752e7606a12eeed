/**
 * An absolute http(s) address with a host and without credentials. The service never fetches it, but
 * browsers will: a `javascript:` link or a host that only looks like the advertiser's must not pass.
 */
export function isWebAddress(text: string): boolean {
  // What a browser drops or bends in silence makes the address shown another one than the one opened.
  if (/[\p{White_Space}\p{Cc}\p{Cf}\p{Cs}\\]/u.test(text)) return false
  // URL accepts `https:/host` and `https:host`; an address that is absolute spells both slashes.
  if (!/^https?:\/\/[^/?#]/i.test(text) || !URL.canParse(text)) return false
  const { hostname, username, password } = new URL(text)
  const authority = /^https?:\/\/([^/?#]*)/i.exec(text)?.[1] ?? ''
  return hostname !== '' && username === '' && password === '' && !authority.includes('@')
}
