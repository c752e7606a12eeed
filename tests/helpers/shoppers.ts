// Shoppers who see an ad, click it and buy, each step repeated until the service answers 200, as real
// senders do. What was answered with 200 must be in the figures once.

import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Service } from './service.ts'
import { aBundle } from './bundle.ts'
import { placement } from './placement.ts'

export const browser =
  'Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36'

export interface Acknowledged {
  impressions: number
  clicks: number
  purchases: number
  valueCents: number
}

interface Token {
  readonly trackingData: string
  readonly userId: string
}

export class Shoppers {
  readonly acknowledged: Acknowledged = { impressions: 0, clicks: 0, purchases: 0, valueCents: 0 }
  readonly #trackingUrls: readonly string[]
  readonly #tokens: Token[]
  readonly #agent = new Agent({ keepAlive: true })
  #turn = 0
  #isStopping = false
  #working: Promise<void>[] = []

  private constructor(trackingUrls: readonly string[], tokens: Token[]) {
    this.#trackingUrls = trackingUrls
    this.#tokens = tokens
  }

  /**
   * Loads the catalog and mints a token for each shopper. Events may be taken by another node, or by several: each
   * request goes to the next one, also where it is repeated.
   */
  static async prepare(
    service: Pick<Service, 'admin' | 'trackingUrl'>,
    shopperCount: number,
    trackingUrl: string | readonly string[] = service.trackingUrl
  ): Promise<Shoppers> {
    const loaded = await service.admin('PUT', '/admin/v1/catalog', aBundle())
    if (!loaded.ok) throw new Error(`catalog: ${loaded.status} ${await loaded.text()}`)
    const tokens: Token[] = []
    while (tokens.length < shopperCount) {
      const users = Array.from({ length: 1_000 }, (_, index) => `shopper-${tokens.length + index}`)
      const links = users.map((userId) => ({
        ...placement,
        gtin: '4006381333931',
        userId,
        currency: 'EUR',
        costPerClick: '0.25',
      }))
      const minted = await service.admin('POST', '/admin/v1/tracking-links', { links })
      if (!minted.ok) throw new Error(`links: ${minted.status} ${await minted.text()}`)
      const body = (await minted.json()) as { links: { trackingData: string }[] }
      tokens.push(
        ...body.links.map(({ trackingData }, index) => ({ trackingData, userId: users[index]! }))
      )
    }
    return new Shoppers([trackingUrl].flat(), tokens)
  }

  start(atOnce: number): void {
    this.#working = Array.from({ length: atOnce }, async () => {
      while (!this.#isStopping) {
        const token = this.#tokens.pop()
        if (token === undefined) return
        await this.#shop(token)
      }
    })
  }

  async shopOnce(): Promise<void> {
    const token = this.#tokens.pop()
    if (token !== undefined) await this.#shop(token)
  }

  /** Lets every shopper finish what was begun. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await Promise.all(this.#working)
    this.#agent.destroy()
  }

  async #shop({ trackingData, userId }: Token): Promise<void> {
    await this.#insist(`/impression/${trackingData}`)
    this.acknowledged.impressions += 1
    await this.#insist(`/click/${trackingData}`)
    this.acknowledged.clicks += 1
    const cents = 100 + this.acknowledged.purchases
    await this.#insist(
      '/conversion',
      JSON.stringify({
        user_id: userId,
        transaction_id: `order-${userId}`,
        site_id: 101,
        publisher_id: 10,
        currency: 'EUR',
        products: [{ gtin: '4006381333931', price: cents / 100, quantity: 1 }],
      })
    )
    this.acknowledged.purchases += 1
    this.acknowledged.valueCents += cents
  }

  async #insist(path: string, body = ''): Promise<void> {
    for (;;) {
      const status = await this.#post(path, body).catch(() => 0)
      if (status === 200) return
      if (status >= 400 && status < 500) throw new Error(`${path.slice(0, 12)}: ${status}`)
      await sleep(20)
    }
  }

  async #post(path: string, body: string): Promise<number> {
    const url = this.#trackingUrls[(this.#turn += 1) % this.#trackingUrls.length] ?? ''
    return await new Promise((resolve, reject) => {
      const sent = request(
        `${url}${path}`,
        { method: 'POST', agent: this.#agent, headers: { 'user-agent': browser } },
        (response) => {
          response.on('error', reject)
          response.on('end', () => resolve(response.statusCode ?? 0))
          response.resume()
        }
      )
      // A process that was stopped holds its connections open.
      sent.setTimeout(5_000, () => sent.destroy(new Error('no answer')))
      sent.on('error', reject)
      sent.end(body)
    })
  }
}

export interface Figures {
  readonly impressions: number
  readonly clicks: number
  readonly purchases: number
  readonly valueCents: number
}

/** The sums of the report over all rows, from yesterday to tomorrow. */
export async function readFigures(service: Pick<Service, 'admin'>): Promise<Figures> {
  const answer = await service.admin('POST', '/v2/advertisers/1/reports/spa/product.json', {
    startDate: dayFromNow(-1),
    endDate: dayFromNow(1),
    attributionProfile: 'CLK_14_DAYS',
  })
  if (!answer.ok) throw new Error(`report: ${answer.status} ${await answer.text()}`)
  const { rows } = (await answer.json()) as { rows: Record<string, string>[] }
  const sum = (name: string) => rows.reduce((total, row) => total + Number(row[name]), 0)
  return {
    impressions: sum('IMPRESSIONS'),
    clicks: sum('CLICKS'),
    purchases: sum('CONVERSIONS'),
    valueCents: Math.round(sum('CONVERSION_VALUE') * 100),
  }
}

function dayFromNow(offset: number): string {
  return new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)
}
