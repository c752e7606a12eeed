// Brings generated histories into a real warehouse through the real shipping step. Only the token is
// left out: publisher and id of the served ad stand for it, and opening it looks the ad up.

import { dayOf } from '../../src/domain/day.ts'
import { createIdentityHasher } from '../../src/domain/identity.ts'
import { createCallerReader } from '../../src/domain/caller.ts'
import type { DeliveryJudge } from '../../src/pipeline/delivery-judge.ts'
import { emptyRules } from './empty-catalog.ts'
import type { RowContext } from '../../src/pipeline/rows.ts'
import { applyJudgements } from '../../src/attribution/apply-judgements.ts'
import { warehouseNow } from '../../src/warehouse/instant.ts'
import type { ReportMarket } from '../../src/catalog/catalog-names.ts'
import { backfilled, liveFrom } from '../../src/spool/record.ts'
import type { SpoolRecord } from '../../src/spool/record.ts'
import type { Spool, SpoolEntry } from '../../src/spool/spool.ts'
import type { OpenedToken, TrackingData } from '../../src/tracking-data/tracking-data.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import type { History, HistoryAd, HistoryDelivery, HistoryEvent, HistoryReturn } from './history.ts'
import { judgeBySource, shipBatch } from './shipment.ts'
import { silentLog } from './silent-log.ts'

const elsewhere = liveFrom('192.0.2.1')
const hashIdentity = createIdentityHasher(Buffer.alloc(32, 7))

export interface HistoryLoader {
  /** Ships one batch of everything, in the order given. */
  ship(parts: readonly HistoryPart[]): Promise<void>
  void(deliveries: readonly (HistoryDelivery | HistoryReturn)[]): Promise<void>
  /** Judges again what has a judgement. */
  judge(parts: readonly (HistoryDelivery | HistoryReturn)[]): Promise<void>
}

/** Ids of 16 bytes in the order of making. */
export function createIds(): () => string {
  let count = 0
  return () => (count += 1).toString(16).padStart(32, '0')
}

export type HistoryPart = HistoryEvent | HistoryDelivery | HistoryReturn

export function partsOf(history: History): HistoryPart[] {
  return [...history.events, ...history.deliveries, ...history.returns]
}

export function createHistoryLoader(
  warehouse: Warehouse,
  settleMs: number,
  markets: readonly ReportMarket[] = [],
  deliveryJudge: DeliveryJudge = judgeBySource(({ origin }) => origin !== elsewhere)
): HistoryLoader {
  const ads = new Map<string, HistoryAd>()
  const open = (text: string): OpenedToken => {
    const ad = ads.get(text)
    if (ad === undefined) return { ok: false, reason: 'not-authentic' }
    return { ok: true, canonical: text, data: { ...ad, landingUrl: '' } satisfies TrackingData }
  }
  const context: RowContext = {
    openTrackingData: open,
    openAllTrackingData: (texts) => texts.map(open),
    hashIdentity,
    deliveryJudge,
    callerOf: createCallerReader(),
    ...emptyRules,
  }
  const nextKey = createIds()
  return {
    async ship(parts) {
      const entries = parts.map((part): SpoolEntry => {
        if ('ad' in part) ads.set(tokenOf(part.ad), part.ad)
        const key = 'ad' in part ? nextKey() : part.deliveryId
        return { key, record: recordOf(part) }
      })
      await shipBatch({
        spool: oneBatchSpool(entries),
        warehouse,
        rowContext: context,
        settleMs,
        markets: () => markets,
        streaks: null,
        log: silentLog,
      })
    },
    async void(deliveries) {
      await judge(warehouse, { id: 'by-hand', deliveries, verdictOf: () => 'void' })
    },
    async judge(parts) {
      const deliveries = parts.filter((part) => part.judged !== undefined)
      await judge(warehouse, { id: 'again', deliveries, verdictOf: (part) => part.judged })
    },
  }
}

interface Judging {
  readonly id: string
  readonly deliveries: readonly (HistoryDelivery | HistoryReturn)[]
  readonly verdictOf: (part: HistoryDelivery | HistoryReturn) => string | undefined
}

async function judge(warehouse: Warehouse, { id, deliveries, verdictOf }: Judging): Promise<void> {
  const judgedAt = await warehouseNow(warehouse)
  const keys = await readKeys(warehouse, deliveries)
  for (let from = 0; from < deliveries.length; from += 2_000) {
    const rows = deliveries.slice(from, from + 2_000).map((one) => {
      const row = {
        purchaseKey: keys.get(one.deliveryId) ?? '',
        deliveryId: one.deliveryId,
        verdict: verdictOf(one) ?? '',
      }
      if ('returnId' in one) return row
      const { receivedAtMs, publisherId } = one
      return Object.assign(row, { accepted: { day: dayOf(receivedAtMs, 'UTC'), publisherId } })
    })
    await applyJudgements(warehouse, { judgementId: id, judgedAt, rows })
  }
}

async function readKeys(
  warehouse: Warehouse,
  deliveries: readonly { readonly deliveryId: string }[]
): Promise<ReadonlyMap<string, string>> {
  const keys = new Map<string, string>()
  await warehouse.barrier(['delivery', 'purchase_return'])
  for (let from = 0; from < deliveries.length; from += 2_000) {
    const ids = deliveries.slice(from, from + 2_000).map(({ deliveryId }) => deliveryId)
    const rows = await warehouse.rows<{ id: string; key: string }>(
      `SELECT lower(hex(delivery_id)) AS id, lower(hex(purchase_key)) AS key
       FROM (SELECT delivery_id, purchase_key FROM delivery
         UNION ALL SELECT delivery_id, purchase_key FROM purchase_return)
       WHERE delivery_id IN (SELECT toFixedString(unhex(arrayJoin({ids:Array(String)})), 16))`,
      { ids }
    )
    for (const { id, key } of rows) keys.set(id, key)
  }
  return keys
}

function tokenOf({ publisherId, servedAdId }: HistoryAd): string {
  return `${publisherId}/${servedAdId}`
}

function recordOf(part: HistoryPart): SpoolRecord {
  if ('ad' in part) {
    return {
      type: 'ad-event',
      kind: part.kind,
      receivedAtMs: part.receivedAtMs,
      trackingData: tokenOf(part.ad),
      userAgent: part.userAgent,
      isPrefetch: part.prefetch,
    }
  }
  const sender = part.sender ?? {
    origin: part.untrusted ? elsewhere : backfilled,
    presentedKey: 'none' as const,
  }
  if ('returnId' in part) {
    const { receivedAtMs, publisherId, transactionId, returnId, lines } = part
    return {
      type: 'return',
      receivedAtMs,
      publisherId,
      transactionId,
      returnId,
      lines,
      ...sender,
    }
  }
  return {
    type: 'conversion',
    receivedAtMs: part.receivedAtMs,
    publisherId: part.publisherId,
    siteId: part.siteId,
    transactionId: part.transactionId,
    userIdentity: hashIdentity('user', part.publisherId, part.userId),
    loginIdentity: hashIdentity('login', part.publisherId, part.userLoggedInId),
    currency: part.currency,
    lines: part.lines,
    ...sender,
  }
}

function oneBatchSpool(entries: readonly SpoolEntry[]): Spool {
  return {
    append: () => Promise.reject(new Error('nothing is appended here')),
    read: () => ({
      parts: () => [{ entries, broken: [] }],
      recordCount: entries.length,
      frames: ['all'],
    }),
    remove: () => Promise.resolve(),
    depth: () => ({ frames: 0, bytes: 0, oldestAtMs: null }),
    close: () => Promise.resolve(),
  }
}
