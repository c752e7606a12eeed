// Which days are sealed and which are open. A report reads this list first and binds it, so that it never
// sees half a day: what is sealed meanwhile is under another revision.

import type { ReportMarket } from '../catalog/catalog-names.ts'
import { addDays, listDays } from '../domain/day.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { readBounds } from './day-bounds.ts'
import type { Bounds } from './day-bounds.ts'
import { DayFacts } from './day-facts.ts'
import type { DayLists } from './day-facts.ts'
import { laterDay } from './final-days.ts'
import { dayKey, listUnits } from './market-days.ts'
import type { MarketDays } from './market-days.ts'
import { holdingSeals, readSeals, rollupVersion } from './seals.ts'
import type { Seal } from './seals.ts'
import { isOutdated, isTorn, linkedDays } from './touched-days.ts'

interface Sealed {
  readonly markets: readonly ReportMarket[]
  readonly bounds: Bounds
  readonly seals: readonly Seal[]
}

/**
 * For each unit the days that can have figures and are not sealed, from `from` (default: its first day) up to
 * and including the day that `through` names. Final days are never open.
 */
export function listOpenDays(
  { markets, bounds, seals }: Sealed,
  through: (unit: ReportMarket) => string,
  from?: string
): readonly MarketDays[] {
  const sealed = new Set(seals.map(({ unit, day }) => dayKey(unit, day)))
  return listUnits(markets).map((market) => {
    const firstDay = bounds.firstDays.get(market.id)
    if (firstDay === undefined) return { market, days: [] }
    const first = laterDay(laterDay(firstDay, bounds.finalBefore), from ?? null)
    const days = listDays(first, through(market))
    return { market, days: days.filter((day) => !sealed.has(dayKey(market.id, day))) }
  })
}

/** The first open day of any unit. */
export function firstOpenDay(open: readonly MarketDays[]): string | undefined {
  return open.flatMap(({ days }) => days.slice(0, 1)).toSorted()[0]
}

export interface SealedThrough {
  readonly marketId: number
  /** The last day up to which all days are sealed, null while there is none. */
  readonly completeThrough: string | null
  /** The first day that is not sealed, null while there are no events. */
  readonly openFrom: string | null
}

/** How far each market is sealed, as of `today`. */
export async function readSealedThrough(
  warehouse: Pick<Warehouse, 'rows' | 'barrier'>,
  markets: readonly ReportMarket[],
  today: string
): Promise<readonly SealedThrough[]> {
  await warehouse.barrier(['touched_span', 'sealed_day', 'final_before'])
  const bounds = await readBounds(warehouse, markets)
  const { firstDays, finalBefore } = bounds
  const firstDay = [...firstDays.values()].toSorted()[0] ?? today
  // The seals of days that are final by these bounds were there before.
  await warehouse.barrier(['sealed_day'])
  // Final days were sealed for every market of their time, and are not looked at any more.
  const range = { first: laterDay(firstDay, finalBefore), last: today }
  const seals = await readSeals(warehouse, { markets, ...range, finalBefore })
  const open = listOpenDays({ markets, bounds, seals }, () => today)
  return markets.map(({ id }) => {
    const first = firstDays.get(id)
    if (first === undefined || first > today) {
      return { marketId: id, completeThrough: null, openFrom: null }
    }
    const openFrom = open.find(({ market }) => market.id === id)?.days[0] ?? addDays(today, 1)
    return {
      marketId: id,
      completeThrough: openFrom > first ? addDays(openFrom, -1) : null,
      openFrom,
    }
  })
}

export interface DaysAsked {
  readonly startDate: string
  readonly endDate: string
}

export interface ReportDays {
  readonly seals: readonly Seal[]
  /** Whether each row of their rollups is a row of the report by day. */
  readonly areSealsWhole: boolean
  /** Every market, each with the days that are answered from the events (often none). */
  readonly open: readonly MarketDays[]
  readonly hasOpenDays: boolean
  /** Sealed days for which the rollup of some market does not say how many orders it has. */
  readonly withoutOrders: ReadonlySet<string>
  /** Days that input has reached since they were sealed, oldest first; their figures are the sealed ones. */
  readonly renewingDays: readonly string[]
  /** The last day of the report up to which all its days are sealed, null while there is none. */
  readonly completeThrough: string | null
  /** Of which the seals are a part. */
  readonly lists: DayLists
}

/** For callers that ask now and then. */
export async function readReportDays(
  warehouse: Pick<Warehouse, 'rows' | 'barrier'>,
  markets: readonly ReportMarket[],
  asked: DaysAsked
): Promise<ReportDays> {
  return await findReportDays(new DayFacts(warehouse), markets, asked)
}

/** Divides the days of a report into sealed and open ones. */
export async function findReportDays(
  facts: DayFacts,
  markets: readonly ReportMarket[],
  { startDate, endDate }: DaysAsked
): Promise<ReportDays> {
  const around = withMargin({ startDate, endDate })
  const { latest, bounds, touched: found, lists } = await facts.read(markets, around)
  const { finalBefore } = bounds
  const touched = found.filter(({ day }) => finalBefore === null || day >= finalBefore)
  const torn = new Set([...linkedDays(touched, touched.filter(isTorn))].map(keyOf))
  const outdated = new Set(touched.filter(isOutdated).map(keyOf))
  const valid = holdingSeals(latest, finalBefore).filter(
    ({ day }) => day >= startDate && day <= endDate
  )
  const renewing = valid.filter((seal) => torn.has(keyOf(seal)) || outdated.has(keyOf(seal)))
  const seals = valid.filter((seal) => !torn.has(keyOf(seal)))

  const open = listOpenDays({ markets, bounds, seals }, () => endDate, startDate)
  const firstOpen = firstOpenDay(open)
  const sealedThrough = firstOpen === undefined ? endDate : addDays(firstOpen, -1)
  // Before the first day of any event there is no open one.
  const completeThrough = sealedThrough < endDate ? sealedThrough : endDate
  const hasEvents = bounds.firstDays.size > 0
  return {
    seals,
    areSealsWhole: seals.every(({ isWhole }) => isWhole === 1),
    open,
    hasOpenDays: firstOpen !== undefined,
    withoutOrders: new Set(
      seals.filter((seal) => seal.rollupVersion < rollupVersion).map(({ day }) => day)
    ),
    renewingDays: [...new Set(renewing.map(({ day }) => day))].toSorted(),
    completeThrough: !hasEvents || completeThrough < startDate ? null : completeThrough,
    lists,
  }
}

/** Purchases can move further; the spans of ad events are never longer than a week. */
const marginDays = 31
const eventDays = { first: '2020-02-01', last: '2100-01-01' }

/** The days asked for, with a margin on both sides in which the spans that touch them lie. */
function withMargin({ startDate, endDate }: DaysAsked) {
  const start = startDate > eventDays.first ? startDate : eventDays.first
  const end = endDate < eventDays.last ? endDate : eventDays.last
  return { first: addDays(start, -marginDays), last: addDays(end, marginDays) }
}

function keyOf({ unit, day }: Pick<Seal, 'unit' | 'day'>): string {
  return dayKey(unit, day)
}
