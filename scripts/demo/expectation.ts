// The figures that the reports must show for the events of a demo run, worked out from the rules in plain integers
// and without one line of the service. It takes events in any order and trusts their instants, so the
// run has to keep events whose order matters apart.
import { nanosOf } from './decimal.ts'
import {
  isInRange,
  productKey,
  salesOf,
  type Delivery,
  type PurchaseLine,
  type Return,
  type Sale,
} from './sales.ts'

export type AdEventKind = 'load' | 'impression' | 'click'

/** Who asked: a person counts, the others are answered and do not. A probe is a HEAD request. */
export type Visitor = 'person' | 'bot' | 'prefetch' | 'probe'

export interface ServedAd {
  readonly servedAdId: string
  readonly servedAtMs: number
  readonly publisherId: number
  readonly marketId: number
  readonly advertiserId: number
  readonly campaignId: number
  readonly adGroupId: number
  readonly gtin: string
  readonly groupId?: string
  readonly userId: string
  readonly userLoggedInId?: string
  readonly costPerClick: string
  readonly costPerMille: string
}

export interface AdFire {
  readonly kind: AdEventKind
  readonly ad: ServedAd
  readonly atMs: number
  readonly visitor: Visitor
}

export const profiles = ['IMP_1_DAY_CLK_14_DAYS', 'IMP_1_DAY', 'CLK_14_DAYS'] as const

export type Profile = (typeof profiles)[number]

interface RowKey {
  readonly advertiserId: number
  readonly marketId: number
  readonly publisherId: number
  readonly campaignId: number
  readonly adGroupId: number
  /** Spelled as by `productKey`. */
  readonly product: string
}

interface Figures {
  loads: number
  impressions: number
  clicks: number
  conversions: number
  units: number
  valueNanos: bigint
  spendNanos: bigint
}

export type ExpectedRow = RowKey & Readonly<Figures>

export interface Happened {
  readonly fires: readonly AdFire[]
  readonly deliveries: readonly Delivery[]
  readonly returns: readonly Return[]
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs

const windows = {
  earlyMs: 5 * 60_000,
  viewedMs: dayMs,
  clickedMs: 7 * dayMs,
  viewCreditMs: dayMs,
  clickCreditMs: 14 * dayMs,
} as const

/** Every row with at least one counted event, for each profile, in no particular order. */
export function expectReports(happened: Happened): ReadonlyMap<Profile, readonly ExpectedRow[]> {
  const counted = countedFires(happened.fires)
  const touches = touchesByIdentity(counted)
  const sales = salesOf(happened)

  const reports = new Map<Profile, readonly ExpectedRow[]>()
  for (const profile of profiles) {
    const rows = new Rows()
    for (const fire of counted) addFire(rows.of(fire.ad), fire)
    for (const purchase of sales) credit(rows, { purchase, profile, touches })
    reports.set(profile, rows.all())
  }
  return reports
}

class Rows {
  readonly #rows = new Map<string, RowKey & Figures>()

  of(ad: ServedAd): Figures {
    const { advertiserId, marketId, publisherId, campaignId, adGroupId } = ad
    const product = productKey(ad.gtin)
    const key = { advertiserId, marketId, publisherId, campaignId, adGroupId, product }
    const name = JSON.stringify(key)
    const row = this.#rows.get(name) ?? { ...key, ...noFigures() }
    this.#rows.set(name, row)
    return row
  }

  all(): readonly ExpectedRow[] {
    return [...this.#rows.values()]
  }
}

function noFigures(): Figures {
  return {
    loads: 0,
    impressions: 0,
    clicks: 0,
    conversions: 0,
    units: 0,
    valueNanos: 0n,
    spendNanos: 0n,
  }
}

/** At most one load, impression and click per served ad: the earliest that is valid. */
function countedFires(fires: readonly AdFire[]): readonly AdFire[] {
  const earliest = new Map<string, AdFire>()
  for (const fire of fires) {
    if (!isValid(fire)) continue
    const key = `${fire.kind} ${fire.ad.servedAdId}`
    const known = earliest.get(key)
    if (known === undefined || fire.atMs < known.atMs) earliest.set(key, fire)
  }
  return [...earliest.values()]
}

function isValid({ visitor, kind, ad, atMs }: AdFire): boolean {
  if (visitor !== 'person') return false
  const ageMs = atMs - ad.servedAtMs
  return -windows.earlyMs <= ageMs && ageMs <= windowMs(kind)
}

function windowMs(kind: AdEventKind): number {
  return kind === 'click' ? windows.clickedMs : windows.viewedMs
}

function addFire(row: Figures, { kind, ad }: AdFire): void {
  switch (kind) {
    case 'load':
      row.loads += 1
      return
    case 'impression':
      row.impressions += 1
      row.spendNanos += nanosOf(ad.costPerMille) / 1000n // Six digits at most: the division is exact.
      return
    case 'click':
      row.clicks += 1
      row.spendNanos += nanosOf(ad.costPerClick)
  }
}

interface Person {
  readonly publisherId: number
  readonly userId: string
  readonly userLoggedInId?: string
}

const placeholders = new Set(
  ['', 'undefined', 'null', 'none', '0', '-1', 'anonymous', 'guest', 'unknown'].concat([
    '00000000-0000-0000-0000-000000000000',
  ])
)

function identityOf(id: string | undefined): string | null {
  return id === undefined || placeholders.has(id.toLowerCase()) ? null : id
}

function isSamePerson(one: Person, other: Person): boolean {
  if (one.publisherId !== other.publisherId) return false
  const logins = [identityOf(one.userLoggedInId), identityOf(other.userLoggedInId)] as const
  if (logins[0] !== null && logins[1] !== null) return logins[0] === logins[1]

  const userId = identityOf(one.userId)
  return userId !== null && userId === identityOf(other.userId)
}

function identityKeys(person: Person): readonly string[] {
  const userId = identityOf(person.userId)
  const login = identityOf(person.userLoggedInId)
  return [
    ...(userId === null ? [] : [`${person.publisherId} user ${userId}`]),
    ...(login === null ? [] : [`${person.publisherId} login ${login}`]),
  ]
}

type Touches = ReadonlyMap<string, readonly AdFire[]>

function touchesByIdentity(counted: readonly AdFire[]): Touches {
  const touches = new Map<string, AdFire[]>()
  for (const fire of counted) {
    if (fire.kind === 'load') continue
    for (const key of identityKeys(fire.ad)) {
      const known = touches.get(key)
      if (known === undefined) touches.set(key, [fire])
      else known.push(fire)
    }
  }
  return touches
}

interface Crediting {
  readonly purchase: Sale
  readonly profile: Profile
  readonly touches: Touches
}

function credit(rows: Rows, { purchase, profile, touches }: Crediting): void {
  const near = new Set(identityKeys(purchase).flatMap((key) => touches.get(key) ?? []))
  const own = [...near].filter((touch) => isSamePerson(touch.ad, purchase))

  const credited = new Set<Figures>()
  for (const [index, line] of purchase.lines.entries()) {
    const units = purchase.units[index] ?? 0
    const winner = isInRange(line) ? winnerOf({ line, profile, purchase, own }) : null
    if (winner === null) continue
    const row = rows.of(winner.ad)
    row.units += units
    row.valueNanos += nanosOf(line.price) * BigInt(units)
    credited.add(row)
  }
  for (const row of credited) row.conversions += 1
}

interface Contest {
  readonly line: PurchaseLine
  readonly profile: Profile
  readonly purchase: Delivery
  readonly own: readonly AdFire[]
}

function winnerOf(contest: Contest): AdFire | null {
  switch (contest.profile) {
    case 'CLK_14_DAYS':
      return bestClick(contest)
    case 'IMP_1_DAY':
      return bestView(contest)
    case 'IMP_1_DAY_CLK_14_DAYS':
      return bestClick(contest) ?? bestView(contest)
  }
}

function bestClick({ line, purchase, own }: Contest): AdFire | null {
  const clicks = own.filter(
    (touch) => touch.kind === 'click' && isWithin(purchase.atMs - touch.atMs, windows.clickCreditMs)
  )
  const direct = latest(clicks.filter((touch) => isSameProduct(touch.ad, line)))
  return direct ?? latest(clicks.filter((touch) => isSameGroup(touch.ad, line)))
}

function bestView({ line, purchase, own }: Contest): AdFire | null {
  return latest(
    own.filter(
      (touch) =>
        touch.kind === 'impression' &&
        isWithin(purchase.atMs - touch.atMs, windows.viewCreditMs) &&
        isSameProduct(touch.ad, line)
    )
  )
}

function isWithin(elapsedMs: number, windowMsMax: number): boolean {
  return 0 <= elapsedMs && elapsedMs <= windowMsMax
}

function isSameProduct(ad: ServedAd, line: PurchaseLine): boolean {
  return productKey(ad.gtin) === productKey(line.gtin)
}

function isSameGroup(ad: ServedAd, line: PurchaseLine): boolean {
  return ad.groupId !== undefined && ad.groupId !== '' && ad.groupId === line.groupId
}

function latest(touches: readonly AdFire[]): AdFire | null {
  let best: AdFire | null = null
  for (const touch of touches) {
    if (best === null || isLater(touch, best)) best = touch
  }
  return best
}

/** The hexadecimal text of an id sorts like its bytes. */
function isLater(one: AdFire, other: AdFire): boolean {
  if (one.atMs !== other.atMs) return one.atMs > other.atMs
  return one.ad.servedAdId > other.ad.servedAdId
}
