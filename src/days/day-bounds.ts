// The first day on which there is anything to seal or to read, for each market: so a market that is new to
// the catalog costs nothing while it has no events.

import { addDays, dayOf } from '../domain/day.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import type { ReportMarket } from '../catalog/catalog-names.ts'
import { dayOrNull } from './final-days.ts'
import { listUnits } from './market-days.ts'

export interface Bounds {
  /** The first day that can have events in any zone, null while there are none. */
  readonly firstDay: string | null
  /** The first day of each market, and of all unknown ones (0); markets without events are left out. */
  readonly firstDays: ReadonlyMap<number, string>
  /** Days before this one are never computed again; null while there is no such day. */
  readonly finalBefore: string | null
}

/** Nothing received earlier is accepted; what an older program accepted then is in no report. */
const earliestDay = '2020-01-01'

export async function readBounds(
  warehouse: Pick<Warehouse, 'rows'>,
  markets: readonly ReportMarket[]
): Promise<Bounds> {
  const units = listUnits(markets)
  const rows = await warehouse.rows<BoundRow>(boundsSql, {
    earliestDay,
    marketIds: units.map(({ id }) => id),
  })
  const zones = new Map(units.map(({ id, timeZone }) => [id, timeZone]))
  const firstDays = new Map<number, string>()
  let firstDay: string | null = null
  for (const row of rows) {
    if (row.found === 'final') continue
    const zone = zones.get(row.unit)
    const day = row.found === 'sealed' ? row.day : touchedDay(row.atMs, zone)
    if (zone !== undefined) firstDays.set(row.unit, earlierDay(day, firstDays.get(row.unit)))
    firstDay = earlierDay(day, firstDay ?? undefined)
  }
  const final = rows.find(({ found }) => found === 'final')
  return { firstDay, firstDays, finalBefore: dayOrNull(final?.day) }
}

interface BoundRow {
  readonly found: 'touched' | 'sealed' | 'final'
  /** -1 for spans that touch every market. */
  readonly unit: number
  readonly atMs: number
  readonly day: string
}

/** No zone means every market: a day of any zone lies within a day of the same date in UTC. */
function touchedDay(atMs: number, timeZone: string | undefined): string {
  const day = timeZone === undefined ? addDays(dayOf(atMs, 'UTC'), -1) : dayOf(atMs, timeZone)
  return day > earliestDay ? day : earliestDay
}

function earlierDay(day: string, other: string | undefined): string {
  return other !== undefined && other < day ? other : day
}

/**
 * Every counted event touches its market at its receipt, and credit needs an earlier event. Spans ahead of the
 * clock are left out: they would end the search for the first day that is not sealed. A single thread: the rows are
 * few, and every report and every look for work would pay for starting more.
 */
const boundsSql = `
SELECT 'touched' AS found, if(market_id = -1, -1,
    transform(market_id, {marketIds:Array(Int32)}, {marketIds:Array(Int32)}, toInt32(0))) AS unit,
  toInt64(toUnixTimestamp(min(from_at))) * 1000 AS atMs, '' AS day
FROM touched_span
WHERE from_at >= toDateTime({earliestDay:Date}, 'UTC') AND from_at < now() + toIntervalDay(1)
GROUP BY unit
UNION ALL
SELECT 'sealed', unit, 0, toString(min(s.day)) FROM sealed_day AS s
WHERE s.day >= {earliestDay:Date}
GROUP BY unit
UNION ALL
SELECT 'final', 0, 0, toString(maxIf(f.day, state = 'final')) FROM final_before AS f
SETTINGS max_threads = 1`
