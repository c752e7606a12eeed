// A journey is what one shopper, or the few people of one household, do one step after the other. All
// that could compete for a credit happens inside one journey, so journeys may run side by side.
import {
  adGroups,
  advertisers,
  amountText,
  publishers,
  type AdGroup,
  type Market,
} from './catalog.ts'
import type { AdEventKind, Visitor } from './expectation.ts'
import { products, type DemoProduct } from './products.ts'
import type { Random } from './random.ts'
import type { Purchase, PurchaseLine, Return } from './sales.ts'

/** One entry of `POST /admin/v1/tracking-links`, with all that the expectation needs set. */
export interface AdRequest {
  readonly publisherId: number
  readonly siteId: number
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
  readonly landingUrl?: string
}

export interface PlannedAd {
  readonly request: AdRequest
  /** How long before the minting it claims to be served; null leaves the instant to the service. */
  readonly servedAgoMs: number | null
}

export interface PlannedPurchase extends Purchase {
  readonly siteId: number
  readonly currency: string
}

export type PlannedReturn = Omit<Return, 'atMs'>

export type Action =
  | {
      readonly type: 'fire'
      readonly ad: PlannedAd
      readonly kind: AdEventKind
      readonly method: 'GET' | 'POST' | 'HEAD'
      readonly visitor: Visitor
    }
  | { readonly type: 'purchase'; readonly purchase: PlannedPurchase }
  | { readonly type: 'return'; readonly sentBack: PlannedReturn }
  | { readonly type: 'refused-return'; readonly fault: 'schema' | 'nameless' | 'browser' }
  | { readonly type: 'tampered'; readonly ad: PlannedAd; readonly kind: AdEventKind }
  | { readonly type: 'missing-segment'; readonly kind: AdEventKind }
  | { readonly type: 'refused-purchase'; readonly fault: 'schema' | 'browser' | 'currency' }

/** Actions of one step go out at once; the next step starts after their answers. */
export type Step = readonly Action[]

export interface Journey {
  readonly scenario: string
  readonly ads: readonly PlannedAd[]
  readonly steps: readonly Step[]
}

export interface Shopper {
  readonly userId: string
  readonly userLoggedInId?: string
}

export interface Place {
  readonly publisherId: number
  readonly market: Market
}

export interface AdChoice {
  readonly product?: DemoProduct
  readonly adGroup?: AdGroup
  readonly shopper?: Shopper
  readonly gtin?: string
  readonly servedAgoMs?: number
}

export interface PurchaseChoice {
  readonly shopper?: Shopper
  readonly transactionId?: string
  readonly publisherId?: number
}

interface DemoSite {
  readonly id: number
  readonly marketIds: readonly number[]
}

export interface Seat {
  readonly random: Random
  readonly place: Place
  readonly shopper: Shopper
  readonly index: number
  /** The advertisers whose products this shopper is shown. */
  readonly brands: readonly number[]
}

export class JourneyBuilder {
  readonly random: Random
  readonly place: Place
  readonly shopper: Shopper
  readonly index: number
  readonly #brands: readonly number[]
  readonly #ads: PlannedAd[] = []
  readonly #steps: Step[] = []
  #orderCount = 0
  #returnCount = 0

  constructor(seat: Seat) {
    this.random = seat.random
    this.place = seat.place
    this.shopper = seat.shopper
    this.index = seat.index
    this.#brands = seat.brands
  }

  build(scenario: string): Journey {
    return { scenario, ads: this.#ads, steps: this.#steps }
  }

  step(...actions: readonly Action[]): void {
    this.#steps.push(actions)
  }

  /** Each action as a step of its own. */
  steps(...actions: readonly Action[]): void {
    for (const action of actions) this.step(action)
  }

  /** Different products that are advertised to this shopper at this publisher in this market. */
  advertised(count: number): DemoProduct[] {
    const open = advertisersAt(this.place)
    const choice = products.filter(
      ({ advertiserId, isAdvertised }) =>
        isAdvertised && open.includes(advertiserId) && this.#brands.includes(advertiserId)
    )
    return this.random.sample(choice, count)
  }

  oneAdvertised(): DemoProduct {
    return this.random.pick(this.advertised(1))
  }

  siblingsOf(product: DemoProduct): DemoProduct[] {
    return products.filter(({ line, gtin }) => line === product.line && gtin !== product.gtin)
  }

  ad(choice: AdChoice = {}): PlannedAd {
    const product = choice.product ?? this.oneAdvertised()
    const adGroup = choice.adGroup ?? this.random.pick(adGroupsFor(product))
    const { market, publisherId } = this.place
    const planned: PlannedAd = {
      servedAgoMs: choice.servedAgoMs ?? null,
      request: {
        publisherId,
        siteId: this.#siteId(publisherId),
        marketId: market.id,
        advertiserId: adGroup.advertiserId,
        campaignId: adGroup.campaignId,
        adGroupId: adGroup.id,
        gtin: choice.gtin ?? product.gtin,
        groupId: product.groupId,
        ...(choice.shopper ?? this.shopper),
        costPerClick: amountText(adGroup.clickCents, market),
        costPerMille: amountText(adGroup.milleCents, market),
        ...(this.random.chance(0.95) ? { landingUrl: landingUrl(product) } : {}),
      },
    }
    this.#ads.push(planned)
    return planned
  }

  load(ad: PlannedAd): Action {
    return { type: 'fire', ad, kind: 'load', method: this.#method(), visitor: 'person' }
  }

  view(ad: PlannedAd): Action {
    return { type: 'fire', ad, kind: 'impression', method: this.#method(), visitor: 'person' }
  }

  click(ad: PlannedAd): Action {
    return { type: 'fire', ad, kind: 'click', method: 'GET', visitor: 'person' }
  }

  by(visitor: Visitor, action: Action): Action {
    if (action.type !== 'fire') return action
    return visitor === 'probe'
      ? { ...action, visitor, method: 'HEAD' }
      : { ...action, visitor, method: 'GET' }
  }

  /** A page: some ads of different products, loaded together and then seen, most of them. */
  page(count: number, shopper: Shopper = this.shopper): PlannedAd[] {
    const ads = this.advertised(count).map((product) => this.ad({ product, shopper }))
    this.step(...ads.map((ad) => this.load(ad)))
    const seen = ads.filter(() => this.random.chance(0.85))
    if (seen.length > 0) this.step(...seen.map((ad) => this.view(ad)))
    return ads
  }

  line(product: DemoProduct, changes: Partial<PurchaseLine> = {}): PurchaseLine {
    return {
      gtin: product.gtin,
      ...(this.random.chance(0.9) ? { groupId: product.groupId } : {}),
      price: this.#price(product),
      quantity: this.random.chance(0.7) ? 1 : this.random.between(2, 6),
      ...changes,
    }
  }

  purchase(lines: readonly PurchaseLine[], choice: PurchaseChoice = {}): PlannedPurchase {
    const { currency } = this.place.market
    const publisherId = choice.publisherId ?? this.place.publisherId
    return {
      publisherId,
      transactionId: choice.transactionId ?? this.nextTransactionId(),
      siteId: this.#siteId(publisherId),
      currency: this.random.chance(0.1) ? currency.toLowerCase() : currency,
      lines,
      ...(choice.shopper ?? this.shopper),
    }
  }

  buy(lines: readonly PurchaseLine[], choice: PurchaseChoice = {}): Action {
    return { type: 'purchase', purchase: this.purchase(lines, choice) }
  }

  sendBack(
    transactionId: string,
    lines: PlannedReturn['lines'],
    returnId: string = this.#nextReturnId()
  ): Action {
    const { publisherId } = this.place
    return { type: 'return', sentBack: { publisherId, transactionId, returnId, lines } }
  }

  nextTransactionId(): string {
    this.#orderCount += 1
    return `order-${this.index}-${this.#orderCount}`
  }

  #nextReturnId(): string {
    this.#returnCount += 1
    return `return-${this.index}-${this.#returnCount}`
  }

  #siteId(publisherId: number): number {
    const sites: readonly DemoSite[] = publishers.find(({ id }) => id === publisherId)?.sites ?? []
    const inMarket = sites.filter(({ marketIds }) => marketIds.includes(this.place.market.id))
    return this.random.pick(inMarket.length > 0 ? inMarket : sites).id
  }

  #method(): 'GET' | 'POST' {
    return this.random.chance(0.5) ? 'GET' : 'POST'
  }

  /** Two decimals for most, three for some, so that sums have to be rounded to be printed. */
  #price(product: DemoProduct): string {
    const cents = product.cents + this.random.between(-40, 40)
    const text = amountText(cents, this.place.market)
    return /\.\d\d$/.test(text) && this.random.chance(0.1) ? `${text}5` : text
  }
}

/** The ad groups that sponsor a product. */
export function adGroupsFor(product: DemoProduct): readonly AdGroup[] {
  const lineOfAdvertiser = product.line % 4
  return adGroups.filter(
    ({ advertiserId, lines }) =>
      advertiserId === product.advertiserId && lines.includes(lineOfAdvertiser)
  )
}

function advertisersAt({ publisherId, market }: Place): readonly number[] {
  return advertisers
    .filter(({ access }) =>
      access.some(
        (entry) =>
          entry.publisherId === publisherId && entry.marketIds.some((id) => id === market.id)
      )
    )
    .map(({ id }) => id)
}

function landingUrl(product: DemoProduct): string {
  return `https://shop.example/p/${encodeURIComponent(product.gtin)}?from=ad`
}
