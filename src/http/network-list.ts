// A list of networks (CIDR ranges), as data centres publish them, and whether an address is in it.

import { createHash } from 'node:crypto'
import {
  createSearch,
  notARange,
  readRange,
  widthFault,
  type Range,
} from '../lib/address-ranges.ts'

export const networkListLimits = {
  /** The clouds together publish some 60,000 ranges, which are 1 MB. */
  rangesMax: 200_000,
  bytesMax: 16_777_216,
  faultsMax: 5,
} as const

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
    const range = readRange(text)
    const fault = range === null ? notARange : widthFault(range)
    rangeCount += 1
    if (range !== null && fault === null) ranges.push(range)
    else if (faults.length < networkListLimits.faultsMax) faults.push(`line ${index + 1} ${fault}`)
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
