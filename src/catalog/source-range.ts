import { BlockList, isIP } from 'node:net'

interface SourceRange {
  readonly address: string
  readonly family: 'ipv4' | 'ipv6'
  readonly prefixLength: number
}

const mappedForm = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** A CIDR range, or one address; null when it is neither. Bits behind the prefix are ignored. */
function parseSourceRange(text: string): SourceRange | null {
  const match = /^([^/%]+)(?:\/(0|[1-9][0-9]{0,2}))?$/.exec(text)
  const [, address = '', length] = match ?? []
  const version = isIP(address)
  if (version === 0) return null
  const bits = version === 4 ? 32 : 128
  const prefixLength = length === undefined ? bits : Number(length)
  if (prefixLength > bits) return null

  const mapped = mappedForm.exec(address)?.[1]
  // An IPv4 range in IPv6 spelling: senders are compared in the IPv4 one.
  if (mapped !== undefined && prefixLength >= 96) {
    return { address: mapped, family: 'ipv4', prefixLength: prefixLength - 96 }
  }
  return { address, family: version === 4 ? 'ipv4' : 'ipv6', prefixLength }
}

/** Private networks and whole registries are narrower than these. */
const prefixLengthMin = { ipv4: 8, ipv6: 16 } as const

/** What is wrong with a range as a list of senders has it; null when nothing is. */
export function sourceRangeFault(text: string): string | null {
  const range = parseSourceRange(text)
  if (range === null) return 'must be a CIDR range or an IP address'
  if (range.prefixLength >= prefixLengthMin[range.family]) return null
  const { ipv4, ipv6 } = prefixLengthMin
  return (
    `must not be wider than /${ipv4} (IPv6: /${ipv6}), which nearly everybody is in; ` +
    'leave the list empty to believe every sender'
  )
}

/** The ranges as a list that answers quickly; all of them must parse. */
export function buildSourceList(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const text of ranges) {
    const range = parseSourceRange(text)
    if (range !== null) list.addSubnet(range.address, range.prefixLength, range.family)
  }
  return list
}
