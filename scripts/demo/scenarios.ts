// The ordinary ways to a purchase. Each scenario writes one journey; what it is worth is for the
// expectation to say.
import { adGroupsFor, type JourneyBuilder, type PlannedAd, type Shopper } from './journey.ts'
import { products } from './products.ts'

export type Scenario = (journey: JourneyBuilder) => void

export const ordinaryScenarios: Readonly<Record<string, Scenario>> = {
  browse(journey) {
    journey.page(journey.random.between(1, 4))
    if (journey.random.chance(0.3)) journey.page(2)
  },

  /** As most visits of a shop are: many ads seen, few clicked, hardly anything bought. */
  lookAround(journey) {
    const ads = [...journey.page(4), ...journey.page(4)]
    const clicked = ads.filter(() => journey.random.chance(0.012))
    journey.steps(...clicked.map((ad) => journey.click(ad)))
    const bought = clicked.filter(() => journey.random.chance(0.1))
    for (const ad of bought) journey.step(journey.buy([journey.line(productOf(ad))]))
  },

  clickThenBuy(journey) {
    const ads = journey.page(journey.random.between(2, 4))
    const clicked = journey.random.sample(ads, journey.random.between(1, 2))
    journey.steps(...clicked.map((ad) => journey.click(ad)))
    const lines = clicked.map((ad) => journey.line(productOf(ad)))
    if (journey.random.chance(0.4)) lines.push(journey.line(journey.random.pick(products)))
    journey.step(journey.buy(lines))
  },

  clickAndLeave(journey) {
    const ads = journey.page(3)
    journey.step(journey.click(journey.random.pick(ads)))
  },

  viewThenBuy(journey) {
    const ads = journey.page(3)
    journey.step(journey.buy(ads.map((ad) => journey.line(productOf(ad)))))
  },

  clickThenBuySibling(journey) {
    const ad = journey.random.pick(journey.page(2))
    const { groupId } = productOf(ad)
    journey.step(journey.click(ad))
    const siblings = journey.random.sample(journey.siblingsOf(productOf(ad)), 2)
    journey.step(journey.buy(siblings.map((sibling) => journey.line(sibling, { groupId }))))
  },

  directBeatsLaterGroup(journey) {
    const bought = journey.oneAdvertised()
    const sibling = journey.random.pick(journey.siblingsOf(bought).filter((p) => p.isAdvertised))
    const direct = journey.ad({ product: bought })
    const group = journey.ad({ product: sibling })
    journey.step(journey.load(direct), journey.load(group))
    journey.steps(journey.click(direct), journey.click(group))
    const { groupId } = bought
    journey.step(journey.buy([journey.line(bought, { groupId })]))
  },

  latestClickWins(journey) {
    const product = journey.oneAdvertised()
    const ads = journey.random
      .sample(adGroupsFor(product), 3)
      .map((adGroup) => journey.ad({ product, adGroup }))
    journey.steps(...ads.map((ad) => journey.view(ad)), ...ads.map((ad) => journey.click(ad)))
    journey.step(journey.buy([journey.line(product)]))
  },

  clickThenViewElsewhere(journey) {
    const product = journey.oneAdvertised()
    const clicked = journey.ad({ product })
    const seen = journey.ad({ product })
    journey.steps(journey.view(clicked), journey.click(clicked), journey.view(seen))
    journey.step(journey.buy([journey.line(product), journey.line(product)]))
  },

  buyUnadvertised(journey) {
    journey.page(2)
    const unknown = { gtin: `NO-AD-${journey.index}`, price: '3.99', quantity: 1 }
    const unsponsored = journey.random.pick(products.filter((p) => !p.isAdvertised))
    journey.step(journey.buy([unknown, journey.line(unsponsored)]))
  },

  clickAfterPurchase(journey) {
    const ad = journey.ad()
    journey.step(journey.load(ad))
    journey.step(journey.buy([journey.line(productOf(ad))]))
    journey.steps(journey.view(ad), journey.click(ad))
    if (journey.random.chance(0.5)) journey.step(journey.buy([journey.line(productOf(ad))]))
  },

  phoneThenLaptop(journey) {
    const login = `member-${journey.index}`
    const phone: Shopper = { userId: `phone-${journey.index}`, userLoggedInId: login }
    const laptop: Shopper = { userId: `laptop-${journey.index}`, userLoggedInId: login }
    const ads = journey.page(3, phone)
    const clicked = journey.random.pick(ads)
    journey.step(journey.click(clicked))
    journey.step(journey.buy([journey.line(productOf(clicked))], { shopper: laptop }))
    // Without the login the laptop is nobody the shop knows.
    const stranger = { userId: laptop.userId }
    journey.step(journey.buy([journey.line(productOf(clicked))], { shopper: stranger }))
  },

  sharedTablet(journey) {
    const userId = `tablet-${journey.index}`
    const one: Shopper = { userId, userLoggedInId: `parent-${journey.index}` }
    const other: Shopper = { userId, userLoggedInId: `child-${journey.index}` }
    const nobody: Shopper = { userId }
    const [mine, open] = journey
      .advertised(2)
      .map((product, index) => journey.ad({ product, shopper: index === 0 ? one : nobody }))
    if (mine === undefined || open === undefined) return
    journey.step(journey.load(mine), journey.load(open))
    journey.steps(journey.view(mine), journey.click(mine), journey.click(open))
    for (const shopper of journey.random.sample([one, other, nobody], 3)) {
      const lines = [mine, open].map((ad) => journey.line(productOf(ad)))
      journey.step(journey.buy(lines, { shopper }))
    }
  },
}

export function productOf(ad: PlannedAd) {
  const gtin = ad.request.gtin.trim()
  const product = products.find(
    (known) => known.gtin === gtin || known.gtin.padStart(14, '0') === gtin
  )
  if (product === undefined) throw new Error(`no product ${gtin}`)
  return product
}
