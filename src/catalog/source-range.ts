import { BlockList, isIP } from 'node:net'

interface SourceRange {
  readonly address: string
  readonly family: 'ipv4' | 'ipv6'
  readonly prefixLength: number
}

const mappedForm = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** A CIDR range, or one address; null when it is neither. Bits behind the prefix are ignored. */
export function parseSourceRange(text: string): SourceRange | null {
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

/** The ranges as a list that answers quickly; all of them must parse. */
export function buildSourceList(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const text of ranges) {
    const range = parseSourceRange(text)
    if (range !== null) list.addSubnet(range.address, range.prefixLength, range.family)
  }
  return list
}
