// The addresses from which a publisher's conversions and returns may come.
import { BlockList, isIP } from 'node:net'

// A snapshot shares the entries that did not change with the one before it, so a list is built once per
// change of its publisher and goes with it.
const listsByRanges = new WeakMap<readonly string[], BlockList>()

/**
 * Whether the address is in one of the ranges. An unknown address is in none, since any sender can hide
 * theirs by breaking off the connection.
 */
export function isFromSources(ranges: readonly string[], address: string | null): boolean {
  // A zone (`fe80::1%eth0`) names an interface, not a host.
  const [host = ''] = (address ?? '').split('%')
  const version = isIP(host)
  // The list matches an IPv4 address in IPv6 spelling against IPv4 ranges.
  return version !== 0 && listOf(ranges).check(host, version === 4 ? 'ipv4' : 'ipv6')
}

function listOf(ranges: readonly string[]): BlockList {
  const known = listsByRanges.get(ranges)
  if (known !== undefined) return known
  const list = new BlockList()
  for (const text of ranges) {
    const range = parseSourceRange(text)
    if (range !== null) list.addSubnet(range.address, range.prefixLength, range.family)
  }
  listsByRanges.set(ranges, list)
  return list
}

interface SourceRange {
  readonly address: string
  readonly family: 'ipv4' | 'ipv6'
  readonly prefixLength: number
}

/** Reads a CIDR range or an address; null if it is neither. Bits after the prefix are ignored. */
function parseSourceRange(text: string): SourceRange | null {
  const match = /^([^/%]+)(?:\/(0|[1-9][0-9]{0,2}))?$/.exec(text)
  const [, address = '', length] = match ?? []
  const version = isIP(address)
  if (version === 0) return null
  const bits = version === 4 ? 32 : 128
  const prefixLength = length === undefined ? bits : Number(length)
  if (prefixLength > bits) return null

  if (version === 4) return { address, family: 'ipv4', prefixLength }
  // An IPv4 range in IPv6 spelling: senders are compared in the IPv4 one.
  const mapped = prefixLength < mappedPrefixLength ? null : mappedAddress(address)
  if (mapped === null) return { address, family: 'ipv6', prefixLength }
  return { address: mapped, family: 'ipv4', prefixLength: prefixLength - mappedPrefixLength }
}

/** IPv6 contains all of IPv4 below this prefix: ::ffff:0:0/96 (RFC 4291, section 2.5.5.2). */
const mappedPrefixLength = 96

/** The IPv4 address that an IPv6 address maps, in any spelling; null if it maps none. */
function mappedAddress(address: string): string | null {
  // URLs write every spelling of an IPv6 address in the one of RFC 5952.
  const canonical = new URL(`http://[${address}]`).hostname
  const words = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(canonical)?.slice(1)
  if (words === undefined) return null
  const bytes = words.flatMap((word) => {
    const value = Number.parseInt(word, 16)
    return [value >> 8, value & 255]
  })
  return bytes.join('.')
}

/** Private networks and whole registries are narrower than these. */
const prefixLengthMin = { ipv4: 8, ipv6: 16 } as const

/** The fault of a range in a list of senders, or null. */
export function sourceRangeFault(text: string): string | null {
  const range = parseSourceRange(text)
  if (range === null) return 'must be a CIDR range or an IP address'
  const isWide = range.prefixLength < prefixLengthMin[range.family] || holdsAllOfIpv4(range)
  if (!isWide) return null
  const { ipv4, ipv6 } = prefixLengthMin
  return (
    `must not be wider than /${ipv4} (IPv6: /${ipv6}), which nearly everybody is in; ` +
    'leave the list empty to trust every sender'
  )
}

/** An IPv6 range such as ::/80 has every IPv4 sender in it, which Node compares in their IPv6 spelling. */
function holdsAllOfIpv4({ address, family, prefixLength }: SourceRange): boolean {
  if (family === 'ipv4') return false
  const list = new BlockList()
  list.addSubnet(address, prefixLength, family)
  return list.check('::ffff:0:0', 'ipv6')
}
