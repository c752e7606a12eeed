// How the engine process tells of itself: the parts of `engine.ts` behind the status, the metrics and the readiness.
import { catalogNames } from './catalog/catalog-names.ts'
import type { StatusResponse } from './contract/admin.ts'
import { readRetention } from './days/retention.ts'
import { readSealedOfAll } from './days/unsealed-days.ts'
import { countWaitingDays } from './days/waiting-days.ts'
import type { Engine } from './engine.ts'
import { systemClock } from './lib/clock.ts'
import { diskComplaints } from './ops/disk-room.ts'
import { findBelieveEverybody } from './ops/not-believed.ts'
import { createStatusReader } from './ops/status.ts'
import { programVersion } from './ops/version.ts'
import type { OpenWatch } from './ops/watch/open-watch.ts'
import type { Pipeline } from './pipeline/pipeline.ts'
import { countContradictions } from './pipeline/set-aside.ts'

export function sealedDepsOf({ lanes, catalog }: Engine) {
  return {
    warehouse: lanes.lookups,
    markets: () => catalogNames(catalog.current()).markets(),
  }
}

export function complaintsOf({ clockWatch }: Engine, pipeline: Pipeline): readonly string[] {
  return [...pipeline.failingSteps(), ...clockWatch.complaints()]
}

export function createStatus(
  engine: Engine,
  { pipeline, watch }: { readonly pipeline: Pipeline; readonly watch: OpenWatch }
): () => Promise<StatusResponse> {
  const { config, spool, catalog } = engine
  const { warehouse, markets } = sealedDepsOf(engine)
  return createStatusReader({
    version: programVersion,
    warehouseKind: config.warehouseUrls === null ? 'embedded' : 'server',
    warehouse,
    spool,
    retention: () => readRetention({ warehouse, markets, retentionDays: config.retentionDays }),
    advertiserOfCampaign: (id) => catalog.current().campaigns.get(id)?.advertiserId ?? null,
    sealedThrough: async () => {
      const codes = new Map(markets().map(({ id, code }) => [id, code]))
      const sealed = await readSealedOfAll({ warehouse, markets }, systemClock())
      return sealed.map(({ marketId, completeThrough }) => ({
        marketId,
        market: codes.get(marketId) ?? String(marketId),
        completeThrough,
      }))
    },
    contradictions: () => countContradictions(warehouse),
    believeEverybody: () =>
      findBelieveEverybody(catalog.current(), { requiresKey: config.requiresDeliveryKey }),
    waitingDays: () => countWaitingDays({ warehouse, markets }, systemClock()),
    attribution: () => pipeline.attribution(),
    clockOffsetMs: () => engine.clockWatch.offsetMs(),
    failing: () => [...diskComplaints(config.dataDir), ...complaintsOf(engine, pipeline)],
    alerts: watch.alerts,
    clock: systemClock,
    nodes: () => engine.nodes.list(),
    dataCentres: engine.dataCentres?.state.bind(engine.dataCentres),
  })
}
