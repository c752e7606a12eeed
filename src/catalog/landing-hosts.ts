import { isIPv4 } from 'node:net'

const wildcard = '*.'
/** Labels as parsed addresses have them, in any number. Underscores are in use, although not allowed. */
const hostName = /^[a-z\d_](?:[a-z\d_-]{0,61}[a-z\d_])?(?:\.[a-z\d_](?:[a-z\d_-]{0,61}[a-z\d_])?)*$/
/** A last label that makes parsers read the whole as an IPv4 address: `10.1` is 10.0.0.1. */
const numeric = /(?:^|\.)(?:\d+|0x[\da-f]*)$/i
/** Characters that end a host, or that parsers drop or decode, so that another host would result. */
const unsafe = /[\p{White_Space}\p{Cc}\p{Cf}\p{Cs}/\\?#@%]/u

/**
 * The host as parsed addresses spell it. Text that is not a host stays as it is, and the check reports
 * it.
 */
export function normalizeLandingHost(text: string): string {
  const { prefix, host } = split(text)
  const hasPort = host.includes(':') && !host.startsWith('[')
  if (unsafe.test(host) || hasPort || numeric.test(host)) return text
  return prefix + (hostOf(`https://${host}/`) ?? host)
}

/** The fault of a normalized host in a publisher's list, or null. */
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
 * Whether the list allows links to the landing page; its port does not matter. Text that is not an
 * address passes, because the rule for landing pages reports that.
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
