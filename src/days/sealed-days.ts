// Which days of a report are answered from the rollup. The list is read first and bound, so that a
// report never sees half a day: what is sealed meanwhile stands under another revision.

import { addDays, listDays } from '../domain/day.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import type { ReportMarket } from '../catalog/catalog-names.ts'
import { listUnits, readBounds } from './day-bounds.ts'
import type { Bounds } from './day-bounds.ts'
import type { MarketDays } from './market-days.ts'
import { laterDay } from './final-days.ts'
import { readSeals, rollupVersion } from './seals.ts'
import type { Seal, StoredSeal } from './seals.ts'
import { isOutdated, isTorn, linkedDays, readTouchedDays } from './touched-days.ts'

export interface ReportDays {
  readonly seals: readonly Seal[]
  /** Every market, each with the days that are answered from the events (often none). */
  readonly open: readonly MarketDays[]
  readonly hasOpenDays: boolean
  /** Sealed days of which the rollup of some market does not say how many orders it holds. */
  readonly withoutOrders: ReadonlySet<string>
  /** Days that input has reached since they were sealed, oldest first; their figures are the sealed ones. */
  readonly renewingDays: readonly string[]
  /** The last day from which on back all is sealed, null while nothing is. */
  readonly completeThrough: string | null
}

export interface SealedThrough {
  readonly marketId: number
  /** The last day from which on back all is sealed, null while nothing is. */
  readonly completeThrough: string | null
  /** The first day that is not sealed, null while there are no events. */
  readonly openFrom: string | null
}

/** How far each market is sealed, as of `today`. */
export async function readSealedThrough(
  warehouse: Pick<Warehouse, 'rows'>,
  markets: readonly ReportMarket[],
  today: string
): Promise<readonly SealedThrough[]> {
  const { firstDays, finalBefore } = await readBounds(warehouse, markets)
  const first = [...firstDays.values()].toSorted()[0]
  if (first === undefined || first > today) {
    return markets.map(({ id }) => ({ marketId: id, completeThrough: null, openFrom: null }))
  }
  // What is final was sealed for every market of its time, and is not looked at any more.
  const range = { first: laterDay(first, finalBefore), last: today }
  const seals = await readSeals(warehouse, { markets, ...range, finalBefore })
  return markets.map((market) => {
    const firstDay = firstDays.get(market.id)
    if (firstDay === undefined || firstDay > today) {
      return { marketId: market.id, completeThrough: null, openFrom: null }
    }
    const own = seals.filter((one) => one.unit === market.id)
    const sealed = new Set(own.map(({ day }) => day))
    const days = listDays(laterDay(firstDay, finalBefore), today)
    const firstOpen = days.find((day) => !sealed.has(day)) ?? addDays(today, 1)
    const completeThrough = firstOpen > firstDay ? addDays(firstOpen, -1) : null
    return { marketId: market.id, completeThrough, openFrom: firstOpen }
  })
}

export interface DaysAsked {
  readonly startDate: string
  readonly endDate: string
}

/** Divides the days of a report into sealed and open ones. */
export async function readReportDays(
  warehouse: Pick<Warehouse, 'rows'>,
  markets: readonly ReportMarket[],
  { startDate, endDate }: DaysAsked
): Promise<ReportDays> {
  const [found, bounds] = await Promise.all([
    readTouchedDays(warehouse, { markets, ...withMargin({ startDate, endDate }) }),
    readBounds(warehouse, markets),
  ])
  const { finalBefore } = bounds
  const touched = found.filter(({ day }) => finalBefore === null || day >= finalBefore)
  const torn = new Set([...linkedDays(touched, touched.filter(isTorn))].map(keyOf))
  const outdated = new Set(touched.filter(isOutdated).map(keyOf))
  // After the touched days: what was renewed in between is sealed as they say, or better.
  const range = { first: startDate, last: endDate }
  const valid = await readSeals(warehouse, { markets, ...range, finalBefore })
  const renewing = valid.filter((seal) => torn.has(keyOf(seal)) || outdated.has(keyOf(seal)))
  return {
    ...divideDays({
      ...bounds,
      seals: valid.filter((seal) => !torn.has(keyOf(seal))),
      markets,
      startDate,
      endDate,
    }),
    renewingDays: [...new Set(renewing.map(({ day }) => day))].toSorted(),
  }
}

/** Purchases can move further; the spans of ad events are never longer than a week. */
const marginDays = 31
const eventDays = { first: '2020-02-01', last: '2100-01-01' }

/** Days of events, and so many on both sides that the spans over the days asked for lie among them. */
function withMargin({ startDate, endDate }: DaysAsked) {
  const start = startDate > eventDays.first ? startDate : eventDays.first
  const end = endDate < eventDays.last ? endDate : eventDays.last
  return { first: addDays(start, -marginDays), last: addDays(end, marginDays) }
}

function keyOf({ unit, day }: Pick<Seal, 'unit' | 'day'>): string {
  return `${unit} ${day}`
}

interface Division extends DaysAsked, Bounds {
  readonly seals: readonly StoredSeal[]
  readonly markets: readonly ReportMarket[]
}

function divideDays(division: Division): Omit<ReportDays, 'renewingDays'> {
  const { seals, markets, startDate, endDate, finalBefore } = division
  const isFinal = (day: string): boolean => finalBefore !== null && day < finalBefore
  const units = listUnits(markets)
  const sealed = new Set(seals.map(keyOf))
  const days = listDays(startDate, endDate)
  const isOpen = (unit: number, day: string): boolean => {
    const firstDay = division.firstDays.get(unit)
    return (
      firstDay !== undefined &&
      day >= firstDay &&
      !isFinal(day) &&
      !sealed.has(keyOf({ unit, day }))
    )
  }
  const open = units.map((market) => ({
    market,
    days: days.filter((day) => isOpen(market.id, day)),
  }))
  const firstOpen = open.flatMap((one) => one.days.slice(0, 1)).toSorted()[0]
  const hasOpenDays = firstOpen !== undefined
  const hasEvents = units.some(({ id }) => division.firstDays.has(id))
  const completeThrough = hasOpenDays ? addDays(firstOpen, -1) : endDate
  return {
    seals,
    open,
    hasOpenDays,
    withoutOrders: new Set(
      seals.filter((seal) => seal.rollupVersion < rollupVersion).map(({ day }) => day)
    ),
    completeThrough: !hasEvents || completeThrough < startDate ? null : completeThrough,
  }
}
