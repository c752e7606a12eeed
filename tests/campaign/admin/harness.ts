// The admin API with its real stores and warehouse, a spool in memory and the real minter, behind the
// campaign port.
import { silentMetrics } from '../../helpers/silent-metrics.ts'
import { pino } from 'pino'
import { readAuditExport } from '../../../src/access/audit-export.ts'
import { AuditTrail } from '../../../src/access/audit-trail.ts'
import { openKeyStore, type KeyStore } from '../../../src/access/key-store.ts'
import { createAdminHandlers } from '../../../src/campaign/admin/handlers.ts'
import type { AdminDeps } from '../../../src/campaign/admin/deps.ts'
import {
  countOpenErasures,
  findErasure,
  findStoredIdentities,
  listErasures,
  requestErasure,
} from '../../../src/erasure/erasures.ts'
import { rebuildDays } from '../../../src/days/rebuild.ts'
import { listSetAside, replaySetAside } from '../../../src/pipeline/set-aside.ts'
import { createJudgements } from '../../../src/attribution/judging/judgements.ts'
import { unvoidDelivery, voidDelivery } from '../../../src/attribution/void-delivery.ts'
import { createCallerReader } from '../../../src/domain/caller.ts'
import { emptyRules } from '../../helpers/empty-catalog.ts'
import { openCatalogStore, type CatalogStore } from '../../../src/catalog/catalog-store.ts'
import { buildCampaignApp } from '../../../src/campaign/app.ts'
import type { KeyRequest, StatusResponse } from '../../../src/contract/admin.ts'
import { buildOpenApi } from '../../../src/contract/openapi.ts'
import { catalogNames } from '../../../src/catalog/catalog-names.ts'
import { createRateStore } from '../../../src/catalog/ecb-rates.ts'
import { createConflictReader } from '../../../src/reports/conflicts.ts'
import { createExplainer } from '../../../src/attribution/explain/explain.ts'
import { createOwnExplainer } from '../../../src/attribution/explain/for-advertiser.ts'
import { createIntakeReader } from '../../../src/reports/intake.ts'
import { createServedAdReader } from '../../../src/reports/served-ad.ts'
import { createNamedIdsReader } from '../../../src/reports/named-ids.ts'
import { createUnconvertedReader } from '../../../src/reports/unconverted.ts'
import { createTrafficQualityReader } from '../../../src/reports/traffic-quality.ts'
import type { SpoolRecord } from '../../../src/spool/record.ts'
import { hashIdentity, judgeBySource } from '../../helpers/shipment.ts'
import { openMemorySpool } from '../../helpers/memory-spool.ts'
import {
  createKeyRing,
  createMinter,
  createOpener,
} from '../../../src/tracking-data/tracking-data.ts'
import { readRestatements } from '../../../src/days/restatement-list.ts'
import type { Warehouse } from '../../../src/warehouse/warehouse.ts'
import { LogCapture } from '../harness.ts'
import { openMigratedWarehouse } from '../../helpers/test-warehouse.ts'
import { openKeptPages } from '../../helpers/kept-pages.ts'
import { entriesOf } from '../../helpers/spooled.ts'

export const adminKey = 'admin-'.padEnd(43, 'k')
export const nowMs = Date.UTC(2026, 2, 2, 10)

export const status: StatusResponse = {
  version: '1.0.0',
  warehouse: { kind: 'embedded', available: true, version: '26.7' },
  spool: { bytes: 400 },
  lagMs: 12,
  clock: { offsetMs: 3 },
  failing: [],
  sealed: [{ marketId: 1, completeThrough: null }],
  uncounted: { bot: 2 },
  conflicts: 1,
  setAside: 0,
  crowds: 3,
  misplaced: 4,
  retention: { days: 400, finalBefore: '2025-04-01', waitsForDay: null },
}

export const bundle = {
  markets: [
    { id: 1, code: 'DE', currency: 'EUR', timeZone: 'Europe/Berlin' },
    { id: 2, code: 'XX', currency: 'JPY', timeZone: 'Asia/Tokyo', active: false },
  ],
  publishers: [
    { id: 10, name: 'Shop', sites: [{ id: 101, name: 'D', type: 'DESKTOP', marketIds: [1] }] },
    { id: 20, name: 'Other', sites: [{ id: 201, name: 'D', type: 'DESKTOP', marketIds: [1] }] },
  ],
  advertisers: [
    { id: 1, name: 'Acme' },
    { id: 2, name: 'Rival' },
  ],
  campaigns: [
    { id: 1001, advertiserId: 1, name: 'Spring' },
    { id: 1002, advertiserId: 1, name: 'Past', active: false },
    { id: 2001, advertiserId: 2, name: 'Other' },
  ],
  adGroups: [
    { id: 5001, campaignId: 1001, name: 'Coffee', type: 'SPA' },
    { id: 5002, campaignId: 1002, name: 'Past', type: 'SPA' },
    { id: 6001, campaignId: 2001, name: 'Other', type: 'SPA' },
  ],
}

export interface AdminHarness {
  readonly app: ReturnType<typeof buildCampaignApp>
  readonly warehouse: Warehouse
  readonly catalog: CatalogStore
  readonly keys: KeyStore
  readonly log: LogCapture
  readonly openTrackingData: AdminDeps['openTrackingData']
  readonly hashIdentity: AdminDeps['hashIdentity']
  readonly mintAd: AdminDeps['minter']['mint']
  /** As the admin; a body that is no text goes as JSON. */
  readonly call: (method: 'GET' | 'PUT' | 'POST', url: string, body?: unknown) => Promise<Called>
  readonly spooled: () => readonly SpoolRecord[]
  readonly keyOf: (changes: Partial<KeyRequest>) => Promise<string>
  readonly audits: () => Promise<readonly AuditRow[]>
  readonly close: () => Promise<void>
}

interface Called {
  readonly status: number
  readonly json: Record<string, unknown>
}

interface AuditRow {
  readonly key_id: string
  readonly action: string
  readonly subject: string
  readonly details: string
}

/** Of the proxy that signs people in. */
export const proxyAddress = '192.0.2.9'

const clock = () => nowMs

export async function startAdmin(changes: Partial<AdminDeps> = {}): Promise<AdminHarness> {
  const warehouse = await openMigratedWarehouse()
  const log = new LogCapture()
  const pinoLog = pino({ level: 'trace' }, log)
  const stores = { warehouse, clock, log: pinoLog, refreshMs: 3_600_000 }
  const catalog = await openCatalogStore(stores)
  const keys = await openKeyStore({ ...stores, adminKey })
  const keyRing = createKeyRing()
  const minter = createMinter(keyRing, { clock })
  const { open: openTrackingData, openAll: openAllTrackingData } = createOpener(keyRing)
  const spool = openMemorySpool({ clock })
  const audit = new AuditTrail({ warehouse, clock })
  const rowContext = {
    openTrackingData,
    openAllTrackingData,
    hashIdentity,
    deliveryJudge: judgeBySource(() => true),
    callerOf: createCallerReader(),
    ...emptyRules,
  }
  const adminHandlers = createAdminHandlers({
    clock,
    catalog,
    keys,
    audit,
    spool,
    minter,
    openTrackingData,
    hashIdentity,
    trackingUrl: 'https://t.example',
    rates: createRateStore(warehouse, clock),
    rebuildDays: (days) => rebuildDays({ warehouse, ...days }),
    readConflicts: createConflictReader(warehouse),
    readNamedIds: createNamedIdsReader(warehouse),
    readUnconverted: createUnconvertedReader({
      warehouse,
      markets: () => catalogNames(catalog.current()).markets(),
    }),
    readServedAd: createServedAdReader(warehouse),
    erasures: {
      request: (request) => requestErasure(warehouse, request),
      findStored: (request) => findStoredIdentities(warehouse, request),
      countOpen: () => countOpenErasures(warehouse),
      find: (id) => findErasure(warehouse, id),
      list: (limit) => listErasures(warehouse, limit),
    },
    exportAudit: (question) => readAuditExport(warehouse, question),
    judgements: createJudgements({
      warehouse,
      reports: warehouse,
      runAsStep: (work) => work(),
      readPolicy: () =>
        Promise.resolve({ snapshot: catalog.current(), keys: keys.list(), requiresKey: false }),
    }),
    setAside: {
      list: (question) => listSetAside(warehouse, question),
      replay: (wanted) =>
        replaySetAside(
          { warehouse, settleMs: 2_000, log: pinoLog, rowContext, markets: () => [] },
          wanted
        ),
    },
    explainPurchase: createExplainer({ warehouse, settleMs: 0, catalog: () => catalog.current() }),
    voidDelivery: (delivery) => voidDelivery(warehouse, delivery),
    unvoidDelivery: (delivery) => unvoidDelivery(warehouse, delivery),
    backups: null,
    status: () => Promise.resolve(status),
    statusHistory: () => ({ points: [], ended: [] }),
    ...changes,
  })
  const keptPages = openKeptPages()
  const app = buildCampaignApp({
    keys,
    catalog,
    listRestatements: (sinceMs) => readRestatements(warehouse, sinceMs),
    adminHandlers,
    audit,
    readIntake: createIntakeReader(warehouse),
    readTrafficQuality: createTrafficQualityReader({
      warehouse,
      catalog: () => catalogNames(catalog.current()),
      keptPages,
    }),
    listAttributions: () => Promise.reject(new Error('no attributions here')),
    explainOwnPurchase: createOwnExplainer({
      warehouse,
      settleMs: 0,
      catalog: () => catalog.current(),
    }),
    runReport: () => Promise.reject(new Error('no reports here')),
    readSeries: () => Promise.reject(new Error('no reports here')),
    runGroups: () => Promise.reject(new Error('no reports here')),
    readSummary: () => Promise.reject(new Error('no reports here')),
    openApi: () => buildOpenApi({ trackingUrl: 'http://t', campaignUrl: 'http://c', version: '1' }),
    isReady: () => true,
    metrics: silentMetrics,
    signOn: { header: 'x-forwarded-email', isProxy: (address) => address === proxyAddress },
    clock,
    log: pinoLog,
  })
  return {
    app,
    warehouse,
    catalog,
    keys,
    log,
    openTrackingData,
    hashIdentity,
    mintAd: minter.mint,
    call: async (method, url, body) => {
      const payload = typeof body === 'string' ? body : JSON.stringify(body)
      const response = await app.inject({
        method,
        url,
        headers: bearer(adminKey),
        ...(payload !== undefined && { payload }),
      })
      return { status: response.statusCode, json: response.json() }
    },
    spooled: () => entriesOf(spool.read(1_000_000)).map(({ record }) => record),
    keyOf: async (request) => {
      const base = { name: 'n', advertisers: 'all', scopes: ['admin'] } as const
      return (await keys.create({ ...base, ...request })).key
    },
    audits: () =>
      warehouse.rows<AuditRow>(
        'SELECT key_id, action, subject, details FROM audit ORDER BY at, id LIMIT 1000'
      ),
    close: async () => {
      await app.close()
      await catalog.close()
      await keys.close()
      await spool.close()
      await warehouse.close()
    },
  }
}

export function bearer(key: string): { readonly authorization: string } {
  return { authorization: `Bearer ${key}` }
}
