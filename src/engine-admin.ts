// The operator's part of the engine process: what the admin API does, of the parts of `engine.ts`.
import { readAuditExport } from './access/audit-export.ts'
import type { AuditTrail } from './access/audit-trail.ts'
import type { HandlerTable } from './http/handler.ts'
import type { KeyStore } from './access/key-store.ts'
import { createAdminHandlers } from './campaign/admin/handlers.ts'
import type { Backups } from './backup/backups.ts'
import { createRateStore } from './catalog/ecb-rates.ts'
import { createIdentityHasher } from './domain/identity.ts'
import { systemClock } from './lib/clock.ts'
import type { OpenWatch } from './ops/watch/open-watch.ts'
import type { Pipeline } from './pipeline/pipeline.ts'
import {
  countOpenErasures,
  findErasure,
  findStoredIdentities,
  listErasures,
  requestErasure,
} from './erasure/erasures.ts'
import { rebuildDays } from './days/rebuild.ts'
import { createJudgements } from './attribution/judging/judgements.ts'
import type { Judgements } from './attribution/judging/judgements.ts'
import { unvoidDelivery, voidDelivery } from './attribution/void-delivery.ts'
import type { RowContext } from './pipeline/rows.ts'
import { listSetAside, replaySetAside } from './pipeline/set-aside.ts'
import { createConflictReader } from './reports/conflicts.ts'
import { createExplainer } from './attribution/explain/explain.ts'
import { createNamedIdsReader } from './reports/named-ids.ts'
import { createServedAdReader } from './reports/served-ad.ts'
import { createUnconvertedReader } from './reports/unconverted.ts'
import { createStatus, sealedDepsOf } from './engine-status.ts'
import { createMinter, createOpener } from './tracking-data/tracking-data.ts'
import type { Engine } from './engine.ts'

export function createAdmin(
  engine: Engine,
  access: {
    readonly keys: KeyStore
    readonly audit: AuditTrail
    readonly pipeline: Pipeline
    readonly backups: Backups | null
    readonly watch: OpenWatch
    readonly rowContext: RowContext
  }
): HandlerTable {
  const { config, log, secrets, lanes, spool, catalog } = engine
  const { pipeline: warehouse, lookups, reports } = lanes
  const { settleMs } = config
  const { rowContext } = access
  const { markets } = sealedDepsOf(engine)
  const status = createStatus(engine, access)
  return createAdminHandlers({
    ...access,
    catalog,
    spool,
    clock: systemClock,
    minter: createMinter(secrets.keyRing),
    openTrackingData: createOpener(secrets.keyRing).open,
    hashIdentity: createIdentityHasher(secrets.identitySecret),
    trackingUrl: config.trackingUrl,
    rates: createRateStore(lookups, systemClock),
    rebuildDays: (days) => access.pipeline.runAsStep(() => rebuildDays({ warehouse, ...days })),
    readConflicts: createConflictReader(reports),
    readNamedIds: createNamedIdsReader(reports),
    readUnconverted: createUnconvertedReader({
      warehouse: reports,
      markets,
    }),
    readServedAd: createServedAdReader(reports),
    erasures: {
      request: (request) => access.pipeline.runAsStep(() => requestErasure(warehouse, request)),
      findStored: (request) => findStoredIdentities(reports, request),
      countOpen: () => countOpenErasures(reports),
      find: (id) => findErasure(reports, id),
      list: (limit) => listErasures(reports, limit),
    },
    exportAudit: (question) => readAuditExport(reports, question),
    judgements: judgementsOf(engine, access.pipeline),
    setAside: {
      list: (question) => listSetAside(reports, question),
      replay: (keys) =>
        access.pipeline.runAsStep(() =>
          replaySetAside({ warehouse, settleMs, log, rowContext, markets }, keys)
        ),
    },
    explainPurchase: createExplainer({
      warehouse: reports,
      settleMs: config.settleMs,
      catalog: () => catalog.current(),
    }),
    voidDelivery: (delivery) => access.pipeline.runAsStep(() => voidDelivery(warehouse, delivery)),
    unvoidDelivery: (delivery) =>
      access.pipeline.runAsStep(() => unvoidDelivery(warehouse, delivery)),
    status,
    statusHistory: access.watch.history,
  })
}

function judgementsOf({ config, lanes, catalog, keys }: Engine, pipeline: Pipeline): Judgements {
  return createJudgements({
    warehouse: lanes.pipeline,
    reports: lanes.reports,
    runAsStep: (work) => pipeline.runAsStep(work),
    readPolicy: async () => {
      await Promise.all([catalog.refresh(), keys.refresh()])
      const requiresKey = config.requiresDeliveryKey
      return { snapshot: catalog.current(), keys: keys.list(), requiresKey }
    },
  })
}
