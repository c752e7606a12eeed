import type { StatusResponse } from '../contract/admin.ts'
import type { BelieveEverybody } from '../contract/not-believed.ts'
import { crowdTouchpointsMax } from '../domain/windows.ts'
import { ServiceError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { countConflicts } from '../reports/conflicts.ts'
import type { DataCentresState } from './data-centres.ts'
import type { SeenNode } from '../nodes/nodes.ts'
import type { Spool } from '../spool/spool.ts'
import { inTableOrder } from '../warehouse/warehouse.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { readNotBelievedOfAll } from './not-believed.ts'

export interface StatusDeps {
  readonly version: string
  readonly warehouseKind: 'embedded' | 'server'
  readonly warehouse: Pick<Warehouse, 'rows'>
  readonly spool: Pick<Spool, 'depth'>
  readonly retention: () => Promise<NonNullable<StatusResponse['retention']>>
  /** Null if the catalog does not know the campaign. */
  readonly advertiserOfCampaign: (campaignId: number) => number | null
  readonly believeEverybody: () => BelieveEverybody
  readonly sealedThrough: () => Promise<NonNullable<StatusResponse['sealed']>>
  /** Null while it is not known. */
  readonly contradictions: () => Promise<NonNullable<StatusResponse['contradictions']>>
  readonly waitingDays: () => Promise<NonNullable<StatusResponse['days']>>
  readonly attribution: () => NonNullable<StatusResponse['attribution']>
  readonly clockOffsetMs: () => number | null
  readonly failing: () => readonly string[]
  /** Null while it is not known. */
  readonly nodes: () => readonly SeenNode[] | null
  readonly alerts: () => NonNullable<StatusResponse['alerts']>
  /** Absent where the node has no list. */
  readonly dataCentres?: (() => DataCentresState) | undefined
  readonly clock: Clock
  /** Lowered by tests only, like the next one. */
  readonly warehouseMsMax?: number
  readonly campaignsPerReadMax?: number
}

/** An operator who asks because the warehouse hangs must not hang as well. */
const warehouseMsMax = 10_000

type WarehouseFacts = Pick<
  StatusResponse,
  | 'sealed'
  | 'uncounted'
  | 'notBelieved'
  | 'conflicts'
  | 'setAside'
  | 'contradictions'
  | 'crowds'
  | 'misplaced'
  | 'retention'
  | 'days'
> & {
  readonly version: string
}

/**
 * Reads the answer to an operator's first question. The counts of events are those of the last 30 days.
 * Facts that only the warehouse knows are left out while it does not answer. A question that hangs is
 * not asked twice.
 */
export function createStatusReader(deps: StatusDeps): () => Promise<StatusResponse> {
  let asking: Promise<WarehouseFacts | null> | null = null
  return async () => {
    asking ??= readFacts(deps).finally(() => (asking = null))
    const facts = await within(asking, deps.warehouseMsMax ?? warehouseMsMax)
    const depth = deps.spool.depth()
    const { version: warehouseVersion, ...counts } = facts ?? {}
    return {
      version: deps.version,
      at: new Date(deps.clock()).toISOString(),
      warehouse: {
        kind: deps.warehouseKind,
        available: facts !== null,
        ...(warehouseVersion !== undefined && { version: warehouseVersion }),
      },
      spool: { bytes: depth.bytes },
      lagMs: depth.oldestAtMs === null ? 0 : Math.max(0, deps.clock() - depth.oldestAtMs),
      attribution: deps.attribution(),
      clock: { offsetMs: deps.clockOffsetMs() },
      failing: [...deps.failing()],
      ...printNodes(deps.nodes()),
      alerts: deps.alerts(),
      ...printDataCentres(deps.dataCentres?.()),
      believeEverybody: deps.believeEverybody(),
      ...counts,
    }
  }
}

function printNodes(nodes: readonly SeenNode[] | null): Pick<StatusResponse, 'nodes'> {
  if (nodes === null) return {}
  return {
    nodes: nodes.map(({ id, name, roles, state, isThis, ...seen }) => ({
      id,
      name,
      roles: [...roles],
      state,
      isThis,
      seenAt: new Date(seen.seenAtMs).toISOString(),
      shippedThrough: new Date(seen.shippedThroughMs).toISOString(),
      waitingBytes: seen.waitingBytes,
    })),
  }
}

function printDataCentres(
  state: DataCentresState | undefined
): Pick<StatusResponse, 'dataCentres'> {
  if (state === undefined) return {}
  return { dataCentres: { ...state, faults: [...state.faults] } }
}

/** Null if the warehouse is away. A refusal is our own fault and thrown. */
async function readFacts(deps: StatusDeps): Promise<WarehouseFacts | null> {
  const { warehouse } = deps
  try {
    const [facts] = await warehouse.rows<{
      version: string
      setAside: number
    }>(factsSql)
    const reasons = await warehouse.rows<{ reason: string; count: number }>(uncountedSql)
    return {
      version: facts?.version ?? 'unknown',
      sealed: await deps.sealedThrough(),
      uncounted: Object.fromEntries(reasons.map(({ reason, count }) => [reason, count])),
      notBelieved: await readNotBelievedOfAll(warehouse, deps.clock()),
      conflicts: await countConflicts(warehouse),
      setAside: facts?.setAside ?? 0,
      contradictions: await deps.contradictions(),
      crowds: await countCrowds(warehouse),
      misplaced: await countMisplaced(deps),
      retention: await deps.retention(),
      days: await deps.waitingDays(),
    }
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'WAREHOUSE_UNAVAILABLE') return null
    throw error
  }
}

async function within<Value>(promise: Promise<Value>, ms: number): Promise<Value | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

async function countCrowds(warehouse: Pick<Warehouse, 'rows'>): Promise<number> {
  const [row] = await warehouse.rows<{ count: number }>(crowdsSql, {
    crowdMax: crowdTouchpointsMax,
  })
  return row?.count ?? 0
}

/**
 * An event may have counted before the catalog had its campaign, under another advertiser. All campaigns are read,
 * a block of them at a time in the order of their keys.
 */
async function countMisplaced(deps: StatusDeps): Promise<number> {
  let misplaced = 0
  let after: Pick<CampaignCount, 'advertiserId' | 'campaignId'> = {
    advertiserId: -2_147_483_648,
    campaignId: -2_147_483_648,
  }
  const rowsMax = deps.campaignsPerReadMax ?? campaignsPerReadMax
  for (;;) {
    const rows = await deps.warehouse.rows<CampaignCount>(campaignsSql, { ...after, rowsMax })
    for (const { advertiserId, campaignId, count } of rows) {
      const owner = deps.advertiserOfCampaign(campaignId)
      if (owner !== null && owner !== advertiserId) misplaced += count
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < rowsMax) return misplaced
    after = { advertiserId: last.advertiserId, campaignId: last.campaignId }
  }
}

interface CampaignCount {
  readonly advertiserId: number
  readonly campaignId: number
  readonly count: number
}

const campaignsPerReadMax = 100_000

/** Repeats that are not merged yet count too, as they do where attribution suspects a crowd. */
const crowdsSql = `
SELECT count() AS count FROM (
  SELECT publisher_id, identity FROM touchpoint
  WHERE served_day >= today() - 15
  GROUP BY publisher_id, identity
  HAVING count() > {crowdMax:UInt32}
)
SETTINGS ${inTableOrder}`

const campaignsSql = `
SELECT advertiser_id AS advertiserId, campaign_id AS campaignId, count() AS count
FROM ad_event
WHERE served_day >= today() - 7 AND verdict = 'counted'
  AND advertiser_id >= {advertiserId:Int32}
  AND (advertiser_id, campaign_id) > ({advertiserId:Int32}, {campaignId:Int32})
GROUP BY advertiser_id, campaign_id
ORDER BY advertiser_id, campaign_id
LIMIT {rowsMax:UInt32}`

const factsSql = `
SELECT version() AS version,
  (SELECT count() FROM set_aside AS a FINAL
    LEFT JOIN (SELECT key, replayed_at FROM set_aside_replay FINAL) AS r ON r.key = a.key
    WHERE r.replayed_at IS NULL OR a.set_aside_at >= r.replayed_at) AS setAside`

// Deliveries are grouped by the key of their table, so that one that was shipped twice counts once. Somebody may send
// any number that is not believed.
const uncountedSql = `
SELECT reason, sum(count) AS count FROM (
SELECT toString(verdict) AS reason, count() AS count
FROM ad_event FINAL WHERE served_day >= today() - 30 AND verdict != 'counted'
GROUP BY verdict
UNION ALL
SELECT toString(stored), count()
FROM (
  SELECT any(verdict) AS stored FROM delivery
  WHERE day >= today() - 30 AND verdict != 'valid'
  GROUP BY day, publisher_id, purchase_key, delivery_id
)
GROUP BY stored
UNION ALL
SELECT toString(stored), count()
FROM (
  SELECT any(verdict) AS stored FROM purchase_return
  WHERE shipped_at >= today() - 30 AND verdict != 'valid'
  GROUP BY purchase_key, return_key, delivery_id
)
GROUP BY stored
UNION ALL
SELECT toString(stored), count()
FROM (
  SELECT any(line_verdict) AS line_stored FROM delivery
  WHERE day >= today() - 30 AND arrayExists(one -> one != 'valid', line_verdict)
  GROUP BY day, publisher_id, purchase_key, delivery_id
)
ARRAY JOIN line_stored AS stored WHERE stored != 'valid'
GROUP BY stored
)
GROUP BY reason
ORDER BY reason
SETTINGS ${inTableOrder}`
