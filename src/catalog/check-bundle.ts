// Checks whether a bundle may be taken as a whole. All faults are found at once, so that an operator fixes
// a bundle only once; each names its place and the ids. Nothing here changes anything.
import type {
  AdvertiserEntry,
  AssetEntry,
  CatalogBundle,
  MarketEntry,
  PublisherEntry,
} from '../contract/catalog-bundle.ts'
import { parseCurrency } from '../domain/currency.ts'
import { isTimeZone } from '../domain/day.ts'
import { gtinKey } from '../domain/gtin.ts'
import { codeFault } from '../domain/product-code.ts'
import { checkAttached } from './check-attached.ts'
import { landingHostFault } from './landing-hosts.ts'
import { extendSnapshot, type CatalogSnapshot } from './snapshot.ts'
import { sourceRangeFault } from './trusted-sources.ts'

/** Resolves with those of the given markets that have events. */
export type MarketHasEvents = (marketIds: readonly number[]) => Promise<ReadonlySet<number>>

/** A bundle of 64 MiB can hold a million faults; an answer of a thousand is one people still read. */
export const faultsMax = 1_000

/** Every fault of a normalized bundle, at most `faultsMax` and one line that counts the rest. */
export async function checkBundle(
  bundle: CatalogBundle,
  snapshot: CatalogSnapshot,
  marketHasEvents: MarketHasEvents
): Promise<readonly string[]> {
  const check = new BundleCheck(bundle, snapshot)
  check.run()
  await checkMarketChanges(check, marketHasEvents)
  return check.messages()
}

class BundleCheck {
  readonly bundle: CatalogBundle
  readonly before: CatalogSnapshot
  /** The catalog with the bundle: references may point into the bundle itself. */
  readonly after: CatalogSnapshot
  readonly #messages: string[] = []
  #faultCount = 0

  /** Ids of the markets by what a report or a filter may call them, in lower case. */
  readonly #marketsByName = new Map<string, number[]>()

  constructor(bundle: CatalogBundle, before: CatalogSnapshot) {
    this.bundle = bundle
    this.before = before
    this.after = extendSnapshot(before, bundle)
    for (const { id, code } of this.after.markets.values()) {
      for (const name of new Set([String(id), nameKey(code)])) {
        const ids = this.#marketsByName.get(name)
        if (ids === undefined) this.#marketsByName.set(name, [id])
        else ids.push(id)
      }
    }
  }

  fault(path: string, rule: string): void {
    this.#faultCount += 1
    if (this.#messages.length < faultsMax) this.#messages.push(`${path} ${rule}`)
  }

  messages(): readonly string[] {
    const moreCount = this.#faultCount - this.#messages.length
    return moreCount === 0 ? this.#messages : [...this.#messages, `and ${moreCount} more faults`]
  }

  run(): void {
    const { markets, publishers, advertisers, creativeSizes, assets } = this.bundle
    this.#each('/markets', markets, (entry, path) => checkMarket(this, entry, path))
    this.#each('/publishers', publishers, (entry, path) => checkPublisher(this, entry, path))
    this.#each('/advertisers', advertisers, (entry, path) => checkAdvertiser(this, entry, path))
    this.#runCampaigns()
    this.#runProducts()
    this.unrepeated('/creativeSizes', creativeSizes ?? [], idOf)
    this.#each('/assets', assets, (entry, path) => checkAsset(this, entry, path))
    checkAttached(this.bundle, this.before, (path, rule) => this.fault(path, rule))
  }

  #runCampaigns(): void {
    this.#each('/campaigns', this.bundle.campaigns, ({ id, advertiserId }, path) => {
      this.known('advertiser', advertiserId, `${path}/advertiserId`)
      const owner = this.before.campaigns.get(id)?.advertiserId
      this.kept(owner, advertiserId, `${path}/advertiserId`)
    })
    this.#each('/adGroups', this.bundle.adGroups, ({ id, campaignId }, path) => {
      this.known('campaign', campaignId, `${path}/campaignId`)
      const owner = this.before.adGroups.get(id)?.campaignId
      this.kept(owner, campaignId, `${path}/campaignId`)
    })
  }

  #runProducts(): void {
    this.#each(
      '/products',
      this.bundle.products,
      ({ marketId, gtin, title, groupId = '' }, path) => {
        this.known('market', marketId, `${path}/marketId`)
        const gtinFault = gtinKey(gtin) === '' ? 'must not be blank' : codeFault(gtin.trim())
        if (gtinFault !== null) this.fault(`${path}/gtin`, gtinFault)
        const groupFault = groupId.trim() === '' ? null : codeFault(groupId.trim())
        if (groupFault !== null) this.fault(`${path}/groupId`, groupFault)
        if (title.trim() === '') this.fault(`${path}/title`, 'must not be blank')
      },
      ({ marketId, gtin }) => `${marketId}/${gtinKey(gtin)}`
    )
  }

  known(what: 'market' | 'publisher' | 'advertiser' | 'campaign', id: number, path: string): void {
    const maps = {
      market: this.after.markets,
      publisher: this.after.publishers,
      advertiser: this.after.advertisers,
      campaign: this.after.campaigns,
    }
    if (!maps[what].has(id)) this.fault(path, `${id} is no known ${what}`)
  }

  /** Past events belong to the owner of their time; a new owner would take them over. */
  kept(before: number | undefined, now: number, path: string): void {
    if (before !== undefined && before !== now) {
      this.fault(path, `must stay ${before}: it never changes`)
    }
  }

  /** Reports tell markets apart by their codes, and filters take a code or an id. */
  distinctMarket({ id, code }: MarketEntry, path: string): void {
    if (nameKey(code) === '') this.fault(path, 'must not be blank')
    if (this.before.markets.get(id)?.code === code) return
    const other = this.#marketsByName.get(nameKey(code))?.find((one) => one !== id)
    if (other !== undefined) this.fault(path, `must not be the code or the id of market ${other}`)
  }

  #each<E>(
    list: string,
    entries: readonly E[] | undefined,
    checkEntry: (entry: E, path: string) => void,
    keyOf: (entry: E) => unknown = idOf
  ): void {
    for (const [index, entry] of (entries ?? []).entries()) checkEntry(entry, `${list}/${index}`)
    this.unrepeated(list, entries ?? [], keyOf)
  }

  unrepeated<E>(list: string, entries: readonly E[], keyOf: (entry: E) => unknown): void {
    const firstIndexes = new Map<unknown, number>()
    for (const [index, entry] of entries.entries()) {
      const key = keyOf(entry)
      const firstIndex = firstIndexes.get(key)
      if (firstIndex === undefined) firstIndexes.set(key, index)
      else this.fault(`${list}/${index}`, `repeats ${list}/${firstIndex}`)
    }
  }
}

function idOf(entry: unknown): unknown {
  return typeof entry === 'object' && entry !== null && 'id' in entry ? entry.id : entry
}

function nameKey(code: string): string {
  return code.trim().toLowerCase()
}

function checkMarket(check: BundleCheck, market: MarketEntry, path: string): void {
  check.distinctMarket(market, `${path}/code`)
  // A currency may have ended since the market was made, and cannot be changed.
  const isKnown = check.before.markets.get(market.id)?.currency === market.currency
  if (!isKnown && parseCurrency(market.currency) === null) {
    check.fault(`${path}/currency`, 'must be an active ISO 4217 currency code')
  }
  if (!isTimeZone(market.timeZone)) {
    check.fault(`${path}/timeZone`, 'must be an IANA time zone such as Europe/Berlin')
  }
}

function checkPublisher(check: BundleCheck, publisher: PublisherEntry, path: string): void {
  for (const [index, range] of (publisher.conversionSources ?? []).entries()) {
    const fault = sourceRangeFault(range)
    if (fault !== null) check.fault(`${path}/conversionSources/${index}`, fault)
  }
  for (const [index, host] of (publisher.landingHosts ?? []).entries()) {
    const fault = landingHostFault(host)
    if (fault !== null) check.fault(`${path}/landingHosts/${index}`, fault)
  }
  const sites = publisher.sites ?? []
  check.unrepeated(`${path}/sites`, sites, (site) => site.id)
  for (const [index, site] of sites.entries()) {
    for (const [position, marketId] of site.marketIds.entries()) {
      check.known('market', marketId, `${path}/sites/${index}/marketIds/${position}`)
    }
  }
}

function checkAdvertiser(check: BundleCheck, advertiser: AdvertiserEntry, path: string): void {
  for (const [index, access] of (advertiser.access ?? []).entries()) {
    const accessPath = `${path}/access/${index}`
    check.known('publisher', access.publisherId, `${accessPath}/publisherId`)
    for (const [position, marketId] of access.marketIds.entries()) {
      check.known('market', marketId, `${accessPath}/marketIds/${position}`)
    }
    const publisher = check.after.publishers.get(access.publisherId)
    if (publisher === undefined || access.siteIds === undefined) continue
    const siteIds = new Set(publisher.sites?.map((site) => site.id))
    for (const [position, siteId] of access.siteIds.entries()) {
      if (siteIds.has(siteId)) continue
      const rule = `${siteId} is no known site of publisher ${publisher.id}`
      check.fault(`${accessPath}/siteIds/${position}`, rule)
    }
  }
}

const addressRule = 'must be an absolute http or https address with a host and without credentials'

function checkAsset(check: BundleCheck, asset: AssetEntry, path: string): void {
  check.known('advertiser', asset.advertiserId, `${path}/advertiserId`)
  // An asset with a new owner would stay attached to the ad groups of the old one.
  const owner = check.before.assets.get(asset.id)?.advertiserId
  check.kept(owner, asset.advertiserId, `${path}/advertiserId`)
  if (!isWebAddress(asset.url)) check.fault(`${path}/url`, addressRule)
  if (asset.link !== undefined && !isWebAddress(asset.link)) {
    check.fault(`${path}/link`, addressRule)
  }
}

/**
 * Amounts are stored in the market's currency, and days begin in its time zone, so neither may change once
 * the market has events. The warehouse is asked once for all markets that change, which are mostly none.
 */
async function checkMarketChanges(
  check: BundleCheck,
  marketHasEvents: MarketHasEvents
): Promise<void> {
  const changes = (check.bundle.markets ?? []).flatMap((market, index) => {
    const before = check.before.markets.get(market.id)
    return before === undefined ? [] : [{ market, before, path: `/markets/${index}` }]
  })
  const changed = changes.filter(
    ({ market, before }) =>
      isOther(market.currency, before.currency) || isOther(market.timeZone, before.timeZone)
  )
  if (changed.length === 0) return

  const busy = await marketHasEvents(changed.map(({ market }) => market.id))
  for (const { market, before, path } of changed) {
    if (!busy.has(market.id)) continue
    for (const field of ['currency', 'timeZone'] as const) {
      if (!isOther(market[field], before[field])) continue
      check.fault(`${path}/${field}`, `must stay ${before[field]}: the market has events`)
    }
  }
}

/** Codes and zone names mean the same in any case. */
function isOther(now: string, before: string): boolean {
  return now.toLowerCase() !== before.toLowerCase()
}

/**
 * An absolute http(s) address with a host and without credentials. The service never fetches it, but
 * browsers will: a `javascript:` link or a host that only looks like the advertiser's must not pass.
 */
export function isWebAddress(text: string): boolean {
  // Browsers drop or change these silently, so the address opened would not be the one shown.
  if (/[\p{White_Space}\p{Cc}\p{Cf}\p{Cs}\\]/u.test(text)) return false
  // URL accepts `https:/host` and `https:host`; an address that is absolute spells both slashes.
  if (!/^https?:\/\/[^/?#]/i.test(text) || !URL.canParse(text)) return false
  const { hostname, username, password } = new URL(text)
  const authority = /^https?:\/\/([^/?#]*)/i.exec(text)?.[1] ?? ''
  return hostname !== '' && username === '' && password === '' && !authority.includes('@')
}
