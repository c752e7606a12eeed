// Composition root of the engine process: ships the spool into the warehouse, attributes, and answers the
// campaign port. On a node without the engine's role it ships, and serves health and metrics.

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { readAuditExport } from './access/audit-export.ts'
import { AuditTrail } from './access/audit-trail.ts'
import type { HandlerTable } from './http/handler.ts'
import { openKeyStore } from './access/key-store.ts'
import type { KeyStore } from './access/key-store.ts'
import { createAdminHandlers } from './campaign/admin/handlers.ts'
import { Backups } from './backup/backups.ts'
import { deriveProofKey } from './backup/manifest.ts'
import { refuseHalfRestored } from './backup/restore.ts'
import { buildCampaignApp } from './campaign/app.ts'
import { createDashboardPages } from './campaign/dashboard-pages.ts'
import { createDocsPages } from './campaign/docs-pages.ts'
import { openCatalogStore } from './catalog/catalog-store.ts'
import type { CatalogStore } from './catalog/catalog-store.ts'
import { catalogNames } from './catalog/catalog-names.ts'
import { createRateStore } from './catalog/ecb-rates.ts'
import { createEventRules } from './catalog/event-rules.ts'
import { watchFiredPlaces } from './catalog/fired-place.ts'
import { parseConfig } from './config.ts'
import type { Config } from './config.ts'
import { buildOpenApi } from './contract/openapi.ts'
import { operations } from './contract/operations.ts'
import { nodeOperations } from './contract/operations.ts'
import { createCallerReader } from './domain/caller.ts'
import { createIdentityHasher } from './domain/identity.ts'
import { systemClock } from './lib/clock.ts'
import { ClockWatch } from './ops/clock-watch.ts'
import { openDataCentres, type DataCentres } from './ops/data-centres.ts'
import { createLog } from './ops/log.ts'
import { createMetrics } from './ops/metrics.ts'
import { TrackerMetrics } from './ops/tracker-metrics.ts'
import { createRecentNotBelieved } from './ops/not-believed.ts'
import { openWatch, type OpenWatch } from './ops/watch/open-watch.ts'
import { openTls } from './ops/tls.ts'
import type { RenewedTls } from './ops/tls.ts'
import { programVersion, version } from './ops/version.ts'
import { openNodes } from './nodes/nodes.ts'
import type { Nodes } from './nodes/nodes.ts'
import { Pipeline } from './pipeline/pipeline.ts'
import { countOpenErasures, findErasure, listErasures, requestErasure } from './erasure/erasures.ts'
import { rebuildDays } from './days/rebuild.ts'
import { createJudgements } from './attribution/judging/judgements.ts'
import type { Judgements } from './attribution/judging/judgements.ts'
import { unvoidDelivery, voidDelivery } from './attribution/void-delivery.ts'
import { createDeliveryJudge } from './pipeline/delivery-judge.ts'
import type { RowContext } from './pipeline/rows.ts'
import { listSetAside, replaySetAside } from './pipeline/set-aside.ts'
import { limits as fileLimits, openFilesMax } from './processes/open-files.ts'
import { campaignPortOf, portFault, tryPort } from './processes/ports.ts'
import { openWarehouse } from './processes/open-warehouse.ts'
import { prepareWarehouse } from './processes/prepare-warehouse.ts'
import { runChild, tell } from './processes/child.ts'
import type { Child } from './processes/child.ts'
import { createAttributionsLister } from './reports/attributions.ts'
import { createConflictReader } from './reports/conflicts.ts'
import { createExplainer } from './attribution/explain/explain.ts'
import { createOwnExplainer } from './attribution/explain/for-advertiser.ts'
import { KeptPages } from './reports/kept-pages.ts'
import { createIntakeReader } from './reports/intake.ts'
import { createNamedIdsReader } from './reports/named-ids.ts'
import { createGroupsRunner } from './reports/run-groups.ts'
import { createReportRunner } from './reports/run-report.ts'
import { createSeriesReader } from './reports/series.ts'
import { readRestatements } from './days/restatement-list.ts'
import { createServedAdReader } from './reports/served-ad.ts'
import { createTrafficQualityReader } from './reports/traffic-quality.ts'
import { createUnconvertedReader } from './reports/unconverted.ts'
import { ensureSecrets } from './secrets.ts'
import type { Secrets } from './secrets.ts'
import { openFileSpool } from './spool/file-spool.ts'
import type { Spool } from './spool/spool.ts'
import { countUnsealedDays } from './days/unsealed-days.ts'
import { complaintsOf, createStatus, sealedDepsOf } from './engine-status.ts'
import { createMinter, createOpener } from './tracking-data/tracking-data.ts'
import { readInstalledAtMs } from './warehouse/installation.ts'
import type { WarehouseLanes } from './warehouse/warehouse.ts'

/** Beside this file once it is built. */
const dashboardFolder = fileURLToPath(new URL('dashboard', import.meta.url))

/** Everything that outlives a request, in the order in which it is opened. */
export interface Engine {
  readonly config: Config
  readonly log: Logger
  readonly secrets: Secrets
  readonly lanes: WarehouseLanes
  readonly spool: Spool
  readonly catalog: CatalogStore
  readonly keys: KeyStore
  readonly clockWatch: ClockWatch
  readonly nodes: Nodes
  readonly trackers: TrackerMetrics
  /** For the status alone: trackers read the list themselves. Null without one. */
  readonly dataCentres: DataCentres | null
  /** Null: the campaign port speaks HTTP. */
  readonly tls: RenewedTls | null
}

/** Tells the supervisor that the start has met a hindrance. */
function onWait(): void {
  tell({ type: 'waiting' })
}

async function startEngine(config: Config): Promise<Child> {
  const log = createLog({ level: config.logLevel, process: 'engine' })
  refuseHalfRestored(config.dataDir)
  const secrets = ensureSecrets(config)
  // Before the warehouse, which takes long and may be waited for, so that other faults are reported at once.
  const tls =
    config.tls === null ? null : await openTls({ files: config.tls, log, clock: systemClock })
  await tryPort(campaignPortOf(config))
  const lanes = openWarehouse(config)
  const { identityFingerprint } = secrets
  await prepareWarehouse({ warehouse: lanes.pipeline, config, identityFingerprint, log, onWait })
  const spool = openFileSpool({
    path: join(config.dataDir, 'spool'),
    bytesMax: config.spoolBytesMax,
    clock: systemClock,
  })
  const catalog = await openCatalogStore({ warehouse: lanes.lookups, clock: systemClock, log })
  const keys = await openKeyStore({
    warehouse: lanes.lookups,
    clock: systemClock,
    log,
    adminKey: secrets.adminKey,
  })
  const clockWatch = openClockWatch(lanes, log)
  const nodes = openNodes({ config, warehouse: lanes.lookups, spool })
  const hasTrackers = config.roles.includes('tracker')
  const trackers = new TrackerMetrics(systemClock, { hasTrackers })
  const dataCentres = await openDataCentres({ path: config.dataCentresPath, log })
  dataCentres?.watch()
  const engine: Engine = {
    config,
    log,
    secrets,
    lanes,
    spool,
    catalog,
    keys,
    clockWatch,
    nodes,
    trackers,
    dataCentres,
    tls,
  }
  clockWatch.start()
  const places = watchFiredPlaces(catalog, () => tell({ type: 'places' }))
  const audit = new AuditTrail({ warehouse: lanes.lookups, clock: systemClock, log })
  const pipeline = startPipeline(engine, audit)
  const campaign = await startCampaign(engine, { pipeline, audit })
  return {
    hearCounts: (message) => trackers.hear(message),
    hearLeaving: () => nodes.announceLeaving(),
    empty: () => nodes.leaveOnceEmpty(),
    async close() {
      await campaign.close()
      places.stop()
      await dataCentres?.close()
      await clockWatch.close()
      await pipeline.close()
      await nodes.close()
      await keys.close()
      await catalog.close()
      await spool.close()
      await lanes.close()
    },
  }
}

function openClockWatch(lanes: WarehouseLanes, log: Logger): ClockWatch {
  return new ClockWatch({
    warehouse: lanes.lookups,
    clock: systemClock,
    monotonicMs: () => performance.now(),
    log,
    onOffset: (offsetMs) => tell({ type: 'clock', offsetMs }),
  })
}

function rowContextOf({ config, secrets, catalog, keys }: Engine): RowContext {
  const opener = createOpener(secrets.keyRing)
  return {
    openTrackingData: opener.open,
    openAllTrackingData: opener.openAll,
    hashIdentity: createIdentityHasher(secrets.identitySecret),
    deliveryJudge: createDeliveryJudge({
      keys,
      catalog: () => catalog.current(),
      requiresKey: config.requiresDeliveryKey,
    }),
    callerOf: createCallerReader(),
    ...createEventRules(catalog),
  }
}

function startPipeline(engine: Engine, audit: AuditTrail): Pipeline {
  const { config, log, lanes, spool, catalog, nodes } = engine
  return new Pipeline({
    spool,
    nodes,
    warehouse: lanes.pipeline,
    settleMs: config.settleMs,
    log,
    attributes: config.roles.includes('engine'),
    retentionDays: config.retentionDays,
    markets: () => catalogNames(catalog.current()).markets(),
    clock: systemClock,
    rowContext: rowContextOf(engine),
    onJudged: ({ id, keyId, keyName, isDryRun }, { counts }) =>
      audit.record({
        key: { id: keyId, name: keyName },
        action: 'judgement.done',
        subject: id,
        details: { dryRun: isDryRun, ...counts },
      }),
  })
}

async function startCampaign(
  engine: Engine,
  { pipeline, audit }: { readonly pipeline: Pipeline; readonly audit: AuditTrail }
): Promise<{ close(): Promise<void> }> {
  const { config, log, spool, catalog, keys, tls } = engine
  const keptPages = new KeptPages({
    folder: join(config.dataDir, 'kept-reports'),
    clock: systemClock,
    onFailure: (err) => log.warn({ err }, 'a result of several pages could not be kept'),
  })
  const backups = config.warehouseUrl === null ? createBackups(engine, pipeline) : null
  const isFull = config.roles.includes('engine')
  const { watch, ...looks } = startWatch(engine, { pipeline, backups })
  const app = buildCampaignApp({
    keys,
    catalog,
    audit,
    ...createReaders(engine, keptPages),
    adminHandlers: createAdmin(engine, { keys, audit, pipeline, backups, watch }),
    openApi: buildOpenApi({
      trackingUrl: config.trackingUrl,
      campaignUrl: config.campaignUrl,
      version,
    }),
    operations: isFull ? operations : nodeOperations,
    pages: isFull ? [...createDashboardPages(dashboardFolder), ...createDocsPages(config)] : [],
    isReady: () => !engine.nodes.isLeaving && complaintsOf(engine, pipeline).length === 0,
    metrics: createMetrics({
      trackers: engine.trackers,
      watch,
      ...looks,
      nodes: () => engine.nodes.list(),
      spool,
      pipeline,
      clock: systemClock,
      clockOffsetMs: () => engine.clockWatch.offsetMs(),
      lastBackupAtMs: () => backups?.lastTakenAtMs() ?? null,
    }),
    clock: systemClock,
    log,
    tls: tls?.current,
    requestsPerMinuteMax: config.requestsPerMinuteMax,
    reportsPerKeyMax: config.reportsPerKeyMax,
    reportPlacesMax: config.warehouseUrl === null ? 4 : 8,
    trustProxy: config.trustProxy,
    requiresDeliveryKey: config.requiresDeliveryKey,
    // Connections never take the files that the warehouse needs.
    connectionsMax: openFilesMax() - fileLimits.engineFiles,
  })
  tls?.serve(app.server)
  await listen(app, config)
  tls?.watch()
  return {
    async close() {
      await tls?.close()
      await watch.close()
      await backups?.close()
      await app.close()
      await keptPages.close()
    },
  }
}

/** With the two questions to the warehouse that the metrics ask too. */
function startWatch(
  engine: Engine,
  { pipeline, backups }: { readonly pipeline: Pipeline; readonly backups: Backups | null }
) {
  const { config, lanes, clockWatch, nodes } = engine
  const looks = {
    unsealedDays: () => countUnsealedDays(sealedDepsOf(engine), systemClock()),
    notBelieved: createRecentNotBelieved({ warehouse: lanes.lookups, clock: systemClock }),
  }
  const watch = openWatch({
    ...config,
    ...engine,
    ...looks,
    pipeline,
    clock: systemClock,
    nodes: () => nodes.list(),
    clockOffsetMs: () => clockWatch.offsetMs(),
    lastBackupAtMs: () => backups?.lastTakenAtMs(),
    installedAtMs: () => readInstalledAtMs(lanes.lookups),
  })
  return { watch, ...looks }
}

/** The readers for publishers and advertisers. */
function createReaders({ config, lanes, catalog }: Engine, keptPages: KeptPages) {
  const { reports: warehouse } = lanes
  const reading = { warehouse, catalog: () => catalogNames(catalog.current()), keptPages }
  return {
    readIntake: createIntakeReader(warehouse),
    readTrafficQuality: createTrafficQualityReader(reading),
    runReport: createReportRunner(reading),
    listAttributions: createAttributionsLister(reading),
    explainOwnPurchase: createOwnExplainer({ warehouse, settleMs: config.settleMs }),
    readSeries: createSeriesReader(reading),
    runGroups: createGroupsRunner(reading),
    listRestatements: (sinceMs: number) => readRestatements(warehouse, sinceMs),
  }
}

function createBackups(engine: Engine, pipeline: Pipeline): Backups {
  const { config, log, secrets, lanes } = engine
  return new Backups({
    warehouse: lanes.pipeline,
    dataDir: config.dataDir,
    folder: config.backupDir,
    whileStill: (work) => pipeline.whileStill(work),
    version: programVersion,
    identityFingerprint: secrets.identityFingerprint,
    trackingKeyIds: secrets.keyRing.keys.map(({ id }) => id),
    proofKey: deriveProofKey(secrets.identitySecret),
    clock: systemClock,
    log,
  })
}

function createAdmin(
  engine: Engine,
  access: {
    readonly keys: KeyStore
    readonly audit: AuditTrail
    readonly pipeline: Pipeline
    readonly backups: Backups | null
    readonly watch: OpenWatch
  }
): HandlerTable {
  const { config, log, secrets, lanes, spool, catalog } = engine
  const { pipeline: warehouse, lookups, reports } = lanes
  const { settleMs } = config
  const rowContext = rowContextOf(engine)
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
    explainPurchase: createExplainer({ warehouse: reports, settleMs: config.settleMs }),
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

async function listen(app: FastifyInstance, config: Config): Promise<void> {
  try {
    await app.listen({ port: config.campaignPort, host: config.host })
  } catch (error) {
    throw portFault(error, campaignPortOf(config))
  }
}

await runChild(async () => await startEngine(parseConfig(process.env)))
