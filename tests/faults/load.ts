// Shoppers without end: most repeat each step until it is acknowledged, as real senders do. Some give
// up in the middle, hang up before the answer or send half a request, and some repeat what was
// acknowledged. The ledger knows what each of them has sent and been told.

import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from '../../scripts/demo/random.ts'
import { placement } from '../helpers/placement.ts'
import type { Service } from '../helpers/service.ts'
import { Ledger, steps } from './ledger.ts'
import type { Journey, Step } from './ledger.ts'
import { Sender } from './sender.ts'
import type { Content } from './sender.ts'

const limits = {
  mintedPerCall: 1_000,
  mintAttemptsMax: 8,
  repeatMs: 50,
  /** Of one special shopper, at once. */
  postsAtOnce: 6,
} as const

export interface LoadOptions {
  /** Where links are minted. */
  readonly engine: Service
  readonly trackingUrls: readonly string[]
  readonly seed: number
  /** Shoppers at once; each pauses between journeys so that the load stays bounded. */
  readonly shopperCount: number
  readonly pauseMs: number
}

interface Shopper {
  readonly journey: Journey
  readonly trackingData: string
  readonly userId: string
}

/** A journey beside the load, with a purchase of so many lines of the product. */
export interface SpecialJourney {
  /** What its product and its shopper are called. */
  readonly name: string
  readonly adCount: number
  readonly lineCount: number
  readonly isRefused: boolean
}

export class Load {
  readonly ledger = new Ledger()
  readonly #options: LoadOptions
  readonly #random: Random
  readonly #sender: Sender
  #waiting: Omit<Shopper, 'journey'>[] = []
  #mintedCount = 0
  #isStopping = false
  #working: Promise<void>[] = []
  #failure: unknown = null

  constructor(options: LoadOptions) {
    this.#options = options
    this.#random = new Random(options.seed)
    this.#sender = new Sender(options.trackingUrls, this.#random)
  }

  /** Mints ahead, in quiet moments, so that faults never meet the minting. */
  async mintAhead(count: number): Promise<void> {
    while (this.#waiting.length < count) {
      const first = this.#mintedCount
      const numbers = Array.from({ length: limits.mintedPerCall }, (_, index) => first + index)
      const links = numbers.map((number) => anAd(`product-${number}`, `shopper-${number}`))
      const shoppers = (await this.mint(links)).map((trackingData, index) => ({
        trackingData,
        userId: `shopper-${first + index}`,
      }))
      this.#mintedCount += shoppers.length
      this.#waiting.unshift(...shoppers.toReversed())
    }
  }

  /** A warehouse that was away a moment ago may be missed once more; that is answered with 503. */
  async mint(links: readonly object[]): Promise<readonly string[]> {
    for (let attempt = 1; ; attempt += 1) {
      const minted = await this.#options.engine.admin('POST', '/admin/v1/tracking-links', { links })
      const text = await minted.text()
      if (minted.ok) {
        const answer = JSON.parse(text) as { links: { trackingData: string }[] }
        return answer.links.map(({ trackingData }) => trackingData)
      }
      if (minted.status !== 503 || attempt === limits.mintAttemptsMax) {
        throw new Error(`links: ${minted.status} ${text}`)
      }
      await sleep(attempt * 500)
    }
  }

  start(): void {
    this.#isStopping = false
    this.#working = Array.from({ length: this.#options.shopperCount }, async () => {
      await this.#shopOnAndOn().catch((error: unknown) => {
        this.#failure ??= error
      })
    })
  }

  /** Throws when a shopper was answered what none may be. */
  check(): void {
    if (this.#failure !== null) throw this.#failure
  }

  /** Lets every shopper finish what was begun. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.#working)
    this.#sender.close()
    this.check()
  }

  /** Lets no shopper finish: there may be nobody left who answers. */
  async abandon(): Promise<void> {
    this.#isStopping = true
    this.#sender.close()
    await Promise.all(this.#working)
  }

  /** Everything of it is acknowledged when this resolves. */
  async shopSpecial({ name, adCount, lineCount, isRefused }: SpecialJourney): Promise<Journey> {
    const userId = `shopper-${name}`
    const links = Array.from({ length: adCount }, () => anAd(name, userId))
    const tokens = await this.mint(links)
    const valueCents = lineCount * 100
    const journey = this.ledger.begin(name, { adCount, isRefused, valueCents })
    for (const step of ['load', 'impression', 'click'] as const) {
      const rest = [...tokens]
      let by = ''
      const sendOnAndOn = async () => {
        for (let token = rest.pop(); token !== undefined; token = rest.pop()) {
          by = await this.#sender.insist({ path: `/${step}/${token}`, body: '' }, (asked) =>
            this.ledger.note(journey, step, { delivery: 'sent', by: asked })
          )
        }
      }
      await Promise.all(Array.from({ length: limits.postsAtOnce }, sendOnAndOn))
      this.ledger.note(journey, step, { delivery: 'acknowledged', by })
    }
    const purchase = purchaseOf({ userId, gtin: name, valueCents, lineCount })
    await this.#insist(journey, 'purchase', purchase)
    return journey
  }

  async #shopOnAndOn(): Promise<void> {
    while (!this.#isStopping) {
      const next = this.#waiting.pop()
      if (next === undefined) {
        await sleep(limits.repeatMs)
        continue
      }
      const gtin = next.userId.replace('shopper', 'product')
      await this.#shop({ ...next, journey: this.ledger.begin(gtin) })
      await sleep(this.#options.pauseMs)
    }
  }

  async #shop(shopper: Shopper): Promise<void> {
    const manner = this.#random.fraction()
    for (const step of steps) {
      const content = contentOf(shopper, step)
      if (manner < 0.05) await this.#sendHalf(shopper.journey, step, content)
      else if (manner < 0.2) await this.#hangUp(shopper.journey, step, content)
      else await this.#insist(shopper.journey, step, content)
    }
    // A sender that lost the answer, or its own note of it, repeats.
    if (manner > 0.9) {
      for (const step of steps) await this.#sender.post(contentOf(shopper, step))
    }
  }

  async #insist(journey: Journey, step: Step, content: Content): Promise<void> {
    const by = await this.#sender.insist(content, (asked) =>
      this.ledger.note(journey, step, { delivery: 'sent', by: asked })
    )
    this.ledger.note(journey, step, { delivery: 'acknowledged', by })
  }

  /** Once, with so little patience that the answer is often missed. */
  async #hangUp(journey: Journey, step: Step, content: Content): Promise<void> {
    const { status, by } = await this.#sender.post(content, {
      patienceMs: this.#random.between(0, 12),
      onSend: (asked) => this.ledger.note(journey, step, { delivery: 'sent', by: asked }),
    })
    if (status === 200) this.ledger.note(journey, step, { delivery: 'acknowledged', by })
  }

  async #sendHalf(journey: Journey, step: Step, content: Content): Promise<void> {
    this.ledger.note(journey, step, { delivery: 'torn', by: '' })
    await this.#sender.sendHalf(content)
  }
}

function anAd(gtin: string, userId: string) {
  return { ...placement, gtin, userId, currency: 'EUR', costPerClick: '0.25' }
}

function contentOf({ journey, trackingData, userId }: Shopper, step: Step): Content {
  if (step !== 'purchase') return { path: `/${step}/${trackingData}`, body: '' }
  return purchaseOf({ ...journey, userId, lineCount: 1 })
}

function purchaseOf(options: {
  readonly userId: string
  readonly gtin: string
  readonly valueCents: number
  readonly lineCount: number
}): Content {
  const { userId, gtin, valueCents, lineCount } = options
  const price = valueCents / lineCount / 100
  const body = JSON.stringify({
    user_id: userId,
    transaction_id: `order-${userId}`,
    site_id: placement.siteId,
    publisher_id: placement.publisherId,
    currency: 'EUR',
    products: Array.from({ length: lineCount }, () => ({ gtin, price, quantity: 1 })),
  })
  return { path: '/conversion', body }
}
