// An account as large as wanted, in a running service and through its own doors: a catalog, reference rates, and events
// of the past as lines. Nothing in it is random, so the same size gives the same figures again.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EventsResult } from '../../src/contract/event-lines.ts'
import type { StatusResponse } from '../../src/contract/admin.ts'
import { createMinter, parseKeyRing } from '../../src/tracking-data/tracking-data.ts'
import {
  adGroupIdOf,
  adGroupsPerCampaign,
  allMarkets,
  bundlesOf,
  campaignCount,
  campaignIdOf,
  gtinOf,
  largeAdvertiserId,
  marketsOf,
  ratesOf,
  siteIdOf,
  type AccountSize,
} from './large-catalog.ts'
import { eventually, type Service } from './service.ts'

const dayMs = 86_400_000
const limits = { linesPerCall: 20_000, patienceMs: 900_000 } as const
const smallDays = 56

/** Resolves when all events are shipped and attributed and all days sealed, which the time of a run depends on. */
export async function fillLargeAccount(service: Service, size: AccountSize): Promise<void> {
  for (const bundle of bundlesOf(size)) {
    const body = JSON.stringify(bundle)
    await send(service, { method: 'PUT', path: 'catalog', type: 'application/json', body })
  }
  await send(service, { method: 'PUT', path: 'rates', type: 'text/csv', body: ratesOf(size) })
  const minter = minterOf(service)
  let lines: string[] = []
  for (let serial = 0; serial < size.ads + size.smallAds; serial += 1) {
    lines.push(...linesOf(serial, size, minter))
    if (lines.length >= limits.linesPerCall) {
      await sendEvents(service, lines)
      lines = []
    }
  }
  await sendEvents(service, lines)
  await caughtUp(service)
}

/** Steps that are prime to one another mix markets, products, campaigns and hours. */
function adOf(serial: number, size: AccountSize) {
  const isLarge = serial < size.ads
  const place = isLarge ? serial : serial - size.ads
  const [days, count] = isLarge
    ? [size.days, size.ads]
    : [Math.min(smallDays, size.days), size.smallAds]
  const advertiserId = isLarge ? largeAdvertiserId : smallAdvertiserId(place, size)
  const campaignId = campaignIdOf(advertiserId, isLarge ? (place * 11) % campaignCount : 0)
  const markets = marketsOf(size)
  const market = markets[(place * 3 + Math.floor(place / 8)) % markets.length] ?? allMarkets[0]
  const midnightMs = Math.floor(size.nowMs / dayMs) * dayMs
  const day = Math.floor((place * days) / count)
  const publisherId = 1 + (place % 3)
  return {
    publisherId,
    siteId: siteIdOf(publisherId),
    marketId: market.id,
    advertiserId,
    campaignId,
    adGroupId: adGroupIdOf(campaignId, place % adGroupsPerCampaign),
    gtin: gtinOf((place * 47) % size.products),
    userId: `shopper-${serial}`,
    currency: market.currency,
    costPerClickMicros: BigInt(Math.round(250_000 * market.perEuro)),
    costPerMilleMicros: BigInt(Math.round(1_000_000 * market.perEuro)),
    servedAtMs: midnightMs - (days - day) * dayMs + ((place * 7_919) % 86_000) * 1_000,
  }
}

/** One in eight has no event at all. */
function smallAdvertiserId(place: number, { advertisers }: AccountSize): number {
  const id = 2 + ((place * 7) % Math.max(1, advertisers - 1))
  return id % 8 === 0 ? id - 1 : id
}

type Mint = ReturnType<typeof minterOf>

function minterOf({ dataDir }: Service) {
  const text = readFileSync(join(dataDir, 'secrets.json'), 'utf8')
  const { keyRing } = JSON.parse(text) as { keyRing: unknown }
  return createMinter(parseKeyRing(JSON.stringify(keyRing)))
}

/** Every ad is seen, each tenth one is clicked, and a third of the clicks sell. */
function linesOf(serial: number, size: AccountSize, { mint }: Mint): readonly string[] {
  const ad = adOf(serial, size)
  const { trackingData } = mint(ad)
  const at = (minutes: number) => new Date(ad.servedAtMs + minutes * 60_000).toISOString()
  const lines: object[] = [{ type: 'impression', trackingData, receivedAt: at(1) }]
  if (serial % 10 === 3) lines.push({ type: 'click', trackingData, receivedAt: at(2) })
  if (serial % 30 === 3) {
    const price = Number(ad.costPerClickMicros / 25_000n) * (1 + (serial % 9))
    const conversion = {
      user_id: ad.userId,
      transaction_id: `order-${serial}`,
      site_id: ad.siteId,
      publisher_id: ad.publisherId,
      currency: ad.currency,
      products: [{ gtin: ad.gtin, price, quantity: 1 + (serial % 2) }],
    }
    lines.push({ type: 'conversion', receivedAt: at(30), conversion })
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`)
}

async function sendEvents(service: Service, lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return
  const type = 'application/x-ndjson'
  const answer = await send(service, { method: 'POST', path: 'events', type, body: lines.join('') })
  const { accepted } = JSON.parse(answer) as EventsResult
  if (accepted !== lines.length) throw new Error(answer.slice(0, 500))
}

interface Sending {
  readonly method: 'PUT' | 'POST'
  readonly path: 'catalog' | 'rates' | 'events'
  readonly type: string
  readonly body: string
}

async function send(service: Service, { method, path, type, body }: Sending): Promise<string> {
  const answer = await fetch(`${service.campaignUrl}/admin/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${service.adminKey}`, 'content-type': type },
    body,
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text.slice(0, 500)}`)
  return text
}

async function caughtUp(service: Service): Promise<void> {
  await eventually(
    'all events are shipped, attributed, and their days sealed',
    async () => {
      const answer = await service.admin('GET', '/admin/v1/status')
      const { lagMs, attribution, days } = (await answer.json()) as StatusResponse
      return lagMs === 0 && attribution?.lagMs === 0 && days?.unsealed === 0
    },
    limits.patienceMs,
    500
  )
}
