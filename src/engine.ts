// Composition root of the engine process: ships the spool into the warehouse, attributes, and answers the
// campaign port. On a node without the engine's role it ships, and serves health and metrics.

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { AuditTrail } from './access/audit-trail.ts'
import { openKeyStore } from './access/key-store.ts'
import type { KeyStore } from './access/key-store.ts'
import { Backups } from './backup/backups.ts'
import { deriveProofKey } from './backup/manifest.ts'
import { refuseHalfRestored } from './backup/restore.ts'
import { buildCampaignApp } from './campaign/app.ts'
import { createDashboardPages } from './campaign/dashboard-pages.ts'
import type { PublicPage } from './campaign/deps.ts'
import { createDocsPages } from './campaign/docs-pages.ts'
import { openCatalogStore } from './catalog/catalog-store.ts'
import type { CatalogStore } from './catalog/catalog-store.ts'
import { entryStoreLimits } from './catalog/entry-store.ts'
import { catalogNames } from './catalog/catalog-names.ts'
import { createEventRules } from './catalog/event-rules.ts'
import { watchDecisions } from './catalog/fired-place.ts'
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
import { isDiskFull } from './ops/disk-room.ts'
import { createLog } from './ops/log.ts'
import { createMetrics } from './ops/metrics.ts'
import { TrackerMetrics } from './ops/tracker-metrics.ts'
import { createRecentNotBelieved } from './ops/not-believed.ts'
import { openWatch } from './ops/watch/open-watch.ts'
import { openTls } from './ops/tls.ts'
import type { RenewedTls } from './ops/tls.ts'
import { programVersion, version } from './ops/version.ts'
import { openNodes } from './nodes/nodes.ts'
import type { Nodes } from './nodes/nodes.ts'
import { Pipeline } from './pipeline/pipeline.ts'
import { createDeliveryJudge } from './pipeline/delivery-judge.ts'
import type { RowContext } from './pipeline/rows.ts'
import { limits as fileLimits, openFilesMax } from './processes/open-files.ts'
import { campaignPortOf, portFault, tryPort } from './processes/ports.ts'
import { refuseLostWarehouse } from './processes/lost-warehouse.ts'
import { openWarehouse } from './processes/open-warehouse.ts'
import { leaveUnusableFolder } from './processes/unusable-folder.ts'
import { prepareWarehouse } from './processes/prepare-warehouse.ts'
import { runChild, tell } from './processes/child.ts'
import type { Child } from './processes/child.ts'
import { createAttributionsLister } from './reports/attributions.ts'
import { createOwnExplainer } from './attribution/explain/for-advertiser.ts'
import { KeptPages } from './reports/kept-pages.ts'
import { createIntakeReader } from './reports/intake.ts'
import { BasisReader } from './reports/report-basis.ts'
import { createGroupsRunner } from './reports/run-groups.ts'
import { createReportRunner } from './reports/run-report.ts'
import { createSeriesReader } from './reports/series.ts'
import { createSummaryReader } from './reports/summary.ts'
import { readRestatements } from './days/restatement-list.ts'
import { createTrafficQualityReader } from './reports/traffic-quality.ts'
import { programFolder } from './program-folder.ts'
import { ensureSecrets } from './secrets.ts'
import type { Secrets } from './secrets.ts'
import { openFileSpool } from './spool/file-spool.ts'
import type { Spool } from './spool/spool.ts'
import { countUnsealedDays } from './days/unsealed-days.ts'
import { createAdmin } from './engine-admin.ts'
import { complaintsOf, sealedDepsOf } from './engine-status.ts'
import { openTracing, type Tracing } from './tracing/tracing.ts'
import { createOpener } from './tracking-data/tracking-data.ts'
import { readInstalledAtMs } from './warehouse/installation.ts'
import type { WarehouseLanes } from './warehouse/warehouse.ts'

/** Beside this file once it is built. */
const dashboardFolder = fileURLToPath(new URL('dashboard', programFolder))

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
  /** Null: nothing is traced. */
  readonly tracing: Tracing | null
  /** For the status alone: trackers read the list themselves. Null without one. */
  readonly dataCentres: DataCentres | null
  /** Null: the campaign port speaks HTTP. */
  readonly tls: RenewedTls | null
}

/** Tells the supervisor that the start has met a hindrance. */
function onWait(): void {
  tell({ type: 'waiting' })
}

/** Opens everything in the order in which it depends on each other. */
async function openEngine(config: Config): Promise<Engine> {
  const log = createLog({ level: config.logLevel, process: 'engine' })
  refuseHalfRestored(config.dataDir)
  // Also when it goes while the service runs, as when its disk is taken away.
  refuseLostWarehouse(config)
  const secrets = ensureSecrets(config)
  // Before the warehouse, which takes long and may be waited for, so that other faults are reported at once.
  const tls =
    config.tls === null ? null : await openTls({ files: config.tls, log, clock: systemClock })
  await tryPort(campaignPortOf(config))
  const tracing = await openTracing(config.tracing, 'engine')
  leaveUnusableFolder()
  const lanes = openWarehouse(config, { log, tracing })
  const { identityFingerprint } = secrets
  await prepareWarehouse({ lanes, config, identityFingerprint, log, onWait })
  const spool = openFileSpool({
    path: join(config.dataDir, 'spool'),
    bytesMax: config.spoolBytesMax,
    clock: systemClock,
  })
  const refreshMs =
    config.warehouseUrls === null ? entryStoreLimits.ownRefreshMs : entryStoreLimits.refreshMs
  const stored = { warehouse: lanes.lookups, clock: systemClock, log, refreshMs }
  const catalog = await openCatalogStore(stored)
  const keys = await openKeyStore({ ...stored, adminKey: secrets.adminKey })
  const clockWatch = openClockWatch(lanes, log)
  const nodes = openNodes({ config, warehouse: lanes.lookups, spool })
  const hasTrackers = config.roles.includes('tracker')
  const trackers = new TrackerMetrics(systemClock, { hasTrackers })
  const dataCentres = await openDataCentres({ path: config.dataCentresPath, log })
  return {
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
    tracing,
    dataCentres,
    tls,
  }
}

async function startEngine(config: Config): Promise<Child> {
  const engine = await openEngine(config)
  const { log, lanes, spool, catalog, keys, clockWatch, nodes, trackers, tracing } = engine
  const { dataCentres } = engine
  dataCentres?.watch()
  clockWatch.start()
  const decisions = watchDecisions(catalog, () => tell({ type: 'places' }))
  const audit = new AuditTrail({ warehouse: lanes.lookups, clock: systemClock, log })
  const pipeline = startPipeline(engine, audit)
  const campaign = await startCampaign(engine, { pipeline, audit })
  return {
    hearCounts: (message) => trackers.hear(message),
    hearLeaving: () => nodes.announceLeaving(),
    empty: () => nodes.leaveOnceEmpty(),
    async close() {
      await campaign.close()
      decisions.stop()
      await dataCentres?.close()
      await clockWatch.close()
      await pipeline.close()
      await nodes.close()
      await keys.close()
      await catalog.close()
      await spool.close()
      await lanes.close()
      await tracing?.close()
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
    tracing: engine.tracing,
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
  const backups = config.warehouseUrls === null ? createBackups(engine, pipeline) : null
  const isFull = config.roles.includes('engine')
  const { watch, ...looks } = startWatch(engine, { pipeline, backups })
  const app = buildCampaignApp({
    keys,
    tracing: engine.tracing,
    catalog,
    audit,
    ...createReaders(engine, keptPages),
    adminHandlers: createAdmin(engine, {
      keys,
      audit,
      pipeline,
      backups,
      watch,
      rowContext: rowContextOf(engine),
    }),
    openApi: () => {
      // Not the whole configuration: the document is public.
      const { trackingUrl, campaignUrl } = config
      return buildOpenApi({ trackingUrl, campaignUrl, version })
    },
    operations: isFull ? operations : nodeOperations,
    pages: isFull ? createPages(config) : [],
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
    reportPlacesMax: config.warehouseUrls === null ? 4 : 8,
    trustProxy: config.trustProxy,
    signOn: config.signOn,
    requiresDeliveryKey: config.requiresDeliveryKey,
    isDiskFull: () => config.warehouseUrls === null && isDiskFull(config.dataDir),
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

function createPages(config: Config): readonly PublicPage[] {
  return [...createDashboardPages(dashboardFolder, config.signOn), ...createDocsPages(config)]
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
  const names = () => catalogNames(catalog.current())
  const basis = new BasisReader({ warehouse, catalog: names })
  const reading = { warehouse, catalog: names, keptPages, basis }
  return {
    readIntake: createIntakeReader(warehouse),
    readTrafficQuality: createTrafficQualityReader(reading),
    runReport: createReportRunner(reading),
    listAttributions: createAttributionsLister(reading),
    explainOwnPurchase: createOwnExplainer({
      warehouse,
      settleMs: config.settleMs,
      catalog: () => catalog.current(),
    }),
    readSeries: createSeriesReader(reading),
    runGroups: createGroupsRunner(reading),
    readSummary: createSummaryReader(reading),
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
    isDiskFull: () => isDiskFull(config.dataDir),
    log,
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
