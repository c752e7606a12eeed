// Things that go wrong on real shop pages, and that must not count.
import { publishers } from './catalog.ts'
import type { Visitor } from './expectation.ts'
import type { AdChoice, JourneyBuilder, PlannedAd, Shopper } from './journey.ts'
import { productOf, type Scenario } from './scenarios.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

const placeholderIds = ['', 'undefined', 'NULL', 'None', '0', '-1', 'anonymous', 'Guest', 'unknown']
placeholderIds.push('00000000-0000-0000-0000-000000000000')

export const oddScenarios: Readonly<Record<string, Scenario>> = {
  doubleFires(journey) {
    const ad = journey.ad()
    const load = journey.load(ad)
    const view = journey.view(ad)
    const click = journey.click(ad)
    journey.step(load, load, view, view, journey.load(ad))
    journey.step(click, click, click)
    const purchase = journey.buy([journey.line(productOf(ad))])
    journey.step(purchase, purchase)
    journey.steps(view, click, purchase)
  },

  bot: (journey) => notCounted(journey, 'bot'),
  prefetch: (journey) => notCounted(journey, 'prefetch'),
  probe: (journey) => notCounted(journey, 'probe'),

  lateViewStillClicked(journey) {
    // A day and some hours: too late to be seen, in time to be clicked.
    aged(journey, { servedAgoMs: journey.random.between(26, 150) * hourMs })
  },

  lateForAll(journey) {
    aged(journey, { servedAgoMs: journey.random.between(8, 12) * 24 * hourMs })
  },

  servedYesterdayEvening(journey) {
    aged(journey, { servedAgoMs: journey.random.between(1, 20) * hourMs })
  },

  servedTomorrow(journey) {
    aged(journey, { servedAgoMs: -30 * minuteMs })
  },

  repeatedPurchase(journey) {
    const ad = journey.random.pick(journey.page(2))
    journey.step(journey.click(ad))
    const product = productOf(ad)
    const transactionId = journey.nextTransactionId()
    const first = journey.buy([journey.line(product)], { transactionId })
    journey.step(first)
    if (journey.random.chance(0.5)) journey.step(first)
    const other = journey.line(product, { quantity: journey.random.between(7, 9) })
    const shopper = journey.random.chance(0.5)
      ? journey.shopper
      : { userId: `else-${journey.index}` }
    journey.step(journey.buy([other, other], { transactionId, shopper }))
  },

  worthlessFirstDelivery(journey) {
    // The first delivery wins as a whole, even when none of its lines can be credited.
    const ad = journey.ad()
    journey.steps(journey.view(ad), journey.click(ad))
    const transactionId = journey.nextTransactionId()
    const product = productOf(ad)
    journey.step(journey.buy([journey.line(product, { quantity: 0 })], { transactionId }))
    journey.step(journey.buy([journey.line(product)], { transactionId }))
  },

  oddLines(journey) {
    const ads = journey.page(4)
    journey.steps(...ads.map((ad) => journey.click(ad)))
    const [returned, rebate, gift, dear] = ads.map(productOf)
    if (!returned || !rebate || !gift || !dear) return
    journey.step(
      journey.buy([
        journey.line(returned, { quantity: -1 }),
        journey.line(rebate, { price: '-2.5' }),
        journey.line(gift, { price: '0' }),
        journey.line(dear, { price: '999999999999.5', quantity: 2 }),
        journey.line(returned, { price: '0.01', quantity: 3 }),
      ])
    )
  },

  nobody(journey) {
    const shopper: Shopper = { userId: journey.random.pick(placeholderIds) }
    const ad = journey.ad({ shopper })
    journey.step(journey.load(ad))
    journey.steps(journey.view(ad), journey.click(ad))
    journey.step(journey.buy([journey.line(productOf(ad))], { shopper }))
  },

  nobodyWithLogin(journey) {
    const userLoggedInId = `known-${journey.index}`
    const ad = journey.ad({ shopper: { userId: 'guest', userLoggedInId } })
    journey.steps(journey.view(ad), journey.click(ad))
    const lines = [journey.line(productOf(ad))]
    journey.step(journey.buy(lines, { shopper: { userId: '', userLoggedInId } }))
    journey.step(journey.buy(lines, { shopper: { userId: 'guest' } }))
  },

  placeholderLogin(journey) {
    const { userId } = journey.shopper
    const ad = journey.ad({ shopper: { userId, userLoggedInId: 'null' } })
    journey.steps(journey.view(ad), journey.click(ad))
    const shopper: Shopper = { userId, userLoggedInId: `real-${journey.index}` }
    journey.step(journey.buy([journey.line(productOf(ad))], { shopper }))
  },

  sameUserElsewhere(journey) {
    const ad = journey.ad()
    journey.steps(journey.view(ad), journey.click(ad))
    const elsewhere = publishers.find(({ id }) => id !== journey.place.publisherId)
    if (elsewhere === undefined) return
    const lines = [journey.line(productOf(ad))]
    const transactionId = journey.nextTransactionId()
    journey.step(journey.buy(lines, { transactionId, publisherId: elsewhere.id }))
    if (journey.random.chance(0.5)) journey.step(journey.buy(lines, { transactionId }))
  },

  namelessTransactions(journey) {
    const ad = journey.ad()
    journey.steps(journey.view(ad), journey.click(ad))
    const nameless = journey.buy([journey.line(productOf(ad))], { transactionId: '' })
    journey.step(nameless, nameless)
    journey.step(nameless)
  },

  otherSpelling(journey) {
    const product = journey.random.pick(journey.advertised(20).filter((p) => /^\d+$/.test(p.gtin)))
    const padded = product.gtin.padStart(14, '0')
    const ad = journey.ad({ product, gtin: journey.random.pick([padded, product.gtin]) })
    journey.steps(journey.view(ad), journey.click(ad))
    const gtin = journey.random.pick([padded, ` ${product.gtin}`, `${padded} `, product.gtin])
    journey.step(journey.buy([journey.line(product, { gtin })]))
  },

  tampered(journey) {
    const ad = journey.ad()
    journey.step(
      { type: 'tampered', ad, kind: 'impression' },
      { type: 'tampered', ad, kind: 'click' },
      { type: 'tampered', ad, kind: 'load' },
      { type: 'missing-segment', kind: 'impression' }
    )
    if (journey.random.chance(0.5)) journey.step(journey.view(ad))
  },

  refusedPurchases(journey) {
    journey.step(
      { type: 'refused-purchase', fault: 'schema' },
      { type: 'refused-purchase', fault: 'browser' },
      { type: 'refused-purchase', fault: 'currency' }
    )
  },
}

/** Half of the ads are also fired by a person, after the others: those events count. */
function notCounted(journey: JourneyBuilder, visitor: Visitor): void {
  const ads = journey.advertised(3).map((product) => journey.ad({ product }))
  for (const ad of ads) {
    journey.steps(
      journey.by(visitor, journey.load(ad)),
      journey.by(visitor, journey.view(ad)),
      journey.by(visitor, journey.click(ad))
    )
    if (journey.random.chance(0.5)) journey.steps(journey.view(ad), journey.click(ad))
  }
  journey.step(journey.buy(ads.map((ad) => journey.line(productOf(ad)))))
}

function aged(journey: JourneyBuilder, choice: AdChoice): void {
  const ads: PlannedAd[] = journey
    .advertised(2)
    .map((product) => journey.ad({ product, ...choice }))
  journey.step(...ads.map((ad) => journey.load(ad)))
  journey.steps(...ads.map((ad) => journey.view(ad)))
  const clicked = journey.random.sample(ads, 1)
  journey.steps(...clicked.map((ad) => journey.click(ad)))
  journey.step(journey.buy(ads.map((ad) => journey.line(productOf(ad)))))
}
