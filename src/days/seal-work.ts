// What there is to seal: days that are over and have no seal that counts, and sealed days whose figures
// may be others by now.

import { addDays, dayBounds, dayOf, daysBetween, listDays } from '../domain/day.ts'
import type { DayBounds } from '../domain/day.ts'
import type { ReportMarket } from '../catalog/catalog-names.ts'
import { listUnits, readBounds } from './day-bounds.ts'
import type { Bounds } from './day-bounds.ts'
import { laterDay } from './final-days.ts'
import { loadRates } from './rates.ts'
import { readSeals, rollupVersion } from './seals.ts'
import type { StoredSeal } from './seals.ts'
import { isOutdated, linkedDays, readTouchedDays } from './touched-days.ts'
import type { TouchedDay } from './touched-days.ts'
import { withOtherRates } from './used-rates.ts'
import { instantMs } from '../warehouse/instant.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'

export const sealLimits = {
  /** Trackers and other nodes have this long to ship the end of a day. */
  delayMs: 7_200_000,
  /** A day that is touched again and again waits so long from one sealing to the next. */
  renewPauseMsMin: 8_000,
  renewPauseMsMax: 600_000,
  /** Of one statement; days that have more are sealed in parts. So many make as many rows at most: 300 MB. */
  eventsMax: 250_000,
  /** What a statement may take of memory: one that needs more is refused, and cut smaller the next time. */
  statementBytesMax: 600_000_000,
  /** Upper limit of events in linked days switched at once. */
  linkedEventsMax: 5_000_000,
  daysMax: 62,
} as const

export interface SealDeps {
  readonly warehouse: Warehouse
  readonly markets: () => readonly ReportMarket[]
  /** Everything received before this instant is shipped and attributed, as far as this node knows. */
  readonly settledThroughMs: () => number
  /** A day that was sealed within this time is not renewed yet, unless with others. */
  readonly renewPauseMs?: number
}

export interface MarketDay {
  readonly unit: ReportMarket
  readonly day: string
}

/** A sealed day that is to be sealed again. */
export interface Renewal extends MarketDay {
  readonly seal: StoredSeal
  /** Null where it is the rates that are others, or where the rollup lacks figures. */
  readonly touched: TouchedDay | null
  /** False: not yet, for the sake of others. */
  readonly isDue: boolean
}

export interface SealingWork {
  /** Newest first. */
  readonly unsealed: readonly MarketDay[]
  /** The oldest reading first; after an upgrade, those that lack figures come last, newest first. */
  readonly renewals: readonly Renewal[]
}

/** Every market day that is to be sealed now or again; days that are final never are. */
export async function findSealingWork(deps: SealDeps, readAt: string): Promise<SealingWork> {
  const { warehouse } = deps
  const markets = deps.markets()
  const bounds = await readBounds(warehouse, markets)
  const first = [...bounds.firstDays.values()].toSorted()[0]
  if (first === undefined) return { unsealed: [], renewals: [] }
  const range = {
    first: laterDay(first, bounds.finalBefore),
    last: addDays(readAt.slice(0, 10), 2),
  }
  const seals = await readSeals(warehouse, { markets, ...range, finalBefore: null })
  return {
    unsealed: listUnsealed(deps, { markets, bounds, seals, readAt }),
    renewals: await findRenewals(deps, { markets, range, seals, readAt }),
  }
}

interface Sealed {
  readonly markets: readonly ReportMarket[]
  readonly seals: readonly StoredSeal[]
  readonly readAt: string
}

function listUnsealed(
  deps: SealDeps,
  { markets, bounds, seals, readAt }: Sealed & { readonly bounds: Bounds }
): readonly MarketDay[] {
  const sealed = new Set(seals.map(({ unit, day }) => keyOf(unit, day)))
  const overMs = Math.min(instantMs(readAt) - sealLimits.delayMs, deps.settledThroughMs())
  const unsealed = listUnits(markets).flatMap((unit) => {
    const firstDay = bounds.firstDays.get(unit.id)
    if (firstDay === undefined) return []
    const yesterday = addDays(dayOf(overMs, unit.timeZone), -1)
    return listDays(laterDay(firstDay, bounds.finalBefore), yesterday)
      .filter((day) => !sealed.has(keyOf(unit.id, day)))
      .map((day) => ({ unit, day }))
  })
  return unsealed.toSorted((a, b) => b.day.localeCompare(a.day))
}

interface Renewing extends Sealed {
  readonly range: { readonly first: string; readonly last: string }
}

/** Sealed days that were touched since, whose rates are others now, or whose rollup lacks figures. */
async function findRenewals(
  deps: SealDeps,
  { markets, range, seals, readAt }: Renewing
): Promise<readonly Renewal[]> {
  const units = new Map(listUnits(markets).map((unit) => [unit.id, unit]))
  const found = await readTouchedDays(deps.warehouse, { markets, ...range })
  const touched = new Map(found.map((one) => [keyOf(one.unit, one.day), one]))
  const withRates = new Set(await findOtherRates(deps.warehouse, seals))
  const nowMs = instantMs(readAt)
  const pauseMs = deps.renewPauseMs ?? sealLimits.renewPauseMsMax
  return seals
    .flatMap((seal): readonly Renewal[] => {
      const unit = units.get(seal.unit)
      const one = touched.get(keyOf(seal.unit, seal.day)) ?? null
      const isLacking = seal.rollupVersion < rollupVersion
      const isOther = withRates.has(seal) || isLacking
      if (unit === undefined || (one === null && !isOther)) return []
      const isRested = instantMs(seal.readAt) + pauseMs <= nowMs
      // What was visible to the reading before, most probably, is read once more when it surely is.
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

/** Only days with amounts in foreign currencies hang on rates. */
async function findOtherRates(
  warehouse: Warehouse,
  seals: readonly StoredSeal[]
): Promise<readonly StoredSeal[]> {
  const converted = seals.filter(({ rates }) => rates !== '')
  const days = converted.map(({ day }) => day).toSorted()
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return []
  return withOtherRates(converted, await loadRates(warehouse, { first, last }))
}

/**
 * What is sealed under one revision. Days that are over come before renewals. Those that spans link to a day
 * of the batch come along, whatever their pause: an event that moves between them is on one of them then.
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

/** Days that one statement may read together: what lies between them is read as well. */
function near(of: readonly MarketDay[]): readonly string[] {
  const first = of[0]?.day ?? ''
  return byDistance(of).filter((day) => Math.abs(daysBetween(first, day)) < sealLimits.daysMax / 2)
}

interface Fitting {
  readonly eventsMax: number
  /** Days that are read in any case. */
  readonly taken?: ReadonlySet<string>
}

/**
 * Those of the days that can be read with no more events than that, from the least one to the greatest,
 * and the days that are taken already. At least the first, and what lies between others.
 */
async function takeFitting(
  warehouse: Pick<Warehouse, 'rows'>,
  days: readonly string[],
  { eventsMax, taken = new Set() }: Fitting
): Promise<ReadonlySet<string>> {
  const fitting = new Set([...taken, ...(taken.size === 0 ? days.slice(0, 1) : [])])
  const all = [...fitting, ...days].toSorted()
  let [least, greatest] = [[...fitting].toSorted()[0] ?? '', [...fitting].toSorted().at(-1) ?? '']
  if (all.length < 2) return fitting
  const counts = await warehouse.rows<{ day: string; eventCount: number }>(
    `SELECT toString(served_day) AS day, count() AS eventCount FROM ad_event
     WHERE served_day >= {first:Date} AND served_day <= {last:Date} GROUP BY served_day`,
    { first: all[0] ?? '', last: all.at(-1) ?? '' }
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

function keyOf(unit: number, day: string): string {
  return `${unit} ${day}`
}
