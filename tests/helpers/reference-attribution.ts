// The rules of "What counts", "Identity" and "Attribution" said once more, in plain loops. The SQL
// of the warehouse is compared with this file, so it shares no code with the product and prefers
// being obviously right to being fast. Every decision beyond the rules is marked "Decision:".
import { isbot } from 'isbot'

import { isBelieved } from './believed.ts'
import type {
  History,
  HistoryAd,
  HistoryDelivery,
  HistoryEvent,
  HistoryLine,
  HistoryReturn,
} from './history.ts'

export type Profile = 'CLK_14_DAYS' | 'IMP_1_DAY' | 'IMP_1_DAY_CLK_14_DAYS'

export interface Credit {
  readonly servedAdId: string
  readonly rule: 'direct' | 'in-group' | 'view'
  readonly touchedAtMs: number
}

export interface LineResult {
  readonly lineIndex: number
  readonly outOfRange: boolean
  /** The units bought, less those taken back. */
  readonly quantity: number
  readonly valueNanos: bigint
  readonly credits: Record<Profile, Credit | null>
}

export interface PurchaseResult {
  readonly publisherId: number
  readonly transactionId: string
  /** The delivery that won. */
  readonly deliveryId: string
  readonly receivedAtMs: number
  readonly lines: LineResult[]
}

export interface CountedEvent {
  readonly servedAdId: string
  readonly kind: 'impression' | 'click' | 'load'
  readonly receivedAtMs: number
}

export interface ReferenceRow {
  readonly gtinKey: string
  readonly marketId: number
  readonly publisherId: number
  readonly campaignId: number
  readonly adGroupId: number
  /** Null without `dateBreakdown`. */
  readonly day: string | null
  readonly loads: number
  readonly impressions: number
  readonly clicks: number
  readonly conversions: number
  /** Purchases of which the row holds the first line that is credited to the advertiser. */
  readonly orders: number
  readonly unitsSold: bigint
  readonly conversionValueNanos: bigint
  readonly adSpendNanos: bigint
}

export interface ReportOptions {
  readonly profile: Profile
  readonly advertiserId: number
  /** The ISO date of an instant in the market's time zone. */
  readonly dayOf: (marketId: number, ms: number) => string
  readonly fromDay: string
  readonly toDay: string
  readonly dateBreakdown: boolean
  readonly crowdMax?: number
  /** Which ads pass the filters of the report; absent: all. */
  readonly isShown?: (ad: HistoryAd) => boolean
}

type Verdict = 'counted' | 'expired' | 'early' | 'bot' | 'prefetch'

/** A row that is still being added up. */
type OpenRow = { -readonly [Column in keyof ReferenceRow]: ReferenceRow[Column] }

/** The ids by which a purchase or a touch is joined; null is no identity. */
interface Identity {
  readonly user: string | null
  readonly login: string | null
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const NANOS_PER_UNIT = 1_000_000_000n
const NANOS_PER_MICRO = 1_000n

const limits = {
  earlyMsMax: 5 * MINUTE_MS,
  loadAgeMsMax: 24 * HOUR_MS,
  impressionAgeMsMax: 24 * HOUR_MS,
  clickAgeMsMax: 7 * 24 * HOUR_MS,
  clickWindowMs: 14 * 24 * HOUR_MS,
  viewWindowMs: 24 * HOUR_MS,
  crowdWindowMs: 15 * 24 * HOUR_MS,
  crowdMax: 5_000,
  lineValueNanosMax: 10n ** 12n * NANOS_PER_UNIT,
}

/** One result per purchase with a winner, sorted by the winner's delivery id. */
export function attributeHistory(
  history: History,
  options: { crowdMax?: number } = {}
): PurchaseResult[] {
  const touches = countedEvents(history).filter((event) => event.kind !== 'load')
  const crowdMax = options.crowdMax ?? limits.crowdMax

  return winningDeliveries(history)
    .map((delivery) =>
      attributePurchase(delivery, { touches, crowdMax, taken: takenUnits(history, delivery) })
    )
    .toSorted((one, other) => compareText(one.deliveryId, other.deliveryId))
}

/** The events that count, at most once per served ad and kind, sorted by served ad id and kind. */
export function countEvents(history: History): CountedEvent[] {
  return countedEvents(history)
    .map(({ ad, kind, receivedAtMs }) => ({ servedAdId: ad.servedAdId, kind, receivedAtMs }))
    .toSorted(
      (one, other) =>
        compareText(one.servedAdId, other.servedAdId) || compareText(one.kind, other.kind)
    )
}

/** Decision: an event that breaks several rules is a bot first, then a prefetch, then early or expired. */
export function verdictOf(event: HistoryEvent): Verdict {
  // A missing user agent counts, so an empty one is never asked about.
  if (event.userAgent !== '' && isbot(event.userAgent)) return 'bot'
  if (event.prefetch) return 'prefetch'

  // Exactly five minutes before serving still counts, and so does the last instant of the window.
  const ageMs = event.receivedAtMs - event.ad.servedAtMs
  if (ageMs < -limits.earlyMsMax) return 'early'
  if (event.kind === 'click' && ageMs > limits.clickAgeMsMax) return 'expired'
  if (event.kind === 'impression' && ageMs > limits.impressionAgeMsMax) return 'expired'
  if (event.kind === 'load' && ageMs > limits.loadAgeMsMax) return 'expired'
  return 'counted'
}

/**
 * The advertiser's rows, sorted by all dimensions. All money must be in one currency: no conversion
 * of currencies happens here. Only rows with a counted event or a credited line exist.
 */
export function referenceReport(history: History, options: ReportOptions): ReferenceRow[] {
  const rows = new Map<string, OpenRow>()
  const isAsked = (ad: HistoryAd): boolean =>
    ad.advertiserId === options.advertiserId && (options.isShown?.(ad) ?? true)
  const rowOf = (ad: HistoryAd, atMs: number): OpenRow | undefined => {
    const day = options.dayOf(ad.marketId, atMs)
    if (!isAsked(ad)) return undefined
    if (day < options.fromDay || day > options.toDay) return undefined
    const fresh = emptyRow(ad, options.dateBreakdown ? day : null)
    const key = rowKey(fresh)
    const row = rows.get(key) ?? fresh
    rows.set(key, row)
    return row
  }

  for (const { ad, kind, receivedAtMs } of countedEvents(history)) {
    const row = rowOf(ad, receivedAtMs)
    if (row === undefined) continue
    if (kind === 'load') row.loads += 1
    if (kind === 'impression') {
      row.impressions += 1
      // A thousandth of the mille price: micros / 1000 is as many nanos as there are micros.
      row.adSpendNanos += ad.costPerMilleMicros
    }
    if (kind === 'click') {
      row.clicks += 1
      row.adSpendNanos += ad.costPerClickMicros * NANOS_PER_MICRO
    }
  }

  for (const purchase of attributeHistory(history, crowdOption(options))) {
    const creditedRows = new Set<string>()
    const lines = creditedLines(history, purchase, options.profile)
    // Decision: of the lines of every market that pass the filters, also outside the days asked for.
    const first = lines.find(({ ad }) => isAsked(ad))
    for (const line of lines) {
      const { quantity, valueNanos, ad } = line
      const row = rowOf(ad, purchase.receivedAtMs)
      if (row === undefined) continue
      row.unitsSold += BigInt(quantity)
      row.conversionValueNanos += valueNanos
      if (!creditedRows.has(rowKey(row))) row.conversions += 1
      if (line === first) row.orders += 1
      creditedRows.add(rowKey(row))
    }
  }

  return [...rows.entries()]
    .toSorted(([one], [other]) => compareText(one, other))
    .map(([, row]) => row)
}

/** The shortest decimal text of the double, rounded half even to 9 digits. */
export function priceNanos(price: number): bigint {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(price))
  if (match === null) throw new Error(`a price must be finite, got ${price}`)
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match

  const digits = BigInt(whole + fraction)
  const shift = 9 + Number(exponent) - fraction.length
  const nanos = shift >= 0 ? digits * 10n ** BigInt(shift) : divideHalfEven(digits, -shift)
  return sign === '-' ? -nanos : nanos
}

function divideHalfEven(digits: bigint, decimals: number): bigint {
  const divisor = 10n ** BigInt(decimals)
  const quotient = digits / divisor
  const twiceRest = (digits % divisor) * 2n
  if (twiceRest > divisor) return quotient + 1n
  if (twiceRest === divisor && quotient % 2n === 1n) return quotient + 1n
  return quotient
}

/** The earliest valid event of each publisher's served ad and kind: a repeat is never a second event. */
function countedEvents(history: History): HistoryEvent[] {
  const earliest = new Map<string, HistoryEvent>()
  for (const event of history.events) {
    if (verdictOf(event) !== 'counted') continue
    const key = `${event.ad.publisherId} ${event.ad.servedAdId} ${event.kind}`
    const known = earliest.get(key)
    if (known === undefined || event.receivedAtMs < known.receivedAtMs) earliest.set(key, event)
  }
  return [...earliest.values()]
}

/** The earliest delivery of each purchase that is believed, if there is one. */
function winningDeliveries(history: History): HistoryDelivery[] {
  const winners = new Map<string, HistoryDelivery>()
  for (const delivery of history.deliveries) {
    if (!isBelieved(delivery)) continue
    const key = purchaseKey(delivery)
    const known = winners.get(key)
    if (known === undefined || isEarlierDelivery(delivery, known)) winners.set(key, delivery)
  }
  return [...winners.values()]
}

/** Decision: a whitespace-only transaction id identifies no transaction, like an empty one. */
function purchaseKey(delivery: HistoryDelivery): string {
  const isBlank = delivery.transactionId.trim() === ''
  return isBlank
    ? JSON.stringify(['delivery', delivery.deliveryId])
    : JSON.stringify(['transaction', delivery.publisherId, delivery.transactionId])
}

/** Decision: of two deliveries of one millisecond the one with the least id is the earlier. */
function isEarlierDelivery(one: Received, other: Received): boolean {
  if (one.receivedAtMs !== other.receivedAtMs) return one.receivedAtMs < other.receivedAtMs
  return one.deliveryId < other.deliveryId
}

type Received = Pick<HistoryDelivery, 'receivedAtMs' | 'deliveryId'>

/**
 * Units that returns take from each line. Every return takes, product by product, from the first lines
 * that still have some; what nobody bought, or bought no more of, is taken from nobody.
 */
function takenUnits(history: History, delivery: HistoryDelivery): readonly number[] {
  const left = delivery.lines.map((line) => (isAttributable(line) ? line.quantity : 0))
  for (const { lines } of validReturns(history, delivery)) {
    for (const { gtin, quantity } of lines) {
      let wanted = quantity
      for (const [index, line] of delivery.lines.entries()) {
        if (gtinKeyOf(line.gtin) !== gtinKeyOf(gtin)) continue
        const units = Math.min(wanted, left[index] ?? 0)
        left[index] = (left[index] ?? 0) - units
        wanted -= units
      }
    }
  }
  return delivery.lines.map((line, index) =>
    isAttributable(line) ? line.quantity - (left[index] ?? 0) : 0
  )
}

/** The earliest delivery of each return of the purchase that is believed. */
function validReturns(history: History, purchase: HistoryDelivery): HistoryReturn[] {
  const earliest = new Map<string, HistoryReturn>()
  // Decision: nothing takes back from a transaction without a name.
  if (purchase.transactionId.trim() === '') return []
  for (const one of history.returns) {
    if (one.publisherId !== purchase.publisherId) continue
    if (one.transactionId !== purchase.transactionId || !isBelieved(one)) continue
    const known = earliest.get(one.returnId)
    if (known === undefined || isEarlierDelivery(one, known)) earliest.set(one.returnId, one)
  }
  return [...earliest.values()]
}

interface Surroundings {
  readonly touches: readonly HistoryEvent[]
  readonly crowdMax: number
  readonly taken: readonly number[]
}

function attributePurchase(
  delivery: HistoryDelivery,
  { touches, crowdMax, taken }: Surroundings
): PurchaseResult {
  const buyer = buyerOf(delivery, touches, crowdMax)
  const ownTouches = touches.filter(
    (touch) =>
      touch.ad.publisherId === delivery.publisherId && isSamePerson(buyer, identityOf(touch.ad))
  )
  return {
    publisherId: delivery.publisherId,
    transactionId: delivery.transactionId,
    deliveryId: delivery.deliveryId,
    receivedAtMs: delivery.receivedAtMs,
    lines: delivery.lines.map((line, lineIndex) => {
      const quantity = line.quantity - (taken[lineIndex] ?? 0)
      return {
        lineIndex,
        outOfRange: isOutOfRange(line),
        quantity,
        valueNanos: priceNanos(line.price) * BigInt(quantity),
        credits: creditsOf(line, delivery.receivedAtMs, ownTouches),
      }
    }),
  }
}

function creditsOf(
  line: HistoryLine,
  purchasedAtMs: number,
  touches: readonly HistoryEvent[]
): Record<Profile, Credit | null> {
  const candidates = isAttributable(line)
    ? touches.flatMap((touch) => candidateOf(line, purchasedAtMs, touch) ?? [])
    : []
  const click = best(candidates.filter((candidate) => candidate.rule !== 'view'))
  const view = best(candidates.filter((candidate) => candidate.rule === 'view'))
  return { CLK_14_DAYS: click, IMP_1_DAY: view, IMP_1_DAY_CLK_14_DAYS: click ?? view }
}

/** Decision: an empty GTIN is no product, so its line is not attributed even within its group. */
function isAttributable(line: HistoryLine): boolean {
  return !isOutOfRange(line) && gtinKeyOf(line.gtin) !== ''
}

function candidateOf(line: HistoryLine, purchasedAtMs: number, touch: HistoryEvent): Credit | null {
  const elapsedMs = purchasedAtMs - touch.receivedAtMs
  const isSameProduct = gtinKeyOf(touch.ad.gtin) === gtinKeyOf(line.gtin)
  const isSameGroup = line.groupId !== '' && touch.ad.groupId === line.groupId
  const { receivedAtMs: touchedAtMs } = touch
  const { servedAdId } = touch.ad

  if (elapsedMs < 0) return null
  if (touch.kind === 'click' && elapsedMs <= limits.clickWindowMs) {
    if (isSameProduct) return { servedAdId, touchedAtMs, rule: 'direct' }
    if (isSameGroup) return { servedAdId, touchedAtMs, rule: 'in-group' }
  }
  if (touch.kind === 'impression' && elapsedMs <= limits.viewWindowMs && isSameProduct) {
    return { servedAdId, touchedAtMs, rule: 'view' }
  }
  return null
}

function best(candidates: readonly Credit[]): Credit | null {
  let winner: Credit | null = null
  for (const candidate of candidates) {
    if (winner === null || isBetter(candidate, winner)) winner = candidate
  }
  return winner
}

/** Direct before in-group, then the latest, then the greater served ad id. */
function isBetter(one: Credit, other: Credit): boolean {
  if (one.rule !== other.rule) return one.rule === 'direct'
  if (one.touchedAtMs !== other.touchedAtMs) return one.touchedAtMs > other.touchedAtMs
  return one.servedAdId > other.servedAdId
}

/**
 * Decision: only an id of the purchase is asked whether it is a crowd, counted to the instant of
 * the purchase; as a crowd it is absent, so it neither joins nor makes two different logins.
 */
function buyerOf(
  delivery: HistoryDelivery,
  touches: readonly HistoryEvent[],
  crowdMax: number
): Identity {
  // Decision: both ends of the fifteen days are inclusive, as the ends of all windows are.
  const recent = touches.filter((touch) => {
    const elapsedMs = delivery.receivedAtMs - touch.receivedAtMs
    const isRecent = elapsedMs >= 0 && elapsedMs <= limits.crowdWindowMs
    return isRecent && touch.ad.publisherId === delivery.publisherId
  })
  const { user, login } = identityOf(delivery)
  const userCount = recent.filter((touch) => identityOf(touch.ad).user === user).length
  const loginCount = recent.filter((touch) => identityOf(touch.ad).login === login).length
  return {
    user: userCount > crowdMax ? null : user,
    login: loginCount > crowdMax ? null : login,
  }
}

function identityOf(source: HistoryAd | HistoryDelivery): Identity {
  return {
    user: isPlaceholder(source.userId) ? null : source.userId,
    login: isPlaceholder(source.userLoggedInId) ? null : source.userLoggedInId,
  }
}

function isSamePerson(one: Identity, other: Identity): boolean {
  if (one.login !== null && other.login !== null) {
    // Two different logins on one device are two people, whatever the device says.
    return one.login === other.login
  }
  return one.user !== null && one.user === other.user
}

/** Decision: the words are compared whole, without trimming; a nil UUID is the hyphenated form. */
function isPlaceholder(id: string): boolean {
  const words = ['', 'undefined', 'null', 'none', '0', '-1', 'anonymous', 'guest', 'unknown']
  return [...words, '00000000-0000-0000-0000-000000000000'].includes(id.toLowerCase())
}

/** The text by which products are equal; '' for no product. */
function gtinKeyOf(gtin: string): string {
  const trimmed = gtin.replace(/^[\t\n\v\f\r ]+|[\t\n\v\f\r ]+$/g, '')
  const isGtin = /^(\d{8}|\d{12}|\d{13}|\d{14})$/.test(trimmed)
  return isGtin ? trimmed.padStart(14, '0') : trimmed
}

/** Decision: a price of -0 is a price of 0, and the value is compared exactly, not as a double. */
function isOutOfRange(line: HistoryLine): boolean {
  if (line.quantity <= 0 || line.price < 0) return true
  return lineValueNanos(line) > limits.lineValueNanosMax
}

function lineValueNanos(line: HistoryLine): bigint {
  return priceNanos(line.price) * BigInt(line.quantity)
}

function creditedLines(
  history: History,
  purchase: PurchaseResult,
  profile: Profile
): { quantity: number; valueNanos: bigint; ad: HistoryAd }[] {
  return purchase.lines.flatMap(({ quantity, valueNanos, credits }) => {
    const servedAdId = credits[profile]?.servedAdId
    const ad = history.events
      .map((event) => event.ad)
      .find((one) => one.servedAdId === servedAdId && one.publisherId === purchase.publisherId)
    return ad === undefined ? [] : [{ quantity, valueNanos, ad }]
  })
}

function emptyRow(ad: HistoryAd, day: string | null): OpenRow {
  const { marketId, publisherId, campaignId, adGroupId } = ad
  return {
    gtinKey: gtinKeyOf(ad.gtin),
    marketId,
    publisherId,
    campaignId,
    adGroupId,
    day,
    loads: 0,
    impressions: 0,
    clicks: 0,
    conversions: 0,
    orders: 0,
    unitsSold: 0n,
    conversionValueNanos: 0n,
    adSpendNanos: 0n,
  }
}

function rowKey(row: ReferenceRow): string {
  const numbers = [row.marketId, row.publisherId, row.campaignId, row.adGroupId]
  const padded = numbers.map((id) => String(id).padStart(16, '0'))
  return [row.gtinKey, ...padded, row.day ?? ''].join('\0')
}

function crowdOption(options: ReportOptions): { crowdMax?: number } {
  return options.crowdMax === undefined ? {} : { crowdMax: options.crowdMax }
}

function compareText(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}
