// The first day on which there is anything to seal or to read, for each market: so a market that is new to
// the catalog costs nothing while it has no events.

import { addDays, dayOf } from '../domain/day.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import type { ReportMarket } from '../catalog/catalog-names.ts'
import { dayOrNull } from './final-days.ts'
import { listUnits } from './market-days.ts'
import { sumRevisions } from './seals.ts'
import type { DayRange } from './market-days.ts'

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
  return boundsOf(await warehouse.rows<BoundRow>(boundsSql(`''`), searchedNow()), markets)
}

/** The sums of the revisions of all seals, and of all spans, in a range of days. */
export interface RevisionSums {
  readonly seals: bigint
  readonly spans: bigint
}

/** In one statement with the bounds. */
export async function readBoundsAndSums(
  warehouse: Pick<Warehouse, 'rows'>,
  markets: readonly ReportMarket[],
  range: DayRange
): Promise<{ readonly bounds: Bounds; readonly sums: RevisionSums }> {
  const sealed = `toString(sumIf(revision, ${inRange('day')}))`
  const sql = boundsSql(sealed, `UNION ALL ${sumSql('sealed_span')}`)
  const rows = await warehouse.rows<BoundRow>(sql, { ...searchedNow(), ...range })
  return { bounds: boundsOf(rows, markets), sums: sumsOf(rows) }
}

export async function readSums(
  warehouse: Pick<Warehouse, 'rows'>,
  range: DayRange
): Promise<RevisionSums> {
  const sql = `${sumSql('sealed_day')} UNION ALL ${sumSql('sealed_span')} SETTINGS max_threads = 1`
  return sumsOf(await warehouse.rows<SumRow>(sql, { ...range }))
}

type SumRow = Pick<BoundRow, 'found' | 'revisionSum'>

function sumsOf(rows: readonly SumRow[]): RevisionSums {
  const sumOf = (found: BoundRow['found']) =>
    sumRevisions(rows.filter((row) => row.found === found).map((row) => row.revisionSum))
  return { seals: sumOf('sealed'), spans: sumOf('spans') }
}

function boundsOf(rows: readonly BoundRow[], markets: readonly ReportMarket[]): Bounds {
  const zones = new Map(listUnits(markets).map(({ id, timeZone }) => [id, timeZone]))
  const firstDays = new Map<number, string>()
  let firstDay: string | null = null
  let finalBefore: string | null = null
  for (const row of rows) {
    if (row.found === 'final') finalBefore = dayOrNull(dayText(row.first))
    if (row.found !== 'touched' && row.found !== 'sealed') continue
    const unit =
      row.found === 'sealed' || row.unit === everyMarket || zones.has(row.unit) ? row.unit : 0
    const zone = zones.get(unit)
    const day = row.found === 'sealed' ? dayText(row.first) : touchedDay(row.first * 1_000, zone)
    if (zone !== undefined) firstDays.set(unit, earlierDay(day, firstDays.get(unit)))
    firstDay = earlierDay(day, firstDay ?? undefined)
  }
  return { firstDay, firstDays, finalBefore }
}

interface BoundRow {
  readonly found: 'touched' | 'sealed' | 'final' | 'spans'
  /** A unit, or a market. */
  readonly unit: number
  /** Seconds of an instant or, of a day, its number. */
  readonly first: number
  readonly revisionSum: string
}

/** Stands for spans that touch every market. */
const everyMarket = -1

function dayText(dayNumber: number): string {
  return addDays('1970-01-01', dayNumber)
}

/** No zone means every market: a day of any zone lies within a day of the same date in UTC. */
function touchedDay(atMs: number, timeZone: string | undefined): string {
  const day = timeZone === undefined ? addDays(dayOf(atMs, 'UTC'), -1) : dayOf(atMs, timeZone)
  return day > earliestDay ? day : earliestDay
}

function earlierDay(day: string, other: string | undefined): string {
  return other !== undefined && other < day ? other : day
}

/** The same throughout an hour, so that the answer can be remembered: up to 24 to 25 hours ahead of the clock. */
function searchedNow() {
  const hours = Math.floor(Date.now() / 3_600_000)
  const earliestSecond = Date.parse(earliestDay) / 1_000
  return { earliestDay, earliestSecond, aheadSecond: (hours + 25) * 3_600 }
}

/**
 * Every counted event touches its market at its receipt, and credit needs an earlier event. Spans ahead of the
 * clock are left out: they would end the search for the first day that is not sealed. A single thread: the rows are
 * few, and every report and every look for work would pay for starting more.
 */
const boundsSql = (revisionSum: string, more = ''): string => `
SELECT 'touched' AS found, market_id AS unit, toUInt32(min(from_at)) AS first, '' AS revisionSum
FROM touched_span
WHERE from_at >= toDateTime({earliestSecond:UInt32}) AND from_at < toDateTime({aheadSecond:UInt32})
GROUP BY market_id
UNION ALL
SELECT 'sealed', unit, toUInt32(min(day)), ${revisionSum}
FROM sealed_day WHERE day >= {earliestDay:Date} GROUP BY unit
UNION ALL
SELECT 'final', 0, toUInt32(max(day)), '' FROM final_before WHERE state = 'final'
${more}
SETTINGS max_threads = 1`

function sumSql(table: 'sealed_day' | 'sealed_span'): string {
  const [found, day] = table === 'sealed_day' ? ['sealed', 'day'] : ['spans', 'first_day']
  return `SELECT '${found}' AS found, 0 AS unit, 0 AS first, toString(sum(revision)) AS revisionSum
    FROM ${table} WHERE ${inRange(day)}`
}

const inRange = (day: string): string => `${day} >= {first:Date} AND ${day} <= {last:Date}`
