// A list of networks (CIDR ranges), as data centres publish them, and whether an address is in it.

import { createHash } from 'node:crypto'
import { isIP } from 'node:net'

export const networkListLimits = {
  /** The clouds together publish some 60,000 ranges, which are 1 MB. */
  rangesMax: 200_000,
  bytesMax: 16_777_216,
  faultsMax: 5,
} as const

/** Wider ranges hold whole countries; in such a list they are a slip that would make everybody a robot. */
const prefixLengthMin = { 4: 8, 6: 16 } as const

export interface NetworkList {
  /** The first 12 hexadecimal digits of the SHA-256 of the file. */
  readonly version: string
  /** As listed. */
  readonly rangeCount: number
  has(this: void, address: string): boolean
}

export type ParsedNetworkList =
  | { readonly ok: true; readonly list: NetworkList }
  /** Each names its line. */
  | { readonly ok: false; readonly faults: readonly string[] }

/** One range or address a line; `#` begins a comment. */
export function parseNetworkList(bytes: Buffer): ParsedNetworkList {
  const ranges: Range[] = []
  const faults: string[] = []
  let rangeCount = 0
  for (const [index, line] of bytes.toString('utf8').split('\n').entries()) {
    const [before = ''] = line.split('#', 1)
    const text = before.trim()
    if (text === '') continue
    const read = readRange(text)
    rangeCount += 1
    if (typeof read !== 'string') ranges.push(read)
    else if (faults.length < networkListLimits.faultsMax) faults.push(`line ${index + 1} ${read}`)
  }
  if (rangeCount > networkListLimits.rangesMax) {
    faults.unshift(`the file must have at most ${networkListLimits.rangesMax} ranges`)
  }
  // A download that failed often leaves an empty file.
  if (rangeCount === 0) faults.push('the file must have at least one range')
  if (faults.length > 0) return { ok: false, faults }
  const version = createHash('sha256').update(bytes).digest('hex').slice(0, 12)
  return { ok: true, list: { version, rangeCount, has: createSearch(ranges) } }
}

/**
 * The 128 bits of an address as four numbers of 32. An IPv4 address has those of its IPv6 spelling
 * (`::ffff:192.0.2.1`), so both spellings are one, and all are in one order.
 */
type Words = Uint32Array

interface Range {
  readonly first: Words
  readonly last: Words
}

const mappedBits = 96

function readRange(text: string): Range | string {
  const [, address = '', length] = /^([^/%]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? []
  const version = isIP(address)
  if (version === 0) return 'must be a CIDR range or an IP address'
  const first = new Uint32Array(4)
  writeWords(first, address)
  const givenBits = version === 4 ? 32 : 128
  const given = length === undefined ? givenBits : Number(length)
  if (given > givenBits) return 'must be a CIDR range or an IP address'
  const prefixLength = version === 4 ? given + mappedBits : given
  const isIpv4 =
    first[0] === 0 && first[1] === 0 && first[2] === 0xffff && prefixLength >= mappedBits
  const prefixMin = isIpv4 ? prefixLengthMin[4] + mappedBits : prefixLengthMin[6]
  // Every range that begins with 80 zeros is either within the IPv4 addresses or holds all of them.
  const holdsIpv4 = !isIpv4 && first[0] === 0 && first[1] === 0 && prefixLength <= mappedBits
  if (prefixLength < prefixMin || holdsIpv4) {
    return `must not be wider than /${prefixLengthMin[4]} (IPv6: /${prefixLengthMin[6]})`
  }
  const last = first.slice()
  for (let word = 0; word < 4; word++) {
    const hostBits = Math.min(32, Math.max(0, 32 * (word + 1) - prefixLength))
    const mask = hostBits === 32 ? 0xffff_ffff : 2 ** hostBits - 1
    first[word] = (first[word] ?? 0) & ~mask
    last[word] = (last[word] ?? 0) | mask
  }
  return { first, last }
}

/** Binary search in ranges that were merged so that none overlap: 16 steps for 60,000 ranges. */
function createSearch(ranges: readonly Range[]): (address: string) => boolean {
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
