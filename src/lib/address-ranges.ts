// Ranges of IP addresses (CIDR), and whether an address is in one of many.
import { isIP } from 'node:net'

/**
 * The 128 bits of an address as four numbers of 32. An IPv4 address has those of its IPv6 spelling
 * (`::ffff:192.0.2.1`), so both spellings are one, and all are in one order.
 */
type Words = Uint32Array

/** All addresses from the first to the last one. */
export interface Range {
  readonly first: Words
  readonly last: Words
  /** Of the addresses in IPv6 spelling. */
  readonly prefixLength: number
}

const mappedBits = 96

export const notARange = 'must be a CIDR range or an IP address'

/** Reads a CIDR range or an address; null if it is neither. Bits after the prefix are ignored. */
export function readRange(text: string): Range | null {
  const [, address = '', length] = /^([^/%]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? []
  const version = isIP(address)
  if (version === 0) return null
  const givenBits = version === 4 ? 32 : 128
  const given = length === undefined ? givenBits : Number(length)
  if (given > givenBits) return null
  const prefixLength = version === 4 ? given + mappedBits : given
  const first = new Uint32Array(4)
  writeWords(first, address)
  const last = first.slice()
  for (let word = 0; word < 4; word++) {
    const hostBits = Math.min(32, Math.max(0, 32 * (word + 1) - prefixLength))
    const mask = hostBits === 32 ? 0xffff_ffff : 2 ** hostBits - 1
    first[word] = (first[word] ?? 0) & ~mask
    last[word] = (last[word] ?? 0) | mask
  }
  return { first, last, prefixLength }
}

/** Wider ranges hold whole countries: in a list of senders they are a slip that lets nearly everybody in. */
const prefixLengthMin = { ipv4: 8, ipv6: 16 } as const

/** What is wrong with a range that is too wide for any list, or null. */
export function widthFault({ first, prefixLength }: Range): string | null {
  const isIpv4 =
    first[0] === 0 && first[1] === 0 && first[2] === 0xffff && prefixLength >= mappedBits
  const { ipv4, ipv6 } = prefixLengthMin
  // Every range that begins with 80 zeros is either within the IPv4 addresses or holds all of them.
  const holdsIpv4 = !isIpv4 && first[0] === 0 && first[1] === 0 && prefixLength <= mappedBits
  const isWide = holdsIpv4 || prefixLength < (isIpv4 ? ipv4 + mappedBits : ipv6)
  return isWide ? `must not be wider than /${ipv4} (IPv6: /${ipv6})` : null
}

/**
 * Whether an address is in one of the ranges, by binary search in ranges that were merged so that none overlap: 16
 * steps for 60,000 ranges. What it is asked for must be an address; a zone is ignored.
 */
export function createSearch(ranges: readonly Range[]): (address: string) => boolean {
  const merged: { first: Words; last: Words }[] = []
  for (const range of ranges.toSorted((one, other) => compareWords(one.first, 0, other.first))) {
    const before = merged.at(-1)
    if (before === undefined || compareWords(before.last, 0, range.first) < 0) {
      merged.push({ ...range })
    } else if (compareWords(before.last, 0, range.last) < 0) before.last = range.last
  }
  const firsts = new Uint32Array(4 * merged.length)
  const lasts = new Uint32Array(4 * merged.length)
  for (const [index, { first, last }] of merged.entries()) {
    firsts.set(first, 4 * index)
    lasts.set(last, 4 * index)
  }
  const words = new Uint32Array(4)
  return (address) => {
    writeWords(words, address)
    let low = 0
    let high = merged.length
    // The number of ranges that begin at or before the address.
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareWords(firsts, 4 * middle, words) <= 0) low = middle + 1
      else high = middle
    }
    return low > 0 && compareWords(lasts, 4 * (low - 1), words) >= 0
  }
}

/** Compares the four words at a place with those of an address. */
function compareWords(list: Words, at: number, words: Words): number {
  for (let word = 0; word < 4; word++) {
    const difference = (list[at + word] ?? 0) - (words[word] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

const colon = 58
const dot = 46
const percent = 37
/** The groups of the address that is being read: nothing is allocated for an event. */
const groups = new Uint16Array(8)

/**
 * Reads text that is an address; what it makes of other text is some address. A zone (`fe80::1%eth0`) names an
 * interface, not a host.
 */
function writeWords(words: Words, address: string): void {
  if (!address.includes(':')) {
    words[0] = 0
    words[1] = 0
    words[2] = 0xffff
    words[3] = ipv4Number(address, 0)
    return
  }
  let count = 0
  let gapAt = -1
  let value = 0
  let groupStart = 0
  let at = 0
  for (; at < address.length && count < 8; at++) {
    const char = address.charCodeAt(at)
    if (char === percent) break
    if (char === dot) {
      const number = ipv4Number(address, groupStart)
      groups[count++] = number >>> 16
      value = number & 0xffff
      break
    }
    if (char !== colon) {
      // 48 to 57 are digits; letters in both cases end in 1 to 6 and have 9 more.
      value = (value << 4) | ((char & 15) + (char > 57 ? 9 : 0))
      continue
    }
    if (at === groupStart) {
      if (gapAt === -1 && at > 0) gapAt = count
    } else groups[count++] = value
    value = 0
    groupStart = at + 1
  }
  if (count < 8 && groupStart < at) groups[count++] = value
  spread(words, count, gapAt === -1 ? count : gapAt)
}

/** Puts the zeros of `::` where the gap is. */
function spread(words: Words, count: number, gapAt: number): void {
  const zeros = 8 - count
  const group = (index: number): number => {
    if (index < gapAt) return groups[index] ?? 0
    return index < gapAt + zeros ? 0 : (groups[index - zeros] ?? 0)
  }
  for (let word = 0; word < 4; word++) {
    words[word] = group(2 * word) * 65_536 + group(2 * word + 1)
  }
}

function ipv4Number(address: string, start: number): number {
  let number = 0
  let part = 0
  for (let at = start; at < address.length; at++) {
    const char = address.charCodeAt(at)
    if (char === percent) break
    if (char === dot) {
      number = number * 256 + part
      part = 0
    } else part = part * 10 + (char & 15)
  }
  return (number * 256 + part) >>> 0
}
