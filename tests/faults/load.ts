// Shoppers without end: most repeat each step until it is acknowledged, as real senders do. Some give
// up in the middle, hang up before the answer or send half a request, and some repeat what was
// acknowledged. The ledger knows what each of them has sent and been told.

import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from '../../scripts/demo/random.ts'
import { placement } from '../helpers/placement.ts'
import type { Service } from '../helpers/service.ts'
import { browser } from '../helpers/shoppers.ts'
import { Ledger, steps } from './ledger.ts'
import type { Journey, Step } from './ledger.ts'

const limits = {
  mintedPerCall: 1_000,
  mintAttemptsMax: 8,
  answerMs: 5_000,
  repeatMs: 50,
} as const

export interface LoadOptions {
  readonly service: Service
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

export class Load {
  readonly ledger = new Ledger()
  readonly #options: LoadOptions
  readonly #random: Random
  readonly #agent = new Agent({ keepAlive: true })
  #waiting: Omit<Shopper, 'journey'>[] = []
  #mintedCount = 0
  #isStopping = false
  #working: Promise<void>[] = []

  constructor(options: LoadOptions) {
    this.#options = options
    this.#random = new Random(options.seed)
  }

  /** Mints ahead, in quiet moments, so that faults never meet the minting. */
  async mintAhead(count: number): Promise<void> {
    while (this.#waiting.length < count) {
      const first = this.#mintedCount
      const numbers = Array.from({ length: limits.mintedPerCall }, (_, index) => first + index)
      const links = numbers.map(anAd)
      const shoppers = (await this.#mint(links)).map(({ trackingData }, index) => ({
        trackingData,
        userId: `shopper-${first + index}`,
      }))
      this.#mintedCount += shoppers.length
      this.#waiting.unshift(...shoppers.toReversed())
    }
  }

  /** A warehouse that was away a moment ago may be missed once more; that is answered with 503. */
  async #mint(links: readonly object[]): Promise<readonly { readonly trackingData: string }[]> {
    for (let attempt = 1; ; attempt += 1) {
      const minted = await this.#options.service.admin('POST', '/admin/v1/tracking-links', {
        links,
      })
      const text = await minted.text()
      if (minted.ok) return (JSON.parse(text) as { links: { trackingData: string }[] }).links
      if (minted.status !== 503 || attempt === limits.mintAttemptsMax) {
        throw new Error(`links: ${minted.status} ${text}`)
      }
      await sleep(attempt * 500)
    }
  }

  start(): void {
    this.#isStopping = false
    this.#working = Array.from({ length: this.#options.shopperCount }, () => this.#shopOnAndOn())
  }

  /** Lets every shopper finish what was begun. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.#working)
    this.#agent.destroy()
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
      if (manner < 0.05) await this.#sendHalf(shopper, step)
      else if (manner < 0.2) await this.#hangUp(shopper, step)
      else await this.#insist(shopper, step)
    }
    // A sender that lost the answer, or its own note of it, repeats.
    if (manner > 0.9) {
      for (const step of steps) await this.#post(shopper, step, limits.answerMs).catch(() => 0)
    }
  }

  async #insist(shopper: Shopper, step: Step): Promise<void> {
    for (;;) {
      shopper.journey.deliveries[step] = 'sent'
      const status = await this.#post(shopper, step, limits.answerMs).catch(() => 0)
      if (status === 200) break
      if (status >= 400 && status < 500) throw new Error(`${step}: ${status}`)
      await sleep(limits.repeatMs)
    }
    shopper.journey.deliveries[step] = 'acknowledged'
  }

  /** Once, with so little patience that the answer is often missed. */
  async #hangUp(shopper: Shopper, step: Step): Promise<void> {
    shopper.journey.deliveries[step] = 'sent'
    const patienceMs = this.#random.between(0, 12)
    const status = await this.#post(shopper, step, patienceMs).catch(() => 0)
    if (status === 200) shopper.journey.deliveries[step] = 'acknowledged'
  }

  async #sendHalf(shopper: Shopper, step: Step): Promise<void> {
    shopper.journey.deliveries[step] = 'torn'
    const { path, body } = contentOf(shopper, step)
    const head = `POST ${path} HTTP/1.1\r\nhost: shelftrace\r\ncontent-length: ${body.length}\r\n`
    // Without its body a conversion is nothing; a link is whole once its head is.
    const whole = body === '' ? head : `${head}\r\n${body}`
    const port = Number(new URL(this.#options.service.trackingUrl).port)
    const cutAt = this.#random.between(1, whole.length - 1)
    await new Promise<void>((resolve) => {
      const socket = connect({ host: '127.0.0.1', port })
      socket.on('error', () => resolve())
      socket.on('close', () => resolve())
      socket.write(whole.slice(0, cutAt), () => socket.destroy())
    })
  }

  async #post(shopper: Shopper, step: Step, patienceMs: number): Promise<number> {
    const { path, body } = contentOf(shopper, step)
    return await new Promise((resolve, reject) => {
      const sent = request(
        `${this.#options.service.trackingUrl}${path}`,
        { method: 'POST', agent: this.#agent, headers: { 'user-agent': browser } },
        (response) => {
          response.on('error', reject)
          response.on('end', () => resolve(response.statusCode ?? 0))
          response.resume()
        }
      )
      const timer = setTimeout(() => sent.destroy(new Error('no answer')), patienceMs)
      sent.on('error', reject)
      sent.on('close', () => clearTimeout(timer))
      sent.end(body)
    })
  }
}

function anAd(number: number) {
  return {
    ...placement,
    gtin: `product-${number}`,
    userId: `shopper-${number}`,
    currency: 'EUR',
    costPerClick: '0.25',
  }
}

function contentOf(
  { journey, trackingData, userId }: Shopper,
  step: Step
): { readonly path: string; readonly body: string } {
  if (step !== 'purchase') return { path: `/${step}/${trackingData}`, body: '' }
  const body = JSON.stringify({
    user_id: userId,
    transaction_id: `order-${userId}`,
    site_id: placement.siteId,
    publisher_id: placement.publisherId,
    currency: 'EUR',
    products: [{ gtin: journey.gtin, price: journey.valueCents / 100, quantity: 1 }],
  })
  return { path: '/conversion', body }
}
