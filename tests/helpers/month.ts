// A generated month of tiny prices in three markets whose currencies have no, two and three digits: every
// shopper stays in one market, so that no amount is converted.

import { createDice, type Dice } from './history-world.ts'
import { seededRandom } from './history.ts'
import type { History, HistoryAd, HistoryDelivery, HistoryReturn } from './history.ts'
import { placement } from './placement.ts'

export const monthMarkets = [
  { id: 1, code: 'DE', currency: 'EUR', timeZone: 'Europe/Berlin' },
  { id: 2, code: 'JP', currency: 'JPY', timeZone: 'Asia/Tokyo' },
  { id: 3, code: 'KW', currency: 'KWD', timeZone: 'Asia/Kuwait' },
] as const

type MonthMarket = (typeof monthMarkets)[number]

const monthFromMs = Date.UTC(2026, 2, 1, 12)
const hourMs = 3_600_000
const hoursMax = 29 * 24

/** In micros: 4.00 a thousand, a third of a cent a click, and less than anything has. */
const millePrices = [4_000_000n, 2_500n, 1n, 999_999n, 0n]
const clickPrices = [252_000n, 3_333n, 1n, 250_000n, 0n]
const productPrices = [19.99, 0.001, 1e-9, 3.3333, 12, 0.333333333]

export function createMonth(seed: number): History {
  const dice = createDice(seededRandom(seed))
  const scenes = monthMarkets.flatMap((market) =>
    Array.from({ length: 60 }, (_, place) => createScene(dice, market, place))
  )
  return {
    publisherId: placement.publisherId,
    events: scenes.flatMap((scene) => scene.events),
    deliveries: scenes.flatMap((scene) => scene.deliveries),
    returns: scenes.flatMap((scene) => scene.returns),
  }
}

/** One shopper sees and clicks ads for some products, buys some of them, and sends some back. */
function createScene(dice: Dice, market: MonthMarket, place: number) {
  const userId = `shopper-${market.id}-${place}`
  const firstMs = monthFromMs + dice.integer(0, hoursMax - 48) * hourMs + dice.integer(0, hourMs)
  const ads = Array.from({ length: 4 }, (_, index) =>
    createAd(dice, { market, userId, servedAtMs: firstMs, id: `${market.id}-${place}-${index}` })
  )
  const events = ads.flatMap((ad, index) => {
    const touch = { ad, userAgent: '', prefetch: false, receivedAtMs: firstMs + index * 1_000 }
    const view = { ...touch, kind: 'impression' as const }
    return index % 2 === 0 ? [view] : [view, { ...touch, kind: 'click' as const }]
  })
  const delivery: HistoryDelivery = {
    deliveryId: idOf(`d-${userId}`),
    receivedAtMs: firstMs + dice.integer(1, 40) * hourMs,
    publisherId: placement.publisherId,
    siteId: placement.siteId,
    transactionId: `t-${userId}`,
    userId,
    userLoggedInId: '',
    currency: market.currency,
    lines: ads.map(({ gtin }) => ({
      gtin,
      groupId: '',
      brand: '',
      price: dice.pick(productPrices),
      quantity: dice.integer(1, 3),
    })),
    untrusted: false,
    voided: false,
  }
  const returned: HistoryReturn = {
    deliveryId: idOf(`r-${userId}`),
    returnId: `r-${userId}`,
    receivedAtMs: delivery.receivedAtMs + hourMs,
    publisherId: placement.publisherId,
    transactionId: delivery.transactionId,
    lines: delivery.lines.slice(0, 2).map(({ gtin }) => ({ gtin, quantity: 1 })),
    untrusted: false,
  }
  return { events, deliveries: [delivery], returns: place % 3 === 0 ? [returned] : [] }
}

interface AdPlace {
  readonly market: MonthMarket
  readonly userId: string
  readonly servedAtMs: number
  readonly id: string
}

function createAd(dice: Dice, { market, userId, servedAtMs, id }: AdPlace): HistoryAd {
  return {
    ...placement,
    servedAdId: idOf(id),
    servedAtMs,
    marketId: market.id,
    adGroupId: dice.pick([5001, 5002, 5003]),
    gtin: `sku-${dice.integer(1, 40)}`,
    groupId: '',
    userId,
    userLoggedInId: '',
    currency: market.currency,
    costPerMilleMicros: dice.pick(millePrices),
    costPerClickMicros: dice.pick(clickPrices),
  }
}

function idOf(text: string): string {
  return Buffer.from(text).toString('hex').padStart(32, '0').slice(-32)
}
