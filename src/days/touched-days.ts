// Sealed days that input has reached since their reading began. The touched span of an ad event, or of a purchase
// that moves, runs from where it is counted now to where it may have been counted: the days under it belong
// together. A move is shown on all of them or on none.

import type { Warehouse } from '../warehouse/warehouse.ts'
import type { ReportMarket } from '../catalog/catalog-names.ts'
import type { LatestSeal } from './seals.ts'
import { everyUnit, readSpansAfter } from './touched-spans.ts'
import type { TouchedSpan } from './touched-spans.ts'

export interface TouchedDay {
  readonly unit: number
  readonly day: string
  /** A reading that began at this instant or later has seen everything that touched the day. */
  readonly touchedUntilMs: number
  readonly readAtMs: number
  readonly fromMs: number
  readonly toMs: number
  /** How far the spans reach that touch this day and others; 0 to 0 if there are none. */
  readonly linkedFromMs: number
  readonly linkedToMs: number
  /** 1: another day under one of these spans is open, or has been renewed since. */
  readonly torn: 0 | 1
}

export const touchedLimits = {
  /** A mark is this far ahead of the instant of its batch, whose effect may become visible as late as that. */
  aheadMs: 300_000,
  /** The effect is mostly visible at once; a reading that began this much later has almost certainly seen it. */
  graceMs: 30_000,
} as const

interface Asked {
  readonly markets: readonly ReportMarket[]
  /** The latest seals of days from `first` to `last`. */
  readonly seals: readonly LatestSeal[]
  readonly first: string
  readonly last: string
}

/**
 * The valid seals that were touched after their reading began, or may have been. A day whose seal is void is an open
 * day: it shows every move at once. Seals and spans are brought together here: the statement that did so took longer
 * to be analysed than a report of a month.
 */
export async function readTouchedDays(
  warehouse: Pick<Warehouse, 'rows'>,
  { markets, seals, first, last }: Asked
): Promise<readonly TouchedDay[]> {
  const valid = seals.filter(({ isValid }) => isValid)
  if (valid.length === 0) return []
  const spans = await readSpansAfter(warehouse, valid, new Set(markets.map(({ id }) => id)))
  return findTouchedDays(valid, spans, {
    fromMs: Date.parse(first) + lastMidnightMs,
    toMs: Date.parse(last) + firstMidnightMs,
  })
}

// The instants that belong to the days asked for in every zone: from the last midnight of the first day on earth to
// the first midnight of the last one.
const lastMidnightMs = 43_200_000
const firstMidnightMs = 36_000_000

/** A mark of an hour moves nothing. */
const linkMsMin = 3_600_000

interface Period {
  readonly fromMs: number
  readonly toMs: number
}

/**
 * Spans over several days: how much of one lies on days that it will renew tells whether it is torn, because the
 * others already show the move. Only its part in the period is looked at.
 */
function findTouchedDays(
  seals: readonly LatestSeal[],
  spans: readonly TouchedSpan[],
  asked: Period
): readonly TouchedDay[] {
  const found = new Map<LatestSeal, TouchedDay>()
  for (const sorted of sealsByUnit(seals).values()) {
    const unit = sorted[0]?.unit
    for (const span of spans) {
      if (span.unit !== unit && span.unit !== everyUnit) continue
      const touched = sealsUnder(sorted, span).filter((seal) => span.untilUs > seal.readAtUs)
      const isLink = span.toMs - span.fromMs > linkMsMin
      const tears = isLink && isPartly(span, touched, asked)
      for (const seal of touched) {
        found.set(seal, withSpan(found.get(seal) ?? untouched(seal), { span, isLink, tears }))
      }
    }
  }
  return [...found.values()].toSorted((a, b) => a.day.localeCompare(b.day) || a.unit - b.unit)
}

function sealsByUnit(seals: readonly LatestSeal[]): ReadonlyMap<number, readonly LatestSeal[]> {
  const byUnit = new Map<number, LatestSeal[]>()
  for (const seal of seals.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const own = byUnit.get(seal.unit)
    if (own === undefined) byUnit.set(seal.unit, [seal])
    else own.push(seal)
  }
  return byUnit
}

/** Days of a unit never overlap, so both ends are in order. */
function sealsUnder(sorted: readonly LatestSeal[], { fromMs, toMs }: Period): LatestSeal[] {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if ((sorted[middle]?.toMs ?? 0) > fromMs) high = middle
    else low = middle + 1
  }
  const under: LatestSeal[] = []
  for (let index = low; (sorted[index]?.fromMs ?? Infinity) < toMs; index += 1) {
    const seal = sorted[index]
    if (seal !== undefined) under.push(seal)
  }
  return under
}

/** Whether more of a span is in the period than its days that will be renewed. */
function isPartly(span: TouchedSpan, touched: readonly LatestSeal[], asked: Period): boolean {
  const underMs = touched.reduce((sum, seal) => sum + overlapMs(asked, span, seal), 0)
  return underMs < overlapMs(asked, span)
}

function overlapMs(...periods: readonly Period[]): number {
  const fromMs = Math.max(...periods.map((one) => one.fromMs))
  const toMs = Math.min(...periods.map((one) => one.toMs))
  return Math.max(0, toMs - fromMs)
}

function untouched({ unit, day, readAtUs, fromMs, toMs }: LatestSeal): TouchedDay {
  const readAtMs = Math.floor(readAtUs / 1_000)
  const nothing = { touchedUntilMs: 0, linkedFromMs: 0, linkedToMs: 0, torn: 0 } as const
  return { unit, day, readAtMs, fromMs, toMs, ...nothing }
}

interface Touching {
  readonly span: TouchedSpan
  readonly isLink: boolean
  readonly tears: boolean
}

function withSpan(day: TouchedDay, { span, isLink, tears }: Touching): TouchedDay {
  const touchedUntilMs = Math.max(day.touchedUntilMs, Math.floor(span.untilUs / 1_000))
  if (!isLink) return { ...day, touchedUntilMs }
  const isFirst = day.linkedToMs === 0
  return {
    ...day,
    touchedUntilMs,
    linkedFromMs: isFirst ? span.fromMs : Math.min(day.linkedFromMs, span.fromMs),
    linkedToMs: Math.max(day.linkedToMs, span.toMs),
    torn: tears ? 1 : day.torn,
  }
}

/** Whether the day was touched after its reading; otherwise the input is most probably in its figures. */
export function isOutdated({ touchedUntilMs, readAtMs }: TouchedDay): boolean {
  return touchedUntilMs - touchedLimits.aheadMs + touchedLimits.graceMs > readAtMs
}

/** Whether another day under one of its spans already shows the move: then its seal must not be used. */
export function isTorn({ torn }: TouchedDay): boolean {
  return torn === 1
}

/** The given days and all days that spans link to them, over any number of steps. */
export function linkedDays<Day extends TouchedDay>(
  days: readonly Day[],
  start: readonly Day[]
): ReadonlySet<Day> {
  const started = new Set(start)
  const groups = groupLinked(days)
  const linked = groups.filter((group) => group.some((day) => started.has(day))).flat()
  return new Set([...start, ...linked])
}

/**
 * The days of a unit never overlap, and a span links all days it touches. So linked days are neighbours, and two
 * neighbours are linked if a span from either side reaches the other.
 */
function groupLinked<Day extends TouchedDay>(days: readonly Day[]): readonly (readonly Day[])[] {
  const sorted = days.toSorted((a, b) => a.unit - b.unit || a.fromMs - b.fromMs)
  const back = reachBack(sorted)
  const groups: Day[][] = []
  let before: Day | undefined
  let reachMs = 0
  for (const [index, day] of sorted.entries()) {
    const isSameUnit = before?.unit === day.unit
    const isReached = reachMs > day.fromMs || (back[index] ?? Infinity) < (before?.toMs ?? 0)
    const isLinked = isSameUnit && isReached
    const group = groups.at(-1)
    if (group !== undefined && isLinked) group.push(day)
    else groups.push([day])
    reachMs = isSameUnit ? Math.max(reachMs, day.linkedToMs) : day.linkedToMs
    before = day
  }
  return groups
}

/** For each day, the earliest instant that a span reaches which touches it or a later day of its unit. */
function reachBack(sorted: readonly TouchedDay[]): readonly number[] {
  const reach: number[] = []
  let fromMs = Infinity
  let unit: number | undefined
  for (const day of sorted.toReversed()) {
    if (day.unit !== unit) fromMs = Infinity
    unit = day.unit
    if (day.linkedToMs > day.linkedFromMs) fromMs = Math.min(fromMs, day.linkedFromMs)
    reach.push(fromMs)
  }
  return reach.toReversed()
}
