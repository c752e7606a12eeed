import type { Warehouse } from '../warehouse/warehouse.ts'

/**
 * Which of the markets have events in the warehouse. Events that are still in a spool are not seen:
 * a change of currency within seconds of a market's very first event is the operator's race to lose.
 */
export async function findMarketsWithEvents(
  warehouse: Warehouse,
  marketIds: readonly number[]
): Promise<ReadonlySet<number>> {
  const rows = await warehouse.rows<{ market_id: number }>(
    `SELECT DISTINCT market_id FROM ad_event
     WHERE market_id IN {marketIds:Array(Int32)}
     ORDER BY market_id LIMIT {marketsMax:UInt64}`,
    { marketIds, marketsMax: marketIds.length }
  )
  return new Set(rows.map((row) => row.market_id))
}
