// A spool, a warehouse and builders with dull defaults for tests of the shipping step.

import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { createIdentityHasher } from '../../src/domain/identity.ts'
import { ServiceError } from '../../src/errors.ts'
import { RefusalStreaks } from '../../src/warehouse/insert-rows.ts'
import type { DeliveryJudge } from '../../src/pipeline/delivery-judge.ts'
import { createCallerReader } from '../../src/domain/caller.ts'
import { emptyRules } from './empty-catalog.ts'
import type { RowContext } from '../../src/pipeline/rows.ts'
import { Shipper } from '../../src/pipeline/ship.ts'
import type { ShipDeps, ShipResult } from '../../src/pipeline/ship.ts'
import { openMemorySpool } from './memory-spool.ts'
import { liveFrom } from '../../src/spool/record.ts'
import type {
  AdEventRecord,
  ConversionLine,
  ConversionRecord,
  ReturnRecord,
  SpoolRecord,
} from '../../src/spool/record.ts'
import type { Spool } from '../../src/spool/spool.ts'
import { createKeyRing, createMinter, createOpener } from '../../src/tracking-data/tracking-data.ts'
import type { Warehouse } from '../../src/warehouse/warehouse.ts'
import { anAd, servedAtMs } from '../tracking-data/builders.ts'
import { silentLog } from './silent-log.ts'
import { openTestWarehouse } from './test-warehouse.ts'

const hourMs = 3_600_000
const ring = createKeyRing()
/** Mints tokens that the shipment of these tests opens. */
export const { mint } = createMinter(ring)
export const { open: openTrackingData, openAll: openAllTrackingData } = createOpener(ring)
export const hashIdentity = createIdentityHasher(Buffer.alloc(32, 7))
/** Where deliveries come from that these shipments do not trust. */
export const elsewhere = liveFrom('192.0.2.1')

export interface Shipment {
  readonly deps: ShipDeps
  readonly warehouse: Warehouse
  readonly spool: Spool
  /** The frames of the spool by key. */
  readonly frames: Map<string, Buffer>
}

interface Lifetime {
  after(close: () => void | Promise<void>): void
}

export async function aShipment(t: Lifetime): Promise<Shipment> {
  const warehouse = await openTestWarehouse(t)
  const frames = new Map<string, Buffer>()
  const spool = openMemorySpool({ clock: Date.now, frames })
  t.after(() => spool.close())
  const rowContext: RowContext = {
    openTrackingData,
    openAllTrackingData,
    hashIdentity,
    deliveryJudge: judgeBySource(({ origin }) => !isDeepStrictEqual(origin, elsewhere)),
    callerOf: createCallerReader(),
    ...emptyRules,
  }
  const deps: ShipDeps = {
    spool,
    warehouse,
    rowContext,
    settleMs: 2_000,
    markets: () => [],
    streaks: new RefusalStreaks(),
    log: silentLog,
  }
  return { deps, warehouse, spool, frames }
}

/** Judges by the source alone and knows no keys. */
export function judgeBySource(
  isTrusted: (record: ConversionRecord | ReturnRecord) => boolean
): DeliveryJudge {
  return {
    prepare: () => Promise.resolve(),
    judge: (record) => ({
      verdict: isTrusted(record) ? 'valid' : 'untrusted-source',
      keyKind: 'none',
      keyId: '',
    }),
  }
}

/** Ships one batch, and forgets what was planned of the next. */
export async function shipBatch(deps: ShipDeps): Promise<ShipResult> {
  return await new Shipper(deps).shipBatch()
}

export async function append(spool: Spool, records: readonly SpoolRecord[]): Promise<void> {
  await Promise.all(records.map((record) => spool.append(record)))
}

/** The same warehouse, away for the statements and tables that the check names. */
export function failing(warehouse: Warehouse, isAway: (sql: string) => boolean): Warehouse {
  const check = (sql: string): void => {
    if (isAway(sql)) throw new ServiceError('WAREHOUSE_UNAVAILABLE', 'away')
  }
  return {
    command: async (sql, params) => {
      check(sql)
      await warehouse.command(sql, params)
    },
    rows: async (sql, params) => {
      check(sql)
      return await warehouse.rows(sql, params)
    },
    stream: (sql, params, signal) => warehouse.stream(sql, params, signal),
    insert: async (table, lines, columns) => {
      check(table)
      await warehouse.insert(table, lines, columns)
    },
    barrier: (tables) => warehouse.barrier(tables),
    close: () => warehouse.close(),
  }
}

export function withRemove(spool: Spool, remove: Spool['remove']): Spool {
  return {
    append: (record) => spool.append(record),
    read: (recordsMax, after) => spool.read(recordsMax, after),
    remove,
    depth: () => spool.depth(),
    close: () => spool.close(),
  }
}

export function anEvent(changes: Partial<AdEventRecord> = {}): AdEventRecord {
  return {
    type: 'ad-event',
    kind: 'click',
    receivedAtMs: servedAtMs + hourMs,
    trackingData: changes.trackingData ?? mint(anAd()).trackingData,
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0',
    isPrefetch: false,
    ...changes,
  }
}

export function aConversion(changes: Partial<ConversionRecord> = {}): ConversionRecord {
  return {
    type: 'conversion',
    receivedAtMs: servedAtMs + 2 * hourMs,
    publisherId: 10,
    siteId: 101,
    transactionId: 'T1',
    userIdentity: hashIdentity('user', 10, 'user-1'),
    loginIdentity: '',
    currency: 'EUR',
    lines: [aLine()],
    origin: liveFrom('198.51.100.7'),
    presentedKey: 'none',
    ...changes,
  }
}

export function aReturn(changes: Partial<ReturnRecord> = {}): ReturnRecord {
  return {
    type: 'return',
    receivedAtMs: servedAtMs + 3 * hourMs,
    publisherId: 10,
    transactionId: 'T1',
    returnId: 'R1',
    lines: [{ gtin: '4006381333931', quantity: 1 }],
    origin: liveFrom('198.51.100.7'),
    presentedKey: 'none',
    ...changes,
  }
}

export function aLine(changes: Partial<ConversionLine> = {}): ConversionLine {
  return {
    gtin: '4006381333931',
    groupId: '',
    brand: 'Acme',
    price: 19.99,
    quantity: 1,
    ...changes,
  }
}

interface Counts {
  readonly events: number
  readonly touchpoints: number
  readonly deliveries: number
  readonly aside: number
}

export async function counts(warehouse: Warehouse): Promise<Counts> {
  const [row] = await warehouse.rows<Counts>(
    `SELECT e.n AS events, t.n AS touchpoints, d.n AS deliveries, s.n AS aside
     FROM (SELECT count() AS n FROM ad_event FINAL) AS e
     CROSS JOIN (SELECT count() AS n FROM touchpoint FINAL) AS t
     CROSS JOIN (SELECT count() AS n FROM delivery FINAL) AS d
     CROSS JOIN (SELECT count() AS n FROM set_aside FINAL) AS s`
  )
  assert.ok(row !== undefined)
  return row
}

/**
 * Everything that reports and attribution read, but for the instants of shipping, and addresses, which leave
 * when ClickHouse merges.
 */
export async function snapshot(warehouse: Warehouse): Promise<unknown> {
  const queries = [
    'SELECT * APPLY toString APPLY hex FROM ad_event FINAL ORDER BY ALL',
    'SELECT * APPLY toString APPLY hex FROM touchpoint FINAL ORDER BY ALL',
    'SELECT * EXCEPT (shipped_at, source_address) APPLY toString APPLY hex FROM delivery FINAL ORDER BY ALL',
    `SELECT hex(purchase_key) AS purchase, toString(min(first)) AS first,
       groupUniqArrayArray(days) AS days FROM purchase GROUP BY purchase_key ORDER BY ALL`,
    'SELECT * EXCEPT (shipped_at, source_address) APPLY toString APPLY hex FROM purchase_return FINAL ORDER BY ALL',
    'SELECT * APPLY toString APPLY hex FROM purchase_identity FINAL ORDER BY ALL',
    'SELECT DISTINCT day, hex(purchase_key) AS purchase FROM pending_purchase ORDER BY ALL',
    'SELECT key, reason, record FROM set_aside FINAL ORDER BY ALL',
  ]
  const tables: unknown[] = []
  for (const query of queries) tables.push(await warehouse.rows(query))
  return tables
}

interface Aside {
  readonly key: string
  readonly reason: string
  readonly record: string
}

export async function readAside(warehouse: Warehouse): Promise<Aside[]> {
  return await warehouse.rows<Aside>('SELECT key, reason, record FROM set_aside FINAL ORDER BY key')
}

/** How often each purchase was made pending. */
export async function readPending(
  warehouse: Warehouse
): Promise<readonly { readonly transaction: string; readonly n: number }[]> {
  return await warehouse.rows(
    `SELECT d.transaction_id AS transaction, count() AS n
     FROM pending_purchase AS p
     INNER JOIN (SELECT DISTINCT purchase_key, transaction_id FROM delivery) AS d
       ON d.purchase_key = p.purchase_key
     GROUP BY transaction ORDER BY transaction`
  )
}
