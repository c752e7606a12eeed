// Reads which ids the events and conversions of the last 30 days name, and how often. Only the narrow columns
// of ids and days are read from each table, and no figure, key or identity.

import type { Warehouse } from '../warehouse/warehouse.ts'

interface NamedIds {
  readonly places: readonly {
    readonly publisherId: number
    readonly siteId: number
    readonly marketId: number
    readonly events: number
  }[]
  readonly ads: readonly {
    readonly advertiserId: number
    readonly campaignId: number
    readonly adGroupId: number
    readonly events: number
  }[]
  readonly senders: readonly {
    readonly publisherId: number
    readonly siteId: number
    readonly conversions: number
  }[]
  /** False if there were more combinations than are read; those named least are left out. */
  readonly isComplete: boolean
}

export type ReadNamedIds = () => Promise<NamedIds>

/**
 * A large catalog has about ten thousand ad groups. Anybody can post conversions with made-up ids, so
 * neither the answer nor the memory of ClickHouse may grow with them.
 */
const combinationsMax = 100_000

/** Repeats that are not merged yet count too: recognizing them would take all columns of every event. */
export function createNamedIdsReader(
  warehouse: Pick<Warehouse, 'rows'>,
  /** Lowered by tests only. */
  rowsMax = combinationsMax
): ReadNamedIds {
  return async () => {
    const places = await warehouse.rows<NamedIds['places'][number]>(placesSql, { rowsMax })
    const ads = await warehouse.rows<NamedIds['ads'][number]>(adsSql, { rowsMax })
    const senders = await warehouse.rows<NamedIds['senders'][number]>(sendersSql, { rowsMax })
    const isComplete = [places, ads, senders].every((rows) => rows.length < rowsMax)
    return { places, ads, senders, isComplete }
  }
}

// Beyond a million combinations, new ones are ignored. `rowsMax` is far smaller, so `isComplete` is false.
const boundedMemory = "SETTINGS max_rows_to_group_by = 1000000, group_by_overflow_mode = 'any'"

const placesSql = `
SELECT publisher_id AS publisherId, site_id AS siteId, market_id AS marketId, count() AS events
FROM intake_event
WHERE filed_day >= today() - 30
GROUP BY publisher_id, site_id, market_id
ORDER BY events DESC, publisherId, siteId, marketId
LIMIT {rowsMax:UInt32}
${boundedMemory}`

const adsSql = `
SELECT advertiser_id AS advertiserId, campaign_id AS campaignId, ad_group_id AS adGroupId,
  count() AS events
FROM ad_event
WHERE served_day >= today() - 30
GROUP BY advertiser_id, campaign_id, ad_group_id
ORDER BY events DESC, advertiserId, campaignId, adGroupId
LIMIT {rowsMax:UInt32}
${boundedMemory}`

const sendersSql = `
SELECT publisher_id AS publisherId, site_id AS siteId, count() AS conversions
FROM delivery
WHERE day >= today() - 30
GROUP BY publisher_id, site_id
ORDER BY conversions DESC, publisherId, siteId
LIMIT {rowsMax:UInt32}
${boundedMemory}`
