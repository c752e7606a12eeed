// Finds what to seal: days that are over and have no valid seal, and sealed days whose figures may have changed.

import { addDays, dayBounds, dayOf, daysBetween } from '../domain/day.ts'
import type { DayBounds } from '../domain/day.ts'
import type { ReportMarket } from '../catalog/catalog-names.ts'
import { readBounds } from './day-bounds.ts'
import { laterDay } from './final-days.ts'
import { dayKey, listUnits, rangeOfDays } from './market-days.ts'
import type { DayRange } from './market-days.ts'
import { loadRates, withOtherRates } from './rates.ts'
import { listOpenDays } from './sealed-days.ts'
import { holdingSeals, readLatestSeals, rollupVersion } from './seals.ts'
import type { LatestSeal, StoredSeal } from './seals.ts'
import { isOutdated, linkedDays, readTouchedDays } from './touched-days.ts'
import type { TouchedDay } from './touched-days.ts'
import { instantMs } from '../warehouse/instant.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'

export const sealLimits = {
  /** Trackers and other nodes have this long to ship the end of a day. */
  delayMs: 7_200_000,
  /** A day that is touched again and again waits this long from one sealing to the next. */
  renewPauseMsMin: 8_000,
  renewPauseMsMax: 600_000,
  /** Limit of one statement; days with more events are sealed in parts. At most one row each: 300 MB. */
  eventsMax: 250_000,
  /** Memory limit of one statement: one that needs more is refused, and the next one is smaller. */
  statementBytesMax: 600_000_000,
  /** Limit of the events in linked days that are switched at once. */
  linkedEventsMax: 5_000_000,
  daysMax: 62,
} as const

export interface SealDeps {
  readonly warehouse: Warehouse
  readonly markets: () => readonly ReportMarket[]
  /** This node knows of nothing received before this instant that is not shipped and attributed. */
  readonly settledThroughMs: () => number
  /** A day sealed less than this ago is not renewed yet, unless together with others. */
  readonly renewPauseMs?: number
}

export interface MarketDay {
  readonly unit: ReportMarket
  readonly day: string
}

/** A sealed day that is to be sealed again. */
export interface Renewal extends MarketDay {
  readonly seal: StoredSeal
  /** Null if only the rates have changed, or the rollup lacks figures. */
  readonly touched: TouchedDay | null
  /** False: it can wait, but may be sealed along with days that it is linked to. */
  readonly isDue: boolean
}

export interface SealingWork {
  /** Newest first. */
  readonly unsealed: readonly MarketDay[]
  /** The oldest reading first. Days that only lack figures (after an upgrade) come last, newest first. */
  readonly renewals: readonly Renewal[]
}

const reads = ['touched_span', 'sealed_day', 'final_before', 'ad_event', 'rate'] as const

/** Every market day that is to be sealed for the first time or again; final days never are. */
export async function findSealingWork(deps: SealDeps, readAt: string): Promise<SealingWork> {
  const { warehouse } = deps
  const markets = deps.markets()
  await warehouse.barrier(reads)
  const bounds = await readBounds(warehouse, markets)
  const first = [...bounds.firstDays.values()].toSorted()[0]
  if (first === undefined) return { unsealed: [], renewals: [] }
  const range = {
    first: laterDay(first, bounds.finalBefore),
    last: addDays(readAt.slice(0, 10), 2),
  }
  const latest = await readLatestSeals(warehouse, { markets, ...range })
  const seals = holdingSeals(latest, null)
  const overMs = Math.min(instantMs(readAt) - sealLimits.delayMs, deps.settledThroughMs())
  const unsealed = listOpenDays({ markets, bounds, seals }, (unit) =>
    addDays(dayOf(overMs, unit.timeZone), -1)
  ).flatMap(({ market, days }) => days.map((day) => ({ unit: market, day })))
  return {
    unsealed: unsealed.toSorted((a, b) => b.day.localeCompare(a.day)),
    renewals: await findRenewals(deps, { markets, range, seals, readAt }),
  }
}

interface Renewing {
  readonly markets: readonly ReportMarket[]
  readonly seals: readonly LatestSeal[]
  readonly readAt: string
  readonly range: DayRange
}

/** Sealed days that were touched since, whose rates have changed, or whose rollup lacks figures. */
async function findRenewals(
  deps: SealDeps,
  { markets, range, seals, readAt }: Renewing
): Promise<readonly Renewal[]> {
  const units = new Map(listUnits(markets).map((unit) => [unit.id, unit]))
  const found = await readTouchedDays(deps.warehouse, { markets, seals, ...range })
  const touched = new Map(found.map((one) => [dayKey(one.unit, one.day), one]))
  const withRates = new Set(await findOtherRates(deps.warehouse, seals))
  const nowMs = instantMs(readAt)
  const pauseMs = deps.renewPauseMs ?? sealLimits.renewPauseMsMax
  return seals
    .flatMap((seal): readonly Renewal[] => {
      const unit = units.get(seal.unit)
      const one = touched.get(dayKey(seal.unit, seal.day)) ?? null
      const isLacking = seal.rollupVersion < rollupVersion
      const isOther = withRates.has(seal) || isLacking
      if (unit === undefined || (one === null && !isOther)) return []
      const isRested = instantMs(seal.readAt) + pauseMs <= nowMs
      // Input that the last reading most probably saw is read once more when it is certainly visible.
      const isWaiting = one !== null && !isOther && !isOutdated(one) && nowMs < one.touchedUntilMs
      return [{ unit, day: seal.day, seal, touched: one, isDue: isRested && !isWaiting }]
    })
    .toSorted(byUrgency)
}

function byUrgency(a: Renewal, b: Renewal): number {
  const [isOne, isOther] = [isLackingOnly(a), isLackingOnly(b)]
  if (isOne !== isOther) return isOne ? 1 : -1
  return isOne ? b.day.localeCompare(a.day) : a.seal.readAt.localeCompare(b.seal.readAt)
}

function isLackingOnly({ seal, touched }: Renewal): boolean {
  return touched === null && seal.rollupVersion < rollupVersion
}

/** Only days with amounts in foreign currencies depend on rates. */
async function findOtherRates(
  warehouse: Warehouse,
  seals: readonly StoredSeal[]
): Promise<readonly StoredSeal[]> {
  const converted = seals.filter(({ rates }) => rates !== '')
  if (converted.length === 0) return []
  const range = rangeOfDays(converted.map(({ day }) => day))
  return withOtherRates(converted, await loadRates(warehouse, range))
}

/**
 * The days to seal under one revision. Days without a seal come before renewals. Days that spans link to a day
 * of the batch join it whatever their pause, so that an event which moves between them is on one of them.
 */
export async function chooseBatch(
  warehouse: Pick<Warehouse, 'rows'>,
  { unsealed, renewals }: SealingWork,
  eventsMax: number
): Promise<readonly MarketDay[]> {
  const { linkedEventsMax } = sealLimits
  if (unsealed.length > 0) {
    const days = await takeFitting(warehouse, near(unsealed), { eventsMax })
    const batch = unsealed.filter(({ day }) => days.has(day))
    const reached = renewals.filter(createReachCheck(batch))
    const fitting = await takeFitting(warehouse, reached.map(dayOfOne), {
      eventsMax: linkedEventsMax,
      taken: days,
    })
    return [...batch, ...reached.filter(({ day }) => fitting.has(day))]
  }
  const first = renewals.find(({ isDue }) => isDue)
  if (first === undefined) return []
  const group = listLinked(renewals, first)
  const linkedDates = byDistance([first, ...group])
  const taken = await takeFitting(warehouse, linkedDates, { eventsMax: linkedEventsMax })
  const linked = new Set(group.filter(({ day }) => taken.has(day)))
  const due = renewals.filter((one) => one.isDue && !linked.has(one))
  const fitting = await takeFitting(warehouse, near([first, ...due]), { eventsMax, taken })
  return [...linked, ...due.filter(({ day }) => fitting.has(day))]
}

/** The first renewal and those that spans link to it. */
function listLinked(renewals: readonly Renewal[], first: Renewal): readonly Renewal[] {
  const touched = renewals.flatMap((one) => one.touched ?? [])
  const linked = first.touched === null ? null : linkedDays(touched, [first.touched])
  return renewals.filter(
    (one) => one === first || (one.touched !== null && linked?.has(one.touched))
  )
}

/** Whether a span that touches a renewal runs over a day of the batch. */
function createReachCheck(batch: readonly MarketDay[]): (renewal: Renewal) => boolean {
  const bounds = new Map<number, DayBounds[]>()
  for (const { unit, day } of batch) {
    const known = bounds.get(unit.id) ?? []
    known.push(dayBounds(day, unit.timeZone))
    bounds.set(unit.id, known)
  }
  return ({ unit, touched }) =>
    touched !== null &&
    (bounds.get(unit.id) ?? []).some(
      ({ fromMs, toMs }) => touched.linkedFromMs < toMs && touched.linkedToMs > fromMs
    )
}

function dayOfOne({ day }: MarketDay): string {
  return day
}

/** Each day once, the one of the first market day and those nearest to it first. */
function byDistance(of: readonly MarketDay[]): readonly string[] {
  const first = of[0]?.day ?? ''
  return [...new Set(of.map(dayOfOne))].toSorted(
    (a, b) => Math.abs(daysBetween(first, a)) - Math.abs(daysBetween(first, b))
  )
}

/** The days that one statement may read together: it also reads all days between them. */
function near(of: readonly MarketDay[]): readonly string[] {
  const first = of[0]?.day ?? ''
  return byDistance(of).filter((day) => Math.abs(daysBetween(first, day)) < sealLimits.daysMax / 2)
}

interface Fitting {
  readonly eventsMax: number
  /** Days that are read anyway. */
  readonly taken?: ReadonlySet<string>
}

/**
 * The days that can be read, together with those taken already, without reading more events than the limit from
 * the earliest to the latest of them. The first day and days between others are always among them.
 */
async function takeFitting(
  warehouse: Pick<Warehouse, 'rows'>,
  days: readonly string[],
  { eventsMax, taken = new Set() }: Fitting
): Promise<ReadonlySet<string>> {
  const fitting = new Set([...taken, ...(taken.size === 0 ? days.slice(0, 1) : [])])
  let { first: least, last: greatest } = rangeOfDays([...fitting])
  if (fitting.size + days.length < 2) return fitting
  const counts = await warehouse.rows<{ day: string; eventCount: number }>(
    `SELECT toString(served_day) AS day, count() AS eventCount FROM ad_event
     WHERE served_day >= {first:Date} AND served_day <= {last:Date} GROUP BY served_day`,
    { ...rangeOfDays([...fitting, ...days]) }
  )
  const countFrom = (from: string, to: string): number =>
    counts.reduce((sum, row) => (row.day >= from && row.day <= to ? sum + row.eventCount : sum), 0)
  for (const day of days) {
    const [from, to] = [day < least ? day : least, day > greatest ? day : greatest]
    const isWithin = from === least && to === greatest
    if (!isWithin && countFrom(from, to) > eventsMax) continue
    fitting.add(day)
    least = from
    greatest = to
  }
  return fitting
}
