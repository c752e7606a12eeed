// Composition root of a tracker process: HTTP in, spool out, nothing else.

import { join } from 'node:path'
import { parseConfig } from './config.ts'
import type { Config } from './config.ts'
import { createIdentityHasher } from './domain/identity.ts'
import { isReceiptInstant } from './domain/windows.ts'
import { systemClock } from './lib/clock.ts'
import { isClockFit } from './ops/clock-watch.ts'
import { openDataCentres } from './ops/data-centres.ts'
import { createLog } from './ops/log.ts'
import { openTls } from './ops/tls.ts'
import { limits, openFilesMax } from './processes/open-files.ts'
import { portFault, trackingPortOf } from './processes/ports.ts'
import { runChild, tell } from './processes/child.ts'
import type { TrackerCounts } from './http/request-counts.ts'
import type { Child } from './processes/child.ts'
import { readSecretsFile } from './secrets.ts'
import { openFileSpool } from './spool/file-spool.ts'
// Not from the entry of the library, with which what only minting needs would be loaded.
import { createOpener } from './tracking-data/opener.ts'
import { tracedSpool } from './tracing/traced-spool.ts'
import { openTracing } from './tracing/tracing.ts'
import { createTrackingServer } from './tracking/server.ts'
import type { TrackingServer } from './tracking/server.ts'

/** Metrics are asked for every 15 s or less often. */
const countsPauseMs = 2_000

async function startTracker(config: Config): Promise<Child> {
  const log = createLog({ level: config.logLevel, process: 'tracker' })
  const secrets = readSecretsFile(config.secretsFile)
  const tls =
    config.tls === null ? null : await openTls({ files: config.tls, log, clock: systemClock })
  const dataCentres = await openDataCentres({ path: config.dataCentresPath, log })
  const tracing = await openTracing(config.tracing, 'tracker')
  const files = openFileSpool({
    path: join(config.dataDir, 'spool'),
    bytesMax: config.spoolBytesMax,
    clock: systemClock,
  })
  const spool = tracing === null ? files : tracedSpool(files, tracing)
  let clockOffsetMs: number | null = null
  let isLeaving = false
  const tracking = createTrackingServer({
    spool,
    opener: createOpener(secrets.keyRing),
    hashIdentity: createIdentityHasher(secrets.identitySecret),
    clock: systemClock,
    // With the warehouse on the same machine, the offset says nothing about the clock.
    isReady: () => !isLeaving && isClockFit(clockOffsetMs) && isReceiptInstant(systemClock()),
    log,
    trustProxy: config.trustProxy,
    ...(dataCentres !== null && { dataCentreListOf: dataCentres.listOf }),
    connectionsMax: openFilesMax() - limits.trackerFiles,
    tls: tls?.current,
  })
  tls?.serve(tracking.server)
  await listen(tracking, config)
  tls?.watch()
  dataCentres?.watch()
  const reporting = setInterval(() => {
    tell({ type: 'counts', tracker: 0, counts: readCounts(tracking) })
  }, countsPauseMs).unref()
  return {
    hearClock: (offsetMs) => {
      clockOffsetMs = offsetMs
    },
    hearLeaving: () => {
      isLeaving = true
    },
    hearPlaces: () => tracking.forgetRepeats(),
    async close() {
      clearInterval(reporting)
      await tls?.close()
      await dataCentres?.close()
      await tracking.close()
      await spool.close()
      await tracing?.close()
    },
  }
}

function readCounts({ counts, droppedConnections }: TrackingServer): TrackerCounts {
  const { user, system } = process.cpuUsage()
  return {
    routes: counts(),
    cpuSeconds: (user + system) / 1e6,
    residentBytes: process.memoryUsage.rss(),
    droppedConnections: droppedConnections(),
  }
}

async function listen({ server }: TrackingServer, config: Config): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const refuse = (error: Error): void => reject(portFault(error, trackingPortOf(config)))
    server.once('error', refuse)
    server.listen(config.trackingPort, config.host, () => {
      server.off('error', refuse)
      resolve()
    })
  })
}

await runChild(async () => await startTracker(parseConfig(process.env)))
