import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/**
 * Where a delivery came from, as plain text of an IPv4 or IPv6 address. Behind a trusted proxy that
 * is the last entry of `X-Forwarded-For`, the one the proxy itself wrote: all before it is the
 * sender's word. An entry that is no address leaves the proxy's own.
 */
export function sourceAddress(request: IncomingMessage, isProxyTrusted: boolean): string {
  const socketAddress = plain(request.socket.remoteAddress ?? '')
  if (!isProxyTrusted) return socketAddress
  const forwarded = request.headers['x-forwarded-for']
  const list = Array.isArray(forwarded) ? forwarded.join(',') : (forwarded ?? '')
  const last = plain(withoutPort(list.slice(list.lastIndexOf(',') + 1).trim()))
  return isIP(last) === 0 ? socketAddress : last
}

function withoutPort(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(text)
  if (bracketed !== null) return bracketed[1] ?? ''
  return /^[\d.]+:\d+$/.test(text) ? text.slice(0, text.indexOf(':')) : text
}

/** An IPv4 sender on a dual-stack socket shows as `::ffff:203.0.113.7`; CIDR lists say `203.…`. */
function plain(address: string): string {
  return /^::ffff:\d+\.\d+\.\d+\.\d+$/i.test(address) ? address.slice(7) : address
}
