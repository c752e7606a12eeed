// An incident on a real warehouse: while a publisher needs no key, somebody who has none sends purchases and
// returns in its name. Beside it stands the same world without the forgeries.

import { setTimeout as sleep } from 'node:timers/promises'
import { judgeDelivery } from '../../src/access/delivery-verdict.ts'
import type { DeliveryPolicy } from '../../src/access/delivery-verdict.ts'
import type { AccessKey } from '../../src/access/key.ts'
import { Attributor } from '../../src/attribution/attribute.ts'
import { Judging } from '../../src/attribution/judging/judge-again.ts'
import {
  findJudgement,
  requestJudgement,
} from '../../src/attribution/judging/judgement-requests.ts'
import type { JudgementOrder } from '../../src/attribution/judging/judgement-requests.ts'
import type { Judgement } from '../../src/contract/judgements.ts'
import type { ReportMarket } from '../../src/catalog/catalog-names.ts'
import { sealBatch } from '../../src/days/seal.ts'
import type { DeliveryJudge } from '../../src/pipeline/delivery-judge.ts'
import { liveFrom } from '../../src/spool/record.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { createHistoryLoader } from './history-warehouse.ts'
import type { HistoryPart } from './history-warehouse.ts'
import type { HistoryAd, HistoryDelivery, HistoryReturn } from './history.ts'
import { aClick, aPurchase, anAd, readFigures } from './seal-scenario.ts'
import { silentLog } from './silent-log.ts'
import { openTestWarehouse } from './test-warehouse.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** Noon of the first day, in UTC. */
const startMs = Date.UTC(2026, 2, 2, 12)
const shopperCount = 40
const honestCount = 400

const markets: readonly ReportMarket[] = [
  { id: 1, code: 'DE', currency: 'EUR', timeZone: 'Europe/Berlin' },
  { id: 2, code: 'JP', currency: 'EUR', timeZone: 'Asia/Tokyo' },
  { id: 3, code: 'US', currency: 'EUR', timeZone: 'America/New_York' },
]

/** The key of the honest shop, sent from the beginning although nobody asks for it. */
export const shopKey: AccessKey = {
  id: 'key_shop',
  name: 'Shop',
  advertisers: [],
  publishers: [10],
  scopes: ['delivery:write'],
  createdAtMs: startMs - dayMs,
  expiresAtMs: null,
  revokedAtMs: null,
  compromisedSinceMs: null,
  invitation: null,
  isSignOn: false,
  isConfigured: false,
}
/** Another key of the shop, which others have come to know. */
export const leakedKey: AccessKey = { ...shopKey, id: 'key_leaked' }
const [secret, leakedSecret] = ['the shop knows it', 'others know it too']

export const openPolicy: DeliveryPolicy = {
  sources: [],
  requiresKey: false,
  isKnownPublisher: true,
}
export const keyedPolicy: DeliveryPolicy = { ...openPolicy, requiresKey: true }

export interface Place {
  readonly warehouse: Warehouse
  /** By which deliveries are judged at shipping. */
  policy: DeliveryPolicy
  readonly ship: (parts: readonly HistoryPart[]) => Promise<void>
  readonly attribute: () => Promise<void>
  /** Seals what is over, and what was touched once more. */
  readonly seal: () => Promise<void>
  /** The reports of both advertisers, by day. */
  readonly figures: () => Promise<readonly string[]>
  /** How often each market's day was sealed. */
  readonly sealCounts: () => Promise<ReadonlyMap<string, number>>
}

interface Lifetime {
  after(close: () => Promise<void>): void
}

const keyById = (id: string) => [shopKey, leakedKey].find((key) => key.id === id) ?? null
const keyIds = new Map([
  [secret, shopKey.id],
  [leakedSecret, leakedKey.id],
])

export async function aPlace(t: Lifetime): Promise<Place> {
  const warehouse = await openTestWarehouse(t)
  const place = { policy: openPolicy }
  const judge: DeliveryJudge = {
    prepare: () => Promise.resolve(),
    judge: ({ publisherId, receivedAtMs, origin, presentedKey }) => {
      const keyId = keyIds.get(presentedKey) ?? null
      const facts = { publisherId, receivedAtMs, origin, keyId }
      return {
        verdict: judgeDelivery(facts, place.policy, keyById),
        keyKind: keyId === null ? 'none' : 'known',
        keyId: keyId ?? '',
      }
    },
  }
  const loader = createHistoryLoader(warehouse, 0, markets, judge)
  const deps = { warehouse, markets: () => markets, settledThroughMs: () => Date.UTC(2026, 2, 14) }
  return Object.assign(place, {
    warehouse,
    ship: (parts: readonly HistoryPart[]) => loader.ship(parts),
    attribute: async () => {
      // The step asks for purchases that became pending before it began reading.
      await sleep(2)
      const attributor = new Attributor({ warehouse, settleMs: 0 })
      while ((await attributor.attributeBatch()).hasMore);
    },
    seal: async () => {
      // Whatever was touched fits into the first batch. Marks lie five minutes ahead, so what was renewed is
      // touched still, and is left alone by the others.
      await sealBatch({ ...deps, renewPauseMs: 0 })
      while ((await sealBatch({ ...deps, renewPauseMs: 3_600_000 })).sealedCount > 0);
    },
    figures: async () => {
      const ranges = [1, 2].map((advertiserId) => ({ advertiserId, endDate: '2026-03-14' }))
      const lines: string[] = []
      for (const range of ranges) lines.push(...(await readFigures(warehouse, markets, range)))
      return lines.map((line) => line.replace(/ (open|sealed)$/u, ''))
    },
    sealCounts: async () => {
      const rows = await warehouse.rows<{ day: string; count: number }>(
        `SELECT concat(toString(day), ' ', toString(unit)) AS day, toUInt32(uniqExact(revision)) AS count
         FROM sealed_day GROUP BY day LIMIT 1000`
      )
      return new Map(rows.map(({ day, count }) => [day, count]))
    },
  })
}

const fromShop = { origin: liveFrom('198.51.100.7'), presentedKey: secret }
export const withLeakedKey = { origin: liveFrom('192.0.2.66'), presentedKey: leakedSecret }
const fromAnybody = { origin: liveFrom('192.0.2.66'), presentedKey: 'none' }

const idOf = (prefix: string, index: number) =>
  prefix + index.toString(16).padStart(32 - prefix.length, '0')

/** One ad for each shopper, of one of two advertisers in one of three markets. */
function adOf(shopper: number): HistoryAd {
  const isFirst = shopper % 2 === 0
  return anAd({
    servedAdId: idOf('a', shopper),
    servedAtMs: startMs + shopper * 1_000,
    marketId: (shopper % 3) + 1,
    userId: `shopper-${shopper}`,
    advertiserId: isFirst ? 1 : 2,
    campaignId: isFirst ? 1001 : 2001,
    adGroupId: isFirst ? 5001 : 6001,
  })
}

/** Near the midnights of the three zones on six days. */
function honestAtMs(index: number): number {
  const midnightHours = [3, 11, 17]
  const hour = midnightHours[index % 3] ?? 0
  return startMs + dayMs * (index % 6) + hour * hourMs + ((index % 41) - 20) * 180_000 + index
}

function honestPurchase(index: number): HistoryDelivery {
  return {
    ...aPurchase({
      atMs: honestAtMs(index),
      deliveryId: idOf('b', index),
      transactionId: `2026-${index}`,
      price: 10 + (index % 7),
      quantity: 1 + (index % 3),
    }),
    userId: `shopper-${index % shopperCount}`,
    sender: fromShop,
  }
}

function aReturn(options: {
  readonly deliveryId: string
  readonly returnId: string
  readonly transactionId: string
  readonly atMs: number
  readonly quantity: number
  readonly sender: HistoryDelivery['sender'] & {}
}): HistoryReturn {
  const { atMs, quantity, ...named } = options
  return {
    ...named,
    receivedAtMs: atMs,
    publisherId: 10,
    lines: [{ gtin: '4006381333931', quantity }],
    untrusted: false,
  }
}

export function honest(): readonly HistoryPart[] {
  const numbers = Array.from({ length: honestCount }, (_, index) => index)
  return [
    ...Array.from({ length: shopperCount }, (_, shopper) =>
      aClick(adOf(shopper), startMs + shopper * 1_000 + 500)
    ),
    ...numbers.map((index) => honestPurchase(index)),
    ...numbers
      .filter((index) => index % 9 === 0)
      .map((index) =>
        aReturn({
          deliveryId: idOf('c', index),
          returnId: `R-${index}`,
          transactionId: `2026-${index}`,
          atMs: honestAtMs(index) + hourMs,
          quantity: 1,
          sender: fromShop,
        })
      ),
  ]
}

/**
 * A quarter of the forged purchases take order numbers of the shop before it sends them, the others claim
 * sales; returns are sent ahead of orders, and under the ids of the shop's own returns.
 */
export function forgeries(
  purchases: number,
  returns: number,
  sender: HistoryDelivery['sender'] & {} = fromAnybody
): readonly HistoryPart[] {
  return [
    ...Array.from({ length: purchases }, (_, index): HistoryDelivery => {
      const isSquatter = index % 4 === 0
      const of = Math.floor(index / 4) % honestCount
      return {
        ...aPurchase({
          atMs: isSquatter ? honestAtMs(of) - hourMs - (index % 997) : honestAtMs(index) + 7,
          deliveryId: idOf('e', index),
          transactionId: isSquatter ? `2026-${of}` : `x-${index}`,
          price: isSquatter ? 0 : 999,
          quantity: 1 + (index % 5),
        }),
        userId: `shopper-${index % shopperCount}`,
        sender,
      }
    }),
    ...Array.from({ length: returns }, (_, index) => {
      const of = index % honestCount
      return aReturn({
        deliveryId: idOf('f', index),
        returnId: of % 9 === 0 ? `R-${of}` : `forged-${index}`,
        transactionId: `2026-${of}`,
        atMs: honestAtMs(of) - 2 * hourMs,
        quantity: 2_147_483_647,
        sender,
      })
    }),
  ]
}

const order: Omit<JudgementOrder, 'isDryRun'> = {
  publisherId: 10,
  fromMs: startMs - dayMs,
  toMs: startMs + 12 * dayMs,
  reason: 'forged purchases',
  assume: null,
  pinned: { policy: keyedPolicy, keys: [shopKey] },
  key: { id: 'key_admin', name: 'Operator' },
}

export async function request(
  warehouse: Warehouse,
  changes: Partial<JudgementOrder> = {}
): Promise<string> {
  return (await requestJudgement(warehouse, { ...order, isDryRun: false, ...changes })).id
}

export function judgingOf(warehouse: Warehouse, pageRowsMax = 2_500): Judging {
  return new Judging({
    warehouse,
    markets: () => markets,
    log: silentLog,
    onDone: () => Promise.resolve(),
    settleJudgingMs: 0,
    pageRowsMax,
  })
}

/** Requests a judgement and works until it is done. */
export async function judgeAll(
  warehouse: Warehouse,
  changes: Partial<JudgementOrder> = {}
): Promise<Judgement> {
  const id = await request(warehouse, changes)
  return await finish(warehouse, id)
}

export async function finish(warehouse: Warehouse, id: string): Promise<Judgement> {
  const judging = judgingOf(warehouse)
  while (await judging.step());
  const judgement = await findJudgement(warehouse, id)
  if (judgement === null) throw new Error('the judgement is there')
  return judgement
}
