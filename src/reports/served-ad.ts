// Reads what became of one served ad: its events, and the lines of purchases that are credited to it.

import type { CreditRule } from '../contract/explanation.ts'
import type { AttributionProfile } from '../contract/report-request.ts'
import { servedAdLimits } from '../contract/served-ad.ts'
import type { ServedAdReading } from '../contract/served-ad.ts'
import { adEventVerdicts } from '../domain/ad-event-verdict.ts'
import { addDays, dayOf } from '../domain/day.ts'
import type { Warehouse } from '../warehouse/warehouse.ts'
import { printAmount } from '../attribution/explain/print.ts'
import { printInstant } from '../domain/instant.ts'
import { readFinalDays } from '../days/final-days.ts'

/** The content of the token; it tells where the rows of the ad are. */
export interface ServedAdPlace {
  /** 32 hex digits. */
  readonly servedAdId: string
  readonly servedAtMs: number
  readonly publisherId: number
  readonly advertiserId: number
}

export type ServedAdOutcome = Pick<
  ServedAdReading,
  'events' | 'credits' | 'creditsLeftOut' | 'creditedPurchases' | 'isFinal'
>

export type ReadServedAd = (place: ServedAdPlace) => Promise<ServedAdOutcome>

type Reader = Pick<Warehouse, 'rows' | 'barrier'>

/** There is at most one event of each kind and verdict. */
const eventsMax = 3 * adEventVerdicts.length

// A click counts up to 7 days after serving and wins up to 14 days after it, an impression 1 day and 1 day;
// both may come minutes before serving, and a day more covers where in its day the ad was served.
const daysBefore = 1
const daysAfterClick = 22
const daysAfterView = 3

/** Events that have not been shipped yet are missing. */
export function createServedAdReader(warehouse: Reader): ReadServedAd {
  return async (place) => {
    const servedDay = dayOf(place.servedAtMs, 'UTC')
    const { servedAdId, advertiserId, publisherId } = place
    await warehouse.barrier(['ad_event', 'attribution'])
    const [events, { finalBefore }] = await Promise.all([
      warehouse.rows<EventRow>(eventsSql, {
        servedAdId,
        advertiserId,
        publisherId,
        servedDay,
        eventsMax,
      }),
      readFinalDays(warehouse),
    ])
    const lines = await warehouse.rows<LineRow>(creditsSql, {
      servedAdId,
      publisherId,
      fromDay: addDays(servedDay, -daysBefore),
      toDay: addDays(servedDay, mayHaveClick(events) ? daysAfterClick : daysAfterView),
      linesMax: servedAdLimits.creditsMax,
    })
    const [first] = lines
    return {
      events: events.map(printEvent),
      credits: lines.map(printLine),
      creditsLeftOut: (first?.lineCount ?? 0) - lines.length,
      creditedPurchases: first?.purchaseCount ?? 0,
      isFinal: finalBefore !== null && servedDay < finalBefore,
    }
  }
}

function printEvent(row: EventRow): ServedAdReading['events'][number] {
  const { kind, verdict, receivedAtMs, dataCentreList } = row
  const told = { kind, verdict, receivedAt: printInstant(receivedAtMs) }
  return dataCentreList === '' ? told : { ...told, dataCentreList }
}

/** If there is no event, events may have been dropped; attributions are dropped a month later. */
function mayHaveClick(events: readonly EventRow[]): boolean {
  const isCounted = ({ kind, verdict }: EventRow) => kind === 'click' && verdict === 'counted'
  return events.length === 0 || events.some(isCounted)
}

interface EventRow {
  readonly kind: ServedAdReading['events'][number]['kind']
  readonly verdict: ServedAdReading['events'][number]['verdict']
  readonly receivedAtMs: number
  readonly dataCentreList: string
}

interface LineRow {
  readonly publisherId: number
  readonly transactionId: string
  readonly purchasedAtMs: number
  readonly currency: string
  readonly lineIndex: number
  readonly quantity: number
  readonly value: string
  /** The rule of the click that earns the line in the profiles with clicks, whichever ad it belongs to. */
  readonly clickRule: 'none' | 'direct' | 'in-group'
  readonly isClick: number
  readonly isView: number
  readonly lineCount: number
  readonly purchaseCount: number
}

function printLine(row: LineRow): ServedAdReading['credits'][number] {
  return {
    publisherId: row.publisherId,
    transactionId: row.transactionId,
    purchasedAt: printInstant(row.purchasedAtMs),
    line: row.lineIndex + 1,
    quantity: row.quantity,
    value: printAmount(row.value, row.currency),
    currency: row.currency,
    rules: rulesOf(row),
  }
}

/** A click goes before an impression in the profile with both. */
function rulesOf({
  clickRule,
  isClick,
  isView,
}: LineRow): Readonly<Record<AttributionProfile, CreditRule | null>> {
  const clicked = isClick === 1 && clickRule !== 'none' ? clickRule : null
  const seen = isView === 1 ? 'view' : null
  return {
    CLK_14_DAYS: clicked,
    IMP_1_DAY: seen,
    IMP_1_DAY_CLK_14_DAYS: clickRule === 'none' ? seen : clicked,
  }
}

/** Follows the sorting key. Until ClickHouse has merged them, repeats exist beside the earliest event. */
const eventsSql = `
SELECT toString(kind) AS kind, toString(verdict) AS verdict,
  toUnixTimestamp64Milli(min(received_at)) AS receivedAtMs,
  toString(argMin(data_centre_list, received_at)) AS dataCentreList
FROM ad_event
WHERE advertiser_id = {advertiserId:Int32} AND served_day = {servedDay:Date}
  AND served_ad_id = toFixedString(unhex({servedAdId:String}), 16)
  AND publisher_id = {publisherId:Int32}
GROUP BY kind, verdict
ORDER BY receivedAtMs, kind, verdict LIMIT {eventsMax:UInt32}`

/**
 * Three columns of the days in question find the purchases that were ever credited to the ad. Only their
 * current attribution is read, because an older one may have credited another ad.
 */
const creditsSql = `
WITH toFixedString(unhex({servedAdId:String}), 16) AS ad
SELECT publisher_id AS publisherId, transaction_id AS transactionId,
  toUnixTimestamp64Milli(received_at) AS purchasedAtMs, currency, line_index AS lineIndex,
  quantity, toString(value) AS value, rule AS clickRule,
  toUInt8(is_click) AS isClick, toUInt8(is_view) AS isView,
  toUInt32(count() OVER ()) AS lineCount, toUInt32(uniqExact(purchase_key) OVER ()) AS purchaseCount
FROM (
  SELECT purchase_key, publisher_id, transaction_id, received_at, currency,
    place AS line_index, quantity, value, toString(rule_of) AS rule,
    rule_of != 'none' AND click_id = ad AS is_click, view_id = ad AS is_view
  FROM attribution FINAL
  ARRAY JOIN line_index AS place, line_quantity AS quantity, line_value AS value, click_rule AS rule_of,
    click_served_ad_id AS click_id, view_served_ad_id AS view_id
  WHERE day >= {fromDay:Date} AND day <= {toDay:Date}
    AND (day, purchase_key) IN (
      SELECT day, purchase_key FROM attribution
      WHERE day >= {fromDay:Date} AND day <= {toDay:Date} AND publisher_id = {publisherId:Int32}
        AND (has(click_served_ad_id, ad) OR has(view_served_ad_id, ad))
    )
)
WHERE is_click OR is_view
ORDER BY received_at, transaction_id, line_index LIMIT {linesMax:UInt32}`
