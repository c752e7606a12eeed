// From which day on there is anything to be sealed or read. It is asked for each market, so that one that
// the catalog has just learned of costs nothing while it has no events.

import { addDays, dayOf } from '../domain/day.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import type { ReportMarket } from '../catalog/catalog-names.ts'
import { unknownMarket } from './day-rows.ts'
import { dayOrNull } from './final-days.ts'

export interface Bounds {
  /** The first day of which there can be anything in any zone, null while there is nothing. */
  readonly firstDay: string | null
  /** The same of each market, and of the unknown ones together (0); those without events have none. */
  readonly firstDays: ReadonlyMap<number, string>
  /** Days before this one are never computed again; null while there is no such day. */
  readonly finalBefore: string | null
}

/** All markets, and the one that stands for the unknown ones. */
export function listUnits(markets: readonly ReportMarket[]): readonly ReportMarket[] {
  return [...markets, unknownMarket]
}

/** Nothing that was received before is ever taken; what an older program took then is in no report. */
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
  for (const { unit, touchedAtMs, sealedDay } of rows) {
    if (unit === null) continue
    const zone = zones.get(unit)
    const day = sealedDay ?? touchedDay(touchedAtMs, zone)
    if (zone !== undefined) firstDays.set(unit, earlierDay(day, firstDays.get(unit)))
    firstDay = earlierDay(day, firstDay ?? undefined)
  }
  return { firstDay, firstDays, finalBefore: dayOrNull(rows.find(isFinal)?.finalDay ?? undefined) }
}

interface BoundRow {
  /** Null: the row of the final days. -1: what touches every market. */
  readonly unit: number | null
  readonly touchedAtMs: number
  readonly sealedDay: string | null
  readonly finalDay: string | null
}

function isFinal({ unit }: BoundRow): boolean {
  return unit === null
}

/** Without a zone, of every market: a day of any zone lies within a day of the same date in UTC. */
function touchedDay(atMs: number, timeZone: string | undefined): string {
  const day = timeZone === undefined ? addDays(dayOf(atMs, 'UTC'), -1) : dayOf(atMs, timeZone)
  return day > earliestDay ? day : earliestDay
}

function earlierDay(day: string, other: string | undefined): string {
  return other !== undefined && other < day ? other : day
}

/**
 * Every counted event touches its market where it is received, and credit needs an event before it. What
 * lies ahead of the clock is left out: it would end the search for the first day that is not sealed.
 */
const boundsSql = `
SELECT CAST(if(market_id = -1, -1, transform(market_id, {marketIds:Array(Int32)}, {marketIds:Array(Int32)}, toInt32(0))), 'Nullable(Int32)') AS unit,
  toInt64(toUnixTimestamp(min(from_at))) * 1000 AS touchedAtMs,
  CAST(NULL, 'Nullable(String)') AS sealedDay, CAST(NULL, 'Nullable(String)') AS finalDay
FROM touched_span
WHERE from_at >= toDateTime({earliestDay:Date}, 'UTC') AND from_at < now() + toIntervalDay(1)
GROUP BY unit
UNION ALL
SELECT unit, 0, toString(min(sealed_day.day)), NULL FROM sealed_day
WHERE sealed_day.day >= {earliestDay:Date}
GROUP BY unit
UNION ALL
SELECT NULL, 0, NULL, toString(maxIf(day, state = 'final')) FROM final_before`
