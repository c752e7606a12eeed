// Weeks before today, as an account of this trade looks: 0.3 to 3 of 100 views are clicked, and the ads sell for 2 to
// 12 times what they cost. Shoppers of the moment, who try all that can go wrong, cannot leave that behind.
import {
  advertisers,
  amountText,
  markets,
  publishers,
  shownAdvertiserId,
  type AdGroup,
  type Market,
} from './catalog.ts'
import type { AdRequest } from './journey.ts'
import { adGroupsFor } from './journey.ts'
import { products, type DemoProduct } from './products.ts'
import { Random } from './random.ts'
import type { Delivery } from './sales.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

export interface HistoryPlan {
  readonly seed: number
  /** Days before today; the morning of today comes on top. 0: no history. */
  readonly days: number
  /** Ads served on a usual day to the shoppers of all advertisers. */
  readonly adsPerDay: number
  /** Nothing of the history is later. */
  readonly untilMs: number
}

/** One served ad and what came of it. */
export interface Visit {
  readonly request: AdRequest
  readonly servedAtMs: number
  readonly viewedAtMs: number
  readonly clickedAtMs: number | null
  readonly purchase: PastPurchase | null
}

export interface PastPurchase extends Delivery {
  readonly siteId: number
  readonly currency: string
}

interface Rates {
  readonly click: number
  readonly purchaseAfterClick: number
  readonly purchaseAfterView: number
}

const ratesOf: Readonly<Record<AdGroup['type'], Rates>> = {
  SPA: { click: 0.017, purchaseAfterClick: 0.12, purchaseAfterView: 0.000_3 },
  SPONSORED_BRAND: { click: 0.011, purchaseAfterClick: 0.11, purchaseAfterView: 0.000_4 },
  DISPLAY: { click: 0.006, purchaseAfterClick: 0.1, purchaseAfterView: 0.000_8 },
}

const shownShare = 0.7
/** How many of an advertiser's ads are served in the first market of its first publisher. */
const mainShare = 0.45

/** Visits of whole days and of today, in no particular order. Each has a shopper of its own. */
export function planHistory(plan: HistoryPlan): readonly Visit[] {
  if (plan.days === 0) return []
  const random = new Random(Math.imul(plan.seed, 1_000_003) + 500_009)
  return Array.from({ length: plan.days + 1 }, (_, daysAgo) => planDay({ plan, daysAgo, random }))
    .flat()
    .filter(({ viewedAtMs }) => viewedAtMs <= plan.untilMs)
}

interface DayPlan {
  readonly plan: HistoryPlan
  readonly daysAgo: number
  readonly random: Random
}

/** Weekends are busier, and the weeks rise slowly. */
function planDay({ plan, daysAgo, random }: DayPlan): readonly Visit[] {
  const midnightMs = Math.floor(plan.untilMs / dayMs) * dayMs - daysAgo * dayMs
  const weekday = new Date(midnightMs).getUTCDay()
  const rise = 0.8 + (0.4 * (plan.days - daysAgo)) / plan.days
  const busyness = (weekday === 0 || weekday === 6 ? 1.25 : 0.9) * rise
  const count = Math.round(plan.adsPerDay * busyness * (0.93 + 0.14 * random.fraction()))
  return Array.from({ length: count }, (_, index) =>
    planVisit({ plan, random, midnightMs, name: `${daysAgo}-${index}` })
  )
}

interface VisitPlan {
  readonly plan: HistoryPlan
  readonly random: Random
  readonly midnightMs: number
  readonly name: string
}

function planVisit({ plan, random, midnightMs, name }: VisitPlan): Visit {
  const { market, publisherId, siteId, product } = pickPlace(random)
  const adGroup = random.pick(adGroupsFor(product))
  const rates = ratesOf[adGroup.type]
  const servedAtMs = midnightMs + shoppingHour(random, market)
  const viewedAtMs = servedAtMs + random.between(1, 4_000)
  const clickedAtMs = viewedAtMs + random.between(800, 40_000)
  const isClicked = random.chance(rates.click) && clickedAtMs <= plan.untilMs
  const request: AdRequest = {
    publisherId,
    siteId,
    marketId: market.id,
    advertiserId: adGroup.advertiserId,
    campaignId: adGroup.campaignId,
    adGroupId: adGroup.id,
    gtin: product.gtin,
    groupId: product.groupId,
    userId: `past-${name}`,
    costPerClick: amountText(adGroup.clickCents, market),
    costPerMille: amountText(adGroup.milleCents, market),
  }
  const isBought = random.chance(isClicked ? rates.purchaseAfterClick : rates.purchaseAfterView)
  const purchase = isBought ? pastPurchase({ random, request, product, market, clickedAtMs }) : null
  return {
    request,
    servedAtMs,
    viewedAtMs,
    clickedAtMs: isClicked ? clickedAtMs : null,
    purchase: purchase !== null && purchase.atMs <= plan.untilMs ? purchase : null,
  }
}

interface Purchasing {
  readonly random: Random
  readonly request: AdRequest
  readonly product: DemoProduct
  readonly market: Market
  readonly clickedAtMs: number
}

/** Most buy within the hour; some think it over for a night. */
function pastPurchase(purchasing: Purchasing): PastPurchase {
  const { random, request, product, market, clickedAtMs } = purchasing
  const minutes = random.chance(0.8) ? random.between(3, 55) : random.between(60, 20 * 60)
  return {
    publisherId: request.publisherId,
    siteId: request.siteId,
    transactionId: request.userId,
    userId: request.userId,
    currency: market.currency,
    lines: [
      {
        gtin: product.gtin,
        groupId: product.groupId,
        price: amountText(product.cents + random.between(-30, 30), market),
        quantity: random.chance(0.75) ? 1 : random.between(2, 4),
      },
    ],
    atMs: clickedAtMs + minutes * minuteMs,
  }
}

function pickPlace(random: Random) {
  const advertiser = random.chance(shownShare)
    ? advertisers.filter(({ id }) => id === shownAdvertiserId)
    : advertisers.filter(({ id }) => id !== shownAdvertiserId)
  const { id, access } = random.pick(advertiser)
  const isMain = random.chance(mainShare)
  const { publisherId, marketIds } = random.pick<Access>(isMain ? access.slice(0, 1) : access)
  const marketId = random.pick(isMain ? marketIds.slice(0, 1) : marketIds)
  const sites: readonly Site[] = publishers.find((one) => one.id === publisherId)?.sites ?? []
  const site = random.pick(sites.filter((one) => one.marketIds.includes(marketId)))
  const own = products.filter((one) => one.advertiserId === id && one.isAdvertised)
  const market = markets.find((one) => one.id === marketId)
  if (market === undefined) throw new Error(`no market ${marketId}`)
  // Some products are everybody's favourites.
  const product = random.pick(own.slice(0, random.chance(0.5) ? 5 : own.length))
  return { market, publisherId, siteId: site.id, product }
}

interface Access {
  readonly publisherId: number
  readonly marketIds: readonly number[]
}

interface Site {
  readonly id: number
  readonly marketIds: readonly number[]
}

/** From seven to midnight in the market's time, with the evening busier, as an offset to midnight in UTC. */
function shoppingHour(random: Random, { code }: Market): number {
  const local = random.chance(0.4)
    ? random.between(17 * 60, 22 * 60)
    : random.between(7 * 60, 23 * 60)
  const aheadMinutes = code === 'JP' ? 9 * 60 : code === 'DE' ? 60 : 0
  return (local - aheadMinutes) * minuteMs + random.between(0, 59_999)
}
