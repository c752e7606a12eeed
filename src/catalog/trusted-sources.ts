// The addresses from which a publisher's conversions and returns may come.
import { isIP } from 'node:net'
import { createSearch, notARange, readRange, widthFault } from '../lib/address-ranges.ts'

type Search = (address: string) => boolean

// A snapshot shares the entries that did not change with the one before it, so a search is built once per
// change of its publisher and goes with it.
const searchesByRanges = new WeakMap<readonly string[], Search>()

/**
 * Whether the address is in one of the ranges. An unknown address is in none, since any sender can hide
 * theirs by breaking off the connection.
 */
export function isFromSources(ranges: readonly string[], address: string | null): boolean {
  return address !== null && isIP(address) !== 0 && searchOf(ranges)(address)
}

function searchOf(ranges: readonly string[]): Search {
  const known = searchesByRanges.get(ranges)
  if (known !== undefined) return known
  const search = createSearch(ranges.map(readRange).filter((range) => range !== null))
  searchesByRanges.set(ranges, search)
  return search
}

/** The fault of a range in a list of senders, or null. */
export function sourceRangeFault(text: string): string | null {
  const range = readRange(text)
  if (range === null) return notARange
  const fault = widthFault(range)
  return fault === null
    ? null
    : `${fault}, which nearly everybody is in; leave the list empty to trust every sender`
}
