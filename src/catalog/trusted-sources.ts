import { isIP, type BlockList } from 'node:net'
import type { PublisherEntry } from '../contract/catalog-bundle.ts'
import { buildSourceList } from './source-range.ts'
import type { Origin } from '../spool/record.ts'
import type { CatalogSnapshot } from './snapshot.ts'

// By entry: a snapshot shares the entries that did not change with the one before it, so a list is
// built once per change of its publisher. It is a pure function of the entry, and goes with it.
const listsByPublisher = new WeakMap<PublisherEntry, BlockList>()

/**
 * Whether a delivery of the publisher may come from there. A publisher without a list (or with an empty
 * one) trusts every sender. A sender whose address is not known satisfies no list: to break off the
 * connection is in everybody's power.
 */
export function isTrustedSource(
  snapshot: CatalogSnapshot,
  publisherId: number,
  origin: Origin
): boolean {
  if (origin.kind === 'backfill') return true
  const publisher = snapshot.publishers.get(publisherId)
  const ranges = publisher?.conversionSources ?? []
  if (publisher === undefined || ranges.length === 0) return true

  // A zone (`fe80::1%eth0`) says which interface, not which host.
  const [host = ''] = (origin.address ?? '').split('%')
  const version = isIP(host)
  // An IPv4 address in IPv6 spelling matches IPv4 ranges: the list sees to that.
  return version !== 0 && listOf(publisher, ranges).check(host, version === 4 ? 'ipv4' : 'ipv6')
}

function listOf(publisher: PublisherEntry, ranges: readonly string[]): BlockList {
  const known = listsByPublisher.get(publisher)
  if (known !== undefined) return known
  const built = buildSourceList(ranges)
  listsByPublisher.set(publisher, built)
  return built
}
