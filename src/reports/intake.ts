import { printInstant } from '../domain/instant.ts'
import {
  intakeLimits,
  type AdEventIntake,
  type ConversionIntake,
  type Intake,
  type IntakeDay,
  type UnknownId,
} from '../contract/intake.ts'
import type { NotBelieved, NotBelievedOfPublisher } from '../contract/not-believed.ts'
import { addDays } from '../domain/day.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { readNotBelieved } from './not-believed.ts'
import {
  deliveriesSql,
  eventsSql,
  lookAlikesSql,
  setAsideSql,
  unknownAdMarketsSql,
  unknownAdSitesSql,
  unknownConversionSitesSql,
} from './intake-sql.ts'

export interface IntakeQuestion {
  readonly publisherId: number
  /** ISO days in UTC, both included. The start is never after the end. */
  readonly startDate: string
  readonly endDate: string
  /** The catalog's sites of the publisher, and all its markets. */
  readonly siteIds: readonly number[]
  readonly marketIds: readonly number[]
  /** Checked between statements, because the caller may have gone. */
  readonly signal: AbortSignal
}

export type ReadIntake = (question: IntakeQuestion) => Promise<Intake>

// ClickHouse holds the deliveries of this many days, and their winners, at once: 100 MB for a publisher with
// a hundred thousand purchases a day.
const deliveryDaysMax = 7

// A counted receipt is at most 7 days after its serving and 5 minutes before it.
const servedDaysBefore = 7
const servedDaysAfter = 1

/** ClickHouse's dates wrap around outside 1970 to 2149, and no receipt lies outside these days. */
const firstDay = '2000-01-01'
const lastDay = '2100-12-31'

interface Group {
  readonly day: string
  readonly outcome: string
  readonly count: number
  readonly unknownSites: number
  readonly lastAtMs: number
}

interface DeliveryGroup extends Group {
  readonly withoutShopper: number
  readonly lines: number
  readonly linesOutOfRange: number
  readonly linesWithoutProduct: number
}

interface EventGroup extends Group {
  readonly kind: keyof typeof kinds
  readonly unknownMarkets: number
}

interface SetAside {
  readonly day: string
  readonly count: number
}

/** More transactions with hidden characters than this are a fault of the shop, and are not counted. */
const oddMax = 100_000

const kinds = { load: 'loads', impression: 'impressions', click: 'clicks' } as const

const reads = [
  'delivery',
  'delivery_judgement',
  'purchase_return',
  'attribution',
  'intake_event',
  'intake_set_aside',
] as const

/** Counts exactly, even if rows were shipped twice, and reads only the rows of the days asked for. */
export function createIntakeReader(warehouse: Pick<Warehouse, 'rows' | 'barrier'>): ReadIntake {
  return async (question) => {
    const { publisherId, startDate, endDate } = question
    const fromDay = startDate < firstDay ? firstDay : startDate
    const toDay = endDate > lastDay ? lastDay : endDate
    if (fromDay > toDay) return buildIntake(question, { deliveries: [], setAside: [], events: [] })

    const range = { publisherId, fromDay, toDay }
    await warehouse.barrier(reads)
    const deliveries = await readDeliveries(warehouse, { ...question, fromDay, toDay })
    question.signal.throwIfAborted()
    const setAside = await warehouse.rows<SetAside>(setAsideSql, range)
    const notBelieved = await readNotBelieved(warehouse, {
      publisherId,
      fromMs: Date.parse(fromDay),
      toMs: Date.parse(addDays(toDay, 1)),
    })
    question.signal.throwIfAborted()
    const eventParams = {
      ...range,
      filedFrom: addDays(fromDay, -servedDaysBefore),
      filedTo: addDays(toDay, servedDaysAfter),
      siteIds: question.siteIds,
      marketIds: question.marketIds,
    }
    const events = await warehouse.rows<EventGroup>(eventsSql, eventParams)
    question.signal.throwIfAborted()

    const params = { ...eventParams, idsMax: intakeLimits.unknownIdsMax }
    // The ids are read only if there are any, because that takes a second reading.
    const find = async (sql: string, isAny: boolean) =>
      isAny ? await warehouse.rows<UnknownId>(sql, params) : []
    const [alike] = await warehouse.rows<{ count: number }>(lookAlikesSql, { ...range, oddMax })
    question.signal.throwIfAborted()
    return {
      ...buildIntake(question, { deliveries, setAside, events }),
      notBelieved: notBelieved.map(withoutPublisher),
      lookAlikes: alike?.count ?? 0,
      unknown: {
        conversionSites: await find(unknownConversionSitesSql, deliveries.some(hasUnknownSite)),
        adSites: await find(unknownAdSitesSql, events.some(hasUnknownSite)),
        adMarkets: await find(
          unknownAdMarketsSql,
          events.some(({ unknownMarkets }) => unknownMarkets > 0)
        ),
      },
    }
  }
}

function withoutPublisher(found: NotBelievedOfPublisher): NotBelieved {
  const { publisherId: _, ...group } = found
  return group
}

function hasUnknownSite({ unknownSites }: Group): boolean {
  return unknownSites > 0
}

async function readDeliveries(
  warehouse: Pick<Warehouse, 'rows' | 'barrier'>,
  question: IntakeQuestion & { readonly fromDay: string; readonly toDay: string }
): Promise<readonly DeliveryGroup[]> {
  const { publisherId, siteIds, signal, toDay } = question
  const groups: DeliveryGroup[] = []
  for (let fromDay = question.fromDay; fromDay <= toDay;) {
    signal.throwIfAborted()
    const afterDay = addDays(fromDay, deliveryDaysMax)
    const lastOfPart = afterDay > toDay ? toDay : addDays(afterDay, -1)
    const params = { publisherId, siteIds, fromDay, toDay: lastOfPart }
    groups.push(...(await warehouse.rows<DeliveryGroup>(deliveriesSql, params)))
    fromDay = afterDay
  }
  return groups
}

interface Found {
  readonly deliveries: readonly DeliveryGroup[]
  readonly setAside: readonly SetAside[]
  readonly events: readonly EventGroup[]
}

function buildIntake(question: IntakeQuestion, found: Found): Intake {
  const { publisherId, startDate, endDate } = question
  const { deliveries, setAside, events } = found
  const dates = [...deliveries, ...setAside, ...events].map(({ day }) => day)
  return {
    publisherId,
    startDate,
    endDate,
    days: [...new Set(dates)].toSorted().map((date) => buildDay(date, found)),
    unknown: { conversionSites: [], adSites: [], adMarkets: [] },
    notBelieved: [],
    lookAlikes: 0,
    ...lastReceived([...deliveries, ...events]),
  }
}

function buildDay(date: string, { deliveries, setAside, events }: Found): IntakeDay {
  const ofKind = (kind: keyof typeof kinds) =>
    buildEvents(events.filter((group) => group.day === date && group.kind === kind))
  return {
    date,
    conversions: buildConversions(
      deliveries.filter(({ day }) => day === date),
      sumOf(
        setAside.filter(({ day }) => day === date),
        'count'
      )
    ),
    loads: ofKind('load'),
    impressions: ofKind('impression'),
    clicks: ofKind('click'),
  }
}

function buildConversions(
  groups: readonly DeliveryGroup[],
  setAsideCount: number
): ConversionIntake {
  return {
    received: sumOf(groups, 'count') + setAsideCount,
    counted: countOf(groups, 'counted'),
    waiting: countOf(groups, 'waiting'),
    notCounted: withoutZeros({ ...reasonsOf(groups), 'set-aside': setAsideCount }),
    withoutShopper: sumOf(groups, 'withoutShopper'),
    lines: {
      received: sumOf(groups, 'lines'),
      notCounted: withoutZeros({
        'out-of-range': sumOf(groups, 'linesOutOfRange'),
        'no-product': sumOf(groups, 'linesWithoutProduct'),
      }),
    },
    ...lastReceived(groups),
  }
}

function buildEvents(groups: readonly EventGroup[]): AdEventIntake {
  return {
    counted: countOf(groups, 'counted'),
    notCounted: reasonsOf(groups),
    ...lastReceived(groups),
  }
}

function reasonsOf(groups: readonly Group[]): Readonly<Record<string, number>> {
  const reasons = groups.filter(({ outcome }) => outcome !== 'counted' && outcome !== 'waiting')
  return Object.fromEntries(reasons.map(({ outcome, count }) => [outcome, count]))
}

function countOf(groups: readonly Group[], outcome: string): number {
  return sumOf(
    groups.filter((group) => group.outcome === outcome),
    'count'
  )
}

function sumOf<Name extends string>(
  groups: readonly { readonly [Key in Name]: number }[],
  name: Name
): number {
  return groups.reduce((sum, group) => sum + group[name], 0)
}

function withoutZeros(counts: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))
}

function lastReceived(groups: readonly Group[]): { readonly lastReceivedAt?: string } {
  if (groups.length === 0) return {}
  const lastAtMs = Math.max(...groups.map((group) => group.lastAtMs))
  return { lastReceivedAt: printInstant(lastAtMs) }
}
