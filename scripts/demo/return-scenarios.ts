// Purchases that are sent back, and the mistakes that shops make with returns.
import type { JourneyBuilder } from './journey.ts'
import { productOf, type Scenario } from './scenarios.ts'
import type { DemoProduct } from './products.ts'

export const returnScenarios: Readonly<Record<string, Scenario>> = {
  returnsSome(journey) {
    const [kept, product] = clicked(journey, 2)
    if (kept === undefined || product === undefined) return
    const { transactionId } = buy(journey, [
      journey.line(product, { quantity: 4 }),
      journey.line(kept),
    ])
    journey.step(journey.sendBack(transactionId, [{ gtin: product.gtin, quantity: 1 }]))
    // Another return of the same purchase.
    if (journey.random.chance(0.5)) {
      journey.step(journey.sendBack(transactionId, [{ gtin: product.gtin, quantity: 2 }]))
    }
  },

  returnsAll(journey) {
    const products = clicked(journey, 2)
    const lines = products.map((product) => journey.line(product))
    const { transactionId } = buy(journey, lines)
    const all = lines.map(({ gtin, quantity }) => ({ gtin, quantity }))
    const sentBack = journey.sendBack(transactionId, all)
    journey.step(sentBack, sentBack)
    journey.step(sentBack)
  },

  returnsMoreThanBought(journey) {
    const [product] = clicked(journey, 1)
    if (product === undefined) return
    const { transactionId } = buy(journey, [journey.line(product, { quantity: 2 })])
    journey.step(
      journey.sendBack(transactionId, [
        { gtin: product.gtin, quantity: 3 },
        { gtin: product.gtin, quantity: 2_147_483_647 },
        { gtin: `NO-AD-${journey.index}`, quantity: 1 },
      ])
    )
  },

  returnsBeforeBuying(journey) {
    const [product] = clicked(journey, 1)
    if (product === undefined) return
    const transactionId = journey.nextTransactionId()
    journey.step(journey.sendBack(transactionId, [{ gtin: product.gtin, quantity: 1 }]))
    const line = journey.line(product, { quantity: 3 })
    journey.step(journey.buy([line], { transactionId }))
  },

  returnsOfSeveralLines(journey) {
    const [product] = clicked(journey, 1)
    if (product === undefined) return
    const spelled = ` ${product.gtin}`
    const { transactionId } = buy(journey, [
      journey.line(product, { quantity: 2, price: '10.005' }),
      journey.line(product, { quantity: 3, price: '9.5', gtin: spelled }),
      journey.line(product, { quantity: 0 }),
      journey.line(product, { quantity: 1, price: '8' }),
    ])
    journey.step(
      journey.sendBack(transactionId, [
        { gtin: product.gtin, quantity: 1 },
        { gtin: spelled, quantity: journey.random.between(1, 4) },
      ])
    )
  },

  changesItsMindAboutAReturn(journey) {
    const [product] = clicked(journey, 1)
    if (product === undefined) return
    const { transactionId } = buy(journey, [journey.line(product, { quantity: 5 })])
    const returnId = `back-${journey.index}`
    for (const quantity of [2, 4]) {
      journey.step(journey.sendBack(transactionId, [{ gtin: product.gtin, quantity }], returnId))
    }
  },

  returnsOfNothing(journey) {
    const [product] = clicked(journey, 1)
    if (product === undefined) return
    const { transactionId } = buy(journey, [journey.line(product)])
    const one = [{ gtin: product.gtin, quantity: 1 }]
    journey.step(journey.sendBack(`${transactionId}-never`, one))
    journey.step(
      { type: 'refused-return', fault: 'schema' },
      { type: 'refused-return', fault: 'nameless' },
      { type: 'refused-return', fault: 'browser' }
    )
  },
}

function clicked(journey: JourneyBuilder, count: number): readonly DemoProduct[] {
  const ads = journey.advertised(count).map((product) => journey.ad({ product }))
  journey.steps(...ads.map((ad) => journey.view(ad)), ...ads.map((ad) => journey.click(ad)))
  return ads.map(productOf)
}

function buy(journey: JourneyBuilder, lines: Parameters<JourneyBuilder['purchase']>[0]) {
  const purchase = journey.purchase(lines)
  journey.step({ type: 'purchase', purchase })
  return purchase
}
