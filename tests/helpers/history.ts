// Small, dense worlds of one publisher for the differential tests of counting and attribution.
// The rules are decided at ties and window ends, so instants come from short lists of corner
// distances and meet far more often than in real traffic.

import type { Receipt } from '../../src/spool/record.ts'
import { createDice, createId, createWorld, spell, spellGroup } from './history-world.ts'
import type { Dice, Person, Product, World } from './history-world.ts'

export interface HistoryAd {
  /** 32 lower-case hex digits; one id never stands for two different ads of a publisher. */
  readonly servedAdId: string
  readonly servedAtMs: number
  readonly publisherId: number
  readonly siteId: number
  readonly marketId: number
  readonly advertiserId: number
  readonly campaignId: number
  readonly adGroupId: number
  readonly gtin: string
  readonly groupId: string
  readonly userId: string
  readonly userLoggedInId: string
  readonly currency: string
  readonly costPerClickMicros: bigint
  readonly costPerMilleMicros: bigint
}

export interface HistoryEvent {
  readonly ad: HistoryAd
  readonly kind: 'impression' | 'click' | 'load'
  readonly receivedAtMs: number
  readonly userAgent: string
  readonly prefetch: boolean
}

export interface HistoryLine {
  readonly gtin: string
  readonly groupId: string
  readonly brand: string
  readonly price: number
  readonly quantity: number
}

export interface HistoryDelivery {
  /** 32 lower-case hex digits, unique; the order of the texts is the order of the ids. */
  readonly deliveryId: string
  readonly receivedAtMs: number
  readonly publisherId: number
  readonly siteId: number
  readonly transactionId: string
  readonly userId: string
  readonly userLoggedInId: string
  readonly currency: string
  readonly lines: HistoryLine[]
  readonly untrusted: boolean
  readonly voided: boolean
  /** The verdict by which it was judged again before anything was voided; absent: it was not. */
  readonly judged?: HistoryVerdict | undefined
  /** How it came; absent: as a backfill, or from elsewhere if it is untrusted. */
  readonly sender?: Pick<Receipt, 'origin' | 'presentedKey'>
}

export type HistoryVerdict = 'valid' | 'unauthenticated'

/** One delivery of a return. */
export interface HistoryReturn {
  /** The same meaning as for a delivery of a purchase. */
  readonly deliveryId: string
  readonly returnId: string
  readonly receivedAtMs: number
  readonly publisherId: number
  readonly transactionId: string
  readonly lines: readonly { readonly gtin: string; readonly quantity: number }[]
  readonly untrusted: boolean
  readonly voided?: boolean
  readonly judged?: HistoryVerdict | undefined
  /** How it came; absent: as a backfill, or from elsewhere if it is untrusted. */
  readonly sender?: Pick<Receipt, 'origin' | 'presentedKey'>
}

/** All lists stand in order of arrival, which is not the order of the instants. */
export interface History {
  readonly publisherId: number
  readonly events: HistoryEvent[]
  readonly deliveries: HistoryDelivery[]
  readonly returns: HistoryReturn[]
}

interface Identity {
  readonly userId: string
  readonly userLoggedInId: string
}

interface Purchase {
  readonly atMs: number
  readonly person: Person
  readonly identity: Identity
  readonly products: readonly Product[]
}

type Touch = Pick<HistoryEvent, 'kind' | 'receivedAtMs'>

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

// The farthest an instant can lie before the first purchase: a touch 16 days earlier, its repeat a
// day before that, served 7 days and 1 ms before; the purchase's own repeats lie 2 h earlier.
const LEAD_MS = 26 * DAY_MS

/** Purchase minus touch; a negative distance is a touch after the purchase. */
const touchDistancesMs = {
  click: [0, 1, -1, 2 * HOUR_MS, DAY_MS, ...[7, 14, 14, 15].flatMap(endOfDays)],
  impression: [0, 1, -1, 2 * HOUR_MS, ...[1, 1, 15].flatMap(endOfDays)],
}

/** Receipt minus serving: the early margin and the ends of both counting windows. */
const servingLagsMs = [-5 * MINUTE_MS - 1, -5 * MINUTE_MS, -1, 0, 1, ...[1, 7].flatMap(endOfDays)]

const eventRepeatsMs = [-DAY_MS, -HOUR_MS, -1, 0, 1, HOUR_MS, DAY_MS, 8 * DAY_MS]
const deliveryRepeatsMs = [-2 * HOUR_MS, -1, 0, 0, 0, 1, HOUR_MS, 3 * DAY_MS]
const returnDistancesMs = [-DAY_MS, -1, 0, 1, HOUR_MS, DAY_MS, 14 * DAY_MS, 20 * DAY_MS]
const purchaseGapsMs = [0, 1, HOUR_MS, DAY_MS, DAY_MS + 1, 7 * DAY_MS, 14 * DAY_MS, 14 * DAY_MS + 1]

const placeholders = [
  ...'undefined null None 0 -1 Anonymous GUEST unknown'.split(' '),
  '00000000-0000-0000-0000-000000000000',
  '',
]

const botAgent = 'Googlebot/2.1 (+http://www.google.com/bot.html)'
const browserAgents = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
  '',
]

// One list for the ends of what is in range and for prices whose double is not their decimal text.
const oddAmounts = [
  { prices: [0, -0, -4.99, 9.99, 1e12, 1_000_000_000_000.01, 999_999_999_999.99], quantity: 1 },
  { prices: [0, -4.99, 9.99], quantity: 0 },
  { prices: [0, -4.99, 9.99], quantity: -1 },
  { prices: [250e9, 250_000_000_000.0001], quantity: 4 },
  { prices: [123_456_789.1234, 1e-7], quantity: 8_000 },
  { prices: [0.30000000000000004, 1.0000000005, 1.0000000015], quantity: 3 },
]

/**
 * One history: 1-3 persons, 2-4 products, 1-4 purchases and the touches around them, in EUR
 * throughout. Markets are 1 and 2; the ids of sites, advertisers, campaigns and ad groups are made
 * from the publisher's, and every served ad and delivery id contains it, so that histories of
 * different publishers can share one warehouse. All instants lie in the 70 days from `startMs`.
 */
export function generateHistory(
  random: () => number,
  options: { publisherId: number; startMs: number }
): History {
  const world = createWorld(createDice(random), options.publisherId)
  const { dice } = world
  const midnightMs = Math.ceil((options.startMs + LEAD_MS) / DAY_MS) * DAY_MS
  const firstAtMs = midnightMs + (dice.chance(0.5) ? dice.integer(0, DAY_MS) : dice.integer(0, 1))
  const events: HistoryEvent[] = []
  const deliveries: HistoryDelivery[] = []
  const returns: HistoryReturn[] = []
  const transactionIds: string[] = []
  const purchaseCount = dice.integer(1, 4)

  for (let index = 0; index < purchaseCount; index++) {
    const atMs = index === 0 ? firstAtMs : firstAtMs + dice.pick(purchaseGapsMs)
    const purchase = createPurchase(world, atMs)
    const transactionId = createTransactionId(dice, transactionIds)
    transactionIds.push(transactionId)
    const purchaseDeliveries = createDeliveries(world, purchase, transactionId)
    deliveries.push(...purchaseDeliveries)
    returns.push(...createReturns({ world, purchase, deliveries: purchaseDeliveries }))
    events.push(...createTouches(world, purchase))
  }

  return {
    publisherId: options.publisherId,
    events: dice.shuffle(events),
    deliveries: dice.shuffle(deliveries),
    returns: dice.shuffle(returns),
  }
}

/** Reproducible numbers in [0, 1) (sfc32: the seeds' sequences do not run into each other). */
export function seededRandom(seed: number): () => number {
  let [a, b, c, counter] = [0x9e3779b9, 0x243f6a88, seed | 0, 1]
  const next = () => {
    const sum = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return (sum >>> 0) / 2 ** 32
  }
  // The first numbers of neighbouring seeds resemble each other.
  for (let round = 0; round < 16; round++) next()
  return next
}

/** The last instants inside a window of so many days and the first one outside. */
function endOfDays(days: number): number[] {
  return [days * DAY_MS - 1, days * DAY_MS, days * DAY_MS + 1]
}

function createPurchase(world: World, atMs: number): Purchase {
  const { dice } = world
  const person = dice.pick(world.persons)
  return {
    atMs,
    person,
    identity: identityOf(dice, person),
    products: Array.from({ length: dice.integer(1, 3) }, () => dice.pick(world.products)),
  }
}

function identityOf(dice: Dice, person: Person): Identity {
  const hasLogin = person.logins.length > 0 && dice.chance(0.7)
  return {
    userId: dice.chance(0.85) ? dice.pick(person.userIds) : dice.pick(placeholders),
    userLoggedInId: hasLogin ? dice.pick(person.logins) : dice.pick(placeholders),
  }
}

function createTransactionId(dice: Dice, taken: readonly string[]): string {
  const earlier = taken.at(-1)
  if (earlier !== undefined && dice.chance(0.2)) {
    return dice.pick([earlier, `${earlier} `, earlier.toLowerCase()])
  }
  return dice.chance(0.2) ? dice.pick(['', '', '   ', '\t']) : `T-${taken.length}`
}

function createDeliveries(world: World, purchase: Purchase, transactionId: string) {
  const { dice } = world
  const first: HistoryDelivery = {
    deliveryId: createId(world),
    receivedAtMs: purchase.atMs,
    publisherId: world.publisherId,
    siteId: world.publisherId * 10 + dice.integer(1, 2),
    transactionId,
    ...purchase.identity,
    currency: 'EUR',
    lines: purchase.products.map((product) => createLine(world, product)),
    untrusted: dice.chance(0.12),
    voided: dice.chance(0.08),
    judged: judgedVerdict(dice),
  }
  const repeatCount = dice.chance(0.5) ? dice.integer(1, 2) : 0
  const repeats = Array.from({ length: repeatCount }, () => repeatDelivery(world, purchase, first))
  return [first, ...repeats]
}

function repeatDelivery(world: World, purchase: Purchase, first: HistoryDelivery): HistoryDelivery {
  const { dice } = world
  const same = dice.chance(0.3)
  const other = { ...identityOf(dice, purchase.person), lines: shortenedLines(world, first.lines) }
  return {
    ...first,
    ...(same ? {} : other),
    deliveryId: createId(world),
    receivedAtMs: first.receivedAtMs + dice.pick(deliveryRepeatsMs),
    untrusted: dice.chance(0.15),
    voided: dice.chance(0.15),
    judged: judgedVerdict(dice),
  }
}

function shortenedLines(world: World, lines: readonly HistoryLine[]): HistoryLine[] {
  const line = createLine(world, world.dice.pick(world.products))
  return world.dice.chance(0.5) ? [line] : [line, ...lines.slice(1)]
}

interface Returning {
  readonly world: World
  readonly purchase: Purchase
  readonly deliveries: readonly HistoryDelivery[]
}

/** Returns of a third of the purchases, each with its repeats, some of which say something else. */
function createReturns({ world, purchase, deliveries }: Returning): HistoryReturn[] {
  const { dice } = world
  const transactionId = deliveries[0]?.transactionId ?? ''
  // Nothing that names no transaction can be returned.
  if (transactionId.trim() === '' || !dice.chance(0.35)) return []
  const returns: HistoryReturn[] = []
  for (let index = dice.integer(0, 2); index >= 0; index--) {
    const first: HistoryReturn = {
      deliveryId: createId(world),
      // White space and case tell returns apart, as they do transactions.
      returnId: dice.pick([`R-${index}`, `R-${index}`, `r-${index}`, 'R-0 ']),
      receivedAtMs: purchase.atMs + dice.pick(returnDistancesMs),
      publisherId: world.publisherId,
      transactionId: dice.chance(0.06) ? 'T-never' : transactionId,
      lines: createReturnLines(world, deliveries),
      untrusted: dice.chance(0.12),
      voided: dice.chance(0.08),
      judged: judgedVerdict(dice),
    }
    returns.push(first)
    for (let left = dice.chance(0.4) ? dice.integer(1, 2) : 0; left > 0; left--) {
      returns.push(repeatReturn(world, first, deliveries))
    }
  }
  return returns
}

function repeatReturn(
  world: World,
  first: HistoryReturn,
  deliveries: readonly HistoryDelivery[]
): HistoryReturn {
  const { dice } = world
  return {
    ...first,
    lines: dice.chance(0.5) ? createReturnLines(world, deliveries) : first.lines,
    deliveryId: createId(world),
    receivedAtMs: first.receivedAtMs + dice.pick(deliveryRepeatsMs),
    untrusted: dice.chance(0.15),
    voided: dice.chance(0.08),
    judged: judgedVerdict(dice),
  }
}

/** Whatever it was before: it may be judged to be what it is. */
function judgedVerdict(dice: Dice): HistoryVerdict | undefined {
  return dice.chance(0.2) ? dice.pick(['valid', 'valid', 'unauthenticated']) : undefined
}

/** Products of the purchase in any spelling and some that were not bought; a part, all, or too many. */
function createReturnLines(world: World, deliveries: readonly HistoryDelivery[]) {
  const { dice } = world
  return Array.from({ length: dice.integer(1, 3) }, () => {
    const bought = dice.pick(dice.pick(deliveries).lines)
    const other = spell(dice, dice.pick(world.products))
    const spelled = dice.chance(0.5) ? bought.gtin : respell(world, bought.gtin)
    return {
      gtin: dice.chance(0.2) ? other : spelled,
      quantity: dice.pick([1, 1, 1, 1, 1, 2, 2, 3, Math.max(1, bought.quantity), 2_147_483_647]),
    }
  })
}

function respell(world: World, gtin: string): string {
  const product = world.products.find(({ spellings }) => spellings.includes(gtin))
  return product === undefined ? ` ${gtin}` : spell(world.dice, product)
}

function createLine(world: World, product: Product): HistoryLine {
  const { dice } = world
  const decimals = dice.integer(2, 4)
  const price = Number((dice.integer(1, 10_000_000) / 10 ** decimals).toFixed(decimals))
  const ordinary = { prices: [price], quantity: dice.integer(1, 5) }
  const amount = dice.chance(0.25) ? dice.pick(oddAmounts) : ordinary
  return {
    gtin: dice.chance(0.04) ? dice.pick(['', '  ']) : spell(dice, product),
    groupId: spellGroup(world, product),
    brand: dice.pick(['Acme', 'Bolt', '']),
    price: dice.pick(amount.prices),
    quantity: amount.quantity,
  }
}

function createTouches(world: World, purchase: Purchase): HistoryEvent[] {
  const { dice } = world
  const events: HistoryEvent[] = []
  for (let left = dice.integer(1, 4); left > 0; left--) {
    const kind = dice.chance(0.6) ? 'click' : 'impression'
    const distancesMs = dice.chance(0.15) ? [dice.integer(0, 16 * DAY_MS)] : touchDistancesMs[kind]
    const touch: Touch = { kind, receivedAtMs: purchase.atMs - dice.pick(distancesMs) }
    const ad = createAd(world, purchase, touch)
    events.push(...createEvents(world, ad, touch))
    // The twin meets the first ad in the same millisecond; only the id can tell them apart.
    if (dice.chance(0.3)) events.push(createEvent(dice, twinOf(world, ad), touch))
  }
  return events
}

function createAd(world: World, purchase: Purchase, touch: Touch): HistoryAd {
  const { dice } = world
  const product = dice.pick(dice.chance(0.65) ? purchase.products : world.products)
  const lagMs = dice.chance(0.25) ? dice.pick(servingLagsMs) : dice.integer(0, 10_000)
  return {
    servedAdId: createId(world),
    servedAtMs: touch.receivedAtMs - lagMs,
    publisherId: world.publisherId,
    siteId: world.publisherId * 10 + dice.integer(1, 2),
    marketId: dice.integer(1, 2),
    ...dice.pick(world.adGroups),
    gtin: spell(dice, product),
    groupId: spellGroup(world, product),
    ...touchingIdentity(world, purchase),
    currency: 'EUR',
    costPerClickMicros: dice.pick([0n, 1n, 350_000n, 1_234_567n, 10n ** 12n]),
    costPerMilleMicros: dice.pick([0n, 1n, 999n, 4_500_000n, 10n ** 12n + 1n]),
  }
}

function touchingIdentity(world: World, purchase: Purchase): Identity {
  const { dice } = world
  const { userId, userLoggedInId } = purchase.identity
  const anyone = identityOf(dice, dice.pick(world.persons))
  switch (dice.integer(0, 9)) {
    case 0:
      return anyone
    case 1:
      return { userId, userLoggedInId: dice.pick(placeholders) }
    case 2:
    case 3:
      return { userId: `${userId}-elsewhere`, userLoggedInId }
    case 4:
    case 5:
      return { userId, userLoggedInId: dice.pick(['login-9', anyone.userLoggedInId]) }
    case 6:
      return identityOf(dice, purchase.person)
    default:
      return purchase.identity
  }
}

function twinOf(world: World, ad: HistoryAd): HistoryAd {
  const { dice, takenIds } = world
  const neighbour = ad.servedAdId.slice(0, -1) + dice.text('0123456789abcdef', 1)
  const isNew = !takenIds.has(neighbour)
  takenIds.add(neighbour)
  return {
    ...ad,
    ...dice.pick(world.adGroups),
    servedAdId: isNew && dice.chance(0.5) ? neighbour : createId(world),
  }
}

function createEvents(world: World, ad: HistoryAd, touch: Touch): HistoryEvent[] {
  const { dice } = world
  const events = [createEvent(dice, ad, touch)]
  for (const kind of ['load', 'impression', 'click'] as const) {
    if (kind !== touch.kind && dice.chance(0.25)) {
      const receivedAtMs = ad.servedAtMs + dice.pick([0, 1_000, ...servingLagsMs])
      events.push(createEvent(dice, ad, { kind, receivedAtMs }))
    }
  }
  if (dice.chance(0.25)) {
    const receivedAtMs = touch.receivedAtMs + dice.pick(eventRepeatsMs)
    events.push(createEvent(dice, ad, { kind: touch.kind, receivedAtMs }))
  }
  return events
}

function createEvent(dice: Dice, ad: HistoryAd, touch: Touch): HistoryEvent {
  const userAgent = dice.chance(0.06) ? botAgent : dice.pick(browserAgents)
  return { ad, ...touch, userAgent, prefetch: dice.chance(0.05) }
}
