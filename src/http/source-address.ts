import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/**
 * Where a request came from, as plain text of an IPv4 or IPv6 address. Behind a trusted proxy that
 * is the last entry of `X-Forwarded-For`, the one the proxy itself wrote: all before it is the
 * sender's word. Empty elements are no entries (RFC 9110, 5.6.1), and the proxy writes an entry behind those of
 * a sender. An entry that is no address leaves the proxy's own. Null once the other side has reset the
 * connection, unless the address was asked for before.
 */
export function sourceAddress(request: IncomingMessage, isProxyTrusted: boolean): string | null {
  const { remoteAddress } = request.socket
  const socketAddress = remoteAddress === undefined ? null : plainAddress(remoteAddress)
  if (!isProxyTrusted) return socketAddress
  const forwarded = request.headers['x-forwarded-for']
  const list = Array.isArray(forwarded) ? forwarded.join(',') : (forwarded ?? '')
  const last = plainAddress(withoutPort(lastEntry(list)))
  return isIP(last) === 0 ? socketAddress : last
}

/** Empty without any. One look from the end: a header may hold thousands of commas. */
function lastEntry(list: string): string {
  let end = list.length
  while (end > 0 && ', \t'.includes(list.charAt(end - 1))) end -= 1
  return list.slice(list.lastIndexOf(',', end - 1) + 1, end).trim()
}

/**
 * The network that one sender can take its addresses from: an IPv6 subscriber has a whole /64 of them, so limits
 * that hold per address must hold for all of it.
 */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address
  return `${ipv6Groups(address).join(':')}::/64`
}

/** The first four groups, without leading zeros. */
function ipv6Groups(address: string): readonly string[] {
  const [head = '', tail] = address.split('::')
  const groups = head === '' ? [] : head.split(':')
  if (tail !== undefined) {
    const tailCount = tail === '' ? 0 : tail.split(':').length
    while (groups.length + tailCount < 8 && groups.length < 4) groups.push('0')
    if (groups.length < 4) groups.push(...tail.split(':'))
  }
  return groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
}

/**
 * What a log may say of where a call came from: the /24 or the /48, which tells one company from
 * another and no person from a neighbour.
 */
export function loggedNetworkOf(address: string | null): string {
  if (address === null) return 'unknown'
  if (isIP(address) === 4) return `${address.slice(0, address.lastIndexOf('.'))}.0/24`
  if (isIP(address) !== 6) return 'unknown'
  return `${ipv6Groups(address).slice(0, 3).join(':')}::/48`
}

function withoutPort(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(text)
  if (bracketed !== null) return bracketed[1] ?? ''
  return /^[\d.]+:\d+$/.test(text) ? text.slice(0, text.indexOf(':')) : text
}

/** An IPv4 sender on a dual-stack socket shows as `::ffff:203.0.113.7`; CIDR lists say `203.…`. */
export function plainAddress(address: string): string {
  return /^::ffff:\d+\.\d+\.\d+\.\d+$/i.test(address) ? address.slice(7) : address
}
