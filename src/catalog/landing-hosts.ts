import { isIPv4 } from 'node:net'

const wildcard = '*.'
/** Labels as addresses have them once parsed, in any number; underscores are in use for all that. */
const hostName = /^[a-z\d_](?:[a-z\d_-]{0,61}[a-z\d_])?(?:\.[a-z\d_](?:[a-z\d_-]{0,61}[a-z\d_])?)*$/
/** A last label that makes parsers read the whole as an IPv4 address: `10.1` is 10.0.0.1. */
const numeric = /(?:^|\.)(?:\d+|0x[\da-f]*)$/i
/** What ends a host, or what parsers drop or decode, so that another host would come out. */
const unsafe = /[\p{White_Space}\p{Cc}\p{Cf}\p{Cs}/\\?#@%]/u

/** In the spelling that hosts have in parsed addresses; what is no host stays, for the check to name. */
export function normalizeLandingHost(text: string): string {
  const { prefix, host } = split(text)
  const hasPort = host.includes(':') && !host.startsWith('[')
  if (unsafe.test(host) || hasPort || numeric.test(host)) return text
  return prefix + (hostOf(`https://${host}/`) ?? host)
}

/** What is wrong with a normalized host of a publisher's list; null when nothing is. */
export function landingHostFault(text: string): string | null {
  const { prefix, host } = split(text)
  const isAddress = isIPv4(host) || host.startsWith('[')
  const isHost = isAddress
    ? prefix === '' && hostOf(`https://${host}/`) === host
    : host.length <= 253 && hostName.test(host) && !numeric.test(host)
  if (!isHost) {
    return 'must be a host without scheme, port and path, such as shop.example, or *.shop.example for its subdomains'
  }
  const isWide = prefix !== '' && !host.includes('.')
  return isWide
    ? 'must have two labels or more behind *., since anybody can have a host below one'
    : null
}

/**
 * Whether links to the landing page may be minted under the list; its port does not matter. A text that
 * is no address passes, for the rule of landing pages to name what is wrong with it.
 */
export function isAllowedLandingPage(landingUrl: string, hosts: readonly string[]): boolean {
  const host = hostOf(landingUrl)
  return host === null || hosts.some((allowed) => isWithin(host, split(allowed)))
}

interface LandingHost {
  readonly prefix: string
  readonly host: string
}

function isWithin(host: string, allowed: LandingHost): boolean {
  return allowed.prefix === '' ? host === allowed.host : host.endsWith(`.${allowed.host}`)
}

function split(text: string): LandingHost {
  const prefix = text.startsWith(wildcard) ? wildcard : ''
  return { prefix, host: text.slice(prefix.length) }
}

function hostOf(address: string): string | null {
  const hostname = URL.canParse(address) ? new URL(address).hostname : ''
  return hostname === '' ? null : hostname
}
