import type { StatusResponse } from '../contract/admin.ts'
import { crowdTouchpointsMax } from '../domain/windows.ts'
import type { Clock } from '../lib/clock.ts'
import type { Spool } from '../spool/spool.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'

export interface StatusDeps {
  readonly version: string
  readonly warehouseKind: 'embedded' | 'server'
  readonly warehouse: Warehouse
  readonly spool: Spool
  readonly retention: () => Promise<StatusResponse['retention']>
  /** Null: the catalog does not know the campaign. */
  readonly advertiserOfCampaign: (campaignId: number) => number | null
  readonly sealedThrough: () => Promise<StatusResponse['sealed']>
  readonly clock: Clock
}

/** What an operator asks first. The counts of events are those of the last 30 days. */
export async function readStatus(deps: StatusDeps): Promise<StatusResponse> {
  const depth = deps.spool.depth()
  const [facts] = await deps.warehouse.rows<{
    version: string
    setAside: number
    conflicts: number
  }>(factsSql)
  const reasons = await deps.warehouse.rows<{ reason: string; count: number }>(uncountedSql)
  return {
    version: deps.version,
    warehouse: { kind: deps.warehouseKind, version: facts?.version ?? 'unknown' },
    spool: { bytes: depth.bytes },
    lagMs: depth.oldestAtMs === null ? 0 : Math.max(0, deps.clock() - depth.oldestAtMs),
    sealed: await deps.sealedThrough(),
    uncounted: Object.fromEntries(reasons.map(({ reason, count }) => [reason, count])),
    conflicts: facts?.conflicts ?? 0,
    setAside: facts?.setAside ?? 0,
    crowds: await countCrowds(deps.warehouse),
    misplaced: await countMisplaced(deps),
    retention: await deps.retention(),
  }
}

async function countCrowds(warehouse: Pick<Warehouse, 'rows'>): Promise<number> {
  const [row] = await warehouse.rows<{ count: number }>(crowdsSql, {
    crowdMax: crowdTouchpointsMax,
  })
  return row?.count ?? 0
}

/** A token may name what the catalog says otherwise: it counts under what it names. */
async function countMisplaced(deps: StatusDeps): Promise<number> {
  const rows = await deps.warehouse.rows<{
    advertiserId: number
    campaignId: number
    count: number
  }>(campaignsSql)
  const misplaced = rows.filter(({ advertiserId, campaignId }) => {
    const owner = deps.advertiserOfCampaign(campaignId)
    return owner !== null && owner !== advertiserId
  })
  return misplaced.reduce((sum, { count }) => sum + count, 0)
}

/**
 * Sorted by identity as it is, the table is counted in flat memory. Repeats that are not merged yet count
 * too, as where attribution suspects a crowd.
 */
const crowdsSql = `
SELECT count() AS count FROM (
  SELECT publisher_id, identity FROM touchpoint
  WHERE served_day >= today() - 15
  GROUP BY publisher_id, identity
  HAVING count() > {crowdMax:UInt32}
)
SETTINGS optimize_aggregation_in_order = 1`

const campaignsSql = `
SELECT advertiser_id AS advertiserId, campaign_id AS campaignId, count() AS count
FROM ad_event
WHERE served_day >= today() - 7 AND verdict = 'counted'
GROUP BY advertiser_id, campaign_id
ORDER BY count DESC, advertiserId, campaignId
LIMIT 100000`

const factsSql = `
SELECT version() AS version,
  (SELECT count() FROM set_aside FINAL) AS setAside,
  (SELECT count() FROM (
    SELECT purchase_key FROM delivery
    WHERE day >= today() - 30
    GROUP BY purchase_key HAVING uniqExact(content_hash) > 1
  )) AS conflicts`

const uncountedSql = `
SELECT * FROM (
SELECT toString(verdict) AS reason, count() AS count
FROM ad_event FINAL WHERE served_day >= today() - 30 AND verdict != 'counted'
GROUP BY verdict
UNION ALL
SELECT toString(verdict), uniqExact(delivery_id)
FROM delivery WHERE day >= today() - 30 AND verdict != 'valid'
GROUP BY verdict
UNION ALL
SELECT toString(line_verdict), count()
FROM (SELECT line_verdict FROM delivery WHERE day >= today() - 30 LIMIT 1 BY delivery_id)
ARRAY JOIN line_verdict WHERE line_verdict != 'valid'
GROUP BY line_verdict
)
ORDER BY reason`
