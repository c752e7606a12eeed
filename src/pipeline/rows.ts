// Turns the records that a tracker wrote into rows of the warehouse. The work that a tracker leaves out to
// answer quickly is done here: opening the token, hashing identities, verdicts, exact amounts.

import { adEventVerdict } from '../domain/ad-event-verdict.ts'
import type { Caller } from '../domain/caller.ts'
import type { EventRules } from '../catalog/event-rules.ts'
import type { Contradiction } from '../catalog/contradictions.ts'
import { gtinKey, trimGtin } from '../domain/gtin.ts'
import type { IdentityHasher } from '../domain/identity.ts'
import { formatDecimal, isOutOfRange, lineValueNanos, nanosScale } from '../domain/money.ts'
import { unlessPlaceholder } from '../domain/placeholder.ts'
import { hash16, purchaseKey } from '../domain/purchase-key.ts'
import type {
  AdEventRecord,
  ConversionLine,
  ConversionRecord,
  ReturnRecord,
} from '../spool/record.ts'
import type { OpenedToken, Opener, TrackingData } from '../tracking-data/tracking-data.ts'
import type { DeliveryJudge } from './delivery-judge.ts'
import type { TooLate } from '../days/final-days.ts'

export interface RowContext extends EventRules {
  readonly openTrackingData: Opener['open']
  /** The tokens of a batch together, at a fraction of the cost. */
  readonly openAllTrackingData: Opener['openAll']
  readonly hashIdentity: IdentityHasher
  readonly deliveryJudge: DeliveryJudge
  readonly callerOf: (userAgent: string) => Caller
}

/** The context of one batch. */
export interface BatchContext extends Omit<RowContext, 'openTrackingData' | 'openAllTrackingData'> {
  readonly tooLate: TooLate
}

export interface AdEventRow {
  readonly served_ad_id: string
  readonly served_at_ms: number
  readonly received_at_ms: number
  readonly kind: AdEventRecord['kind']
  readonly verdict: string
  readonly publisher_id: number
  readonly site_id: number
  readonly market_id: number
  readonly advertiser_id: number
  readonly campaign_id: number
  readonly ad_group_id: number
  readonly gtin: string
  readonly gtin_key: string
  readonly group_id: string
  readonly user_identity: string
  readonly login_identity: string
  readonly currency: string
  readonly charge: string
  /** The version of the list of data centres that decided; empty unless the verdict is `data-centre`. */
  readonly data_centre_list: string
}

/** What speaks against an event that would count. One that does not count charges nobody. */
export interface PlannedAdEvent {
  readonly row: AdEventRow
  readonly contradiction: Contradiction | null
}

/**
 * Null if the token does not open, because its key was removed from the ring before the event was shipped.
 * The caller sets the record aside.
 */
export function planAdEventRow(
  record: AdEventRecord,
  opened: OpenedToken,
  context: BatchContext
): PlannedAdEvent | null {
  if (!opened.ok) return null
  const row = buildRow(record, opened.data, context)
  const [contradiction = null] =
    row.verdict === 'counted' ? context.contradictionsOf(opened.data) : []
  return { row, contradiction }
}

function buildRow(record: AdEventRecord, data: TrackingData, context: BatchContext): AdEventRow {
  const verdict = verdictOf(record, data, context)
  return {
    served_ad_id: data.servedAdId,
    served_at_ms: data.servedAtMs,
    received_at_ms: record.receivedAtMs,
    kind: record.kind,
    verdict,
    publisher_id: data.publisherId,
    site_id: data.siteId,
    market_id: data.marketId,
    advertiser_id: data.advertiserId,
    campaign_id: data.campaignId,
    ad_group_id: data.adGroupId,
    gtin: trimGtin(data.gtin),
    gtin_key: gtinKey(data.gtin),
    group_id: unlessPlaceholder(data.groupId),
    user_identity: context.hashIdentity('user', data.publisherId, data.userId),
    login_identity: context.hashIdentity('login', data.publisherId, data.userLoggedInId),
    currency: data.currency,
    charge: formatDecimal(chargeNanos(record.kind, data), nanosScale, nanosScale),
    data_centre_list: verdict === 'data-centre' ? (record.dataCentreList ?? '') : '',
  }
}

function verdictOf(record: AdEventRecord, data: TrackingData, context: BatchContext): string {
  // This comes before all other reasons: events of a final day are filed apart from it.
  if (context.tooLate.event(data.marketId, record.receivedAtMs)) return 'too-late'
  const event = {
    kind: record.kind,
    receivedAtMs: record.receivedAtMs,
    isPrefetch: record.isPrefetch,
    caller: callerOf(record, context),
    isFromDataCentre: record.dataCentreList !== undefined,
  }
  return adEventVerdict(event, data.servedAtMs, context.placeOf(data.publisherId, data.siteId))
}

/**
 * What the tracker read stands, because it decided by it which events are repeats. In a backfill, and in
 * records of older trackers, a missing user agent says nothing: there, nobody was asked for it.
 */
function callerOf(record: AdEventRecord, context: BatchContext): Caller | null {
  if (record.caller !== undefined) return record.caller
  if (record.isBot !== undefined) return record.isBot ? 'bot' : null
  return record.userAgent.trim() === '' ? null : context.callerOf(record.userAgent)
}

/** A thousand impressions cost `costPerMille`, so a micro of it is a nano for each. */
function chargeNanos(kind: AdEventRecord['kind'], data: TrackingData): bigint {
  switch (kind) {
    case 'click':
      return data.costPerClickMicros * 1_000n
    case 'impression':
      return data.costPerMilleMicros
    case 'load':
      return 0n
  }
}

export type DeliveryRow = ReturnType<typeof buildDeliveryRow>

/** One row, with the lines in arrays of equal length. */
export function buildDeliveryRow(key: string, record: ConversionRecord, context: BatchContext) {
  const { lines } = record
  const verdicts = lines.map(lineVerdict)
  return {
    delivery_id: key,
    purchase_key: purchaseKeyOf(key, record),
    publisher_id: record.publisherId,
    site_id: record.siteId,
    transaction_id: record.transactionId,
    received_at_ms: record.receivedAtMs,
    ...judgedColumns(record, context),
    user_identity: record.userIdentity,
    login_identity: record.loginIdentity,
    currency: record.currency,
    content_hash: contentHash(record),
    line_gtin: lines.map((line) => line.gtin),
    line_gtin_key: lines.map((line) => gtinKey(line.gtin)),
    line_group_id: lines.map((line) => unlessPlaceholder(line.groupId)),
    line_brand: lines.map((line) => line.brand),
    line_price: lines.map((line) => line.price),
    line_quantity: lines.map((line) => line.quantity),
    // An amount that is out of range does not fit the column and is never summed; its price is kept.
    line_value: lines.map((line, index) =>
      verdicts[index] === 'out-of-range' ? '0' : lineValue(line)
    ),
    line_verdict: verdicts,
  }
}

/** The verdict, and what judging the delivery again needs. */
function judgedColumns(record: ConversionRecord | ReturnRecord, context: BatchContext) {
  const { origin, receivedAtMs } = record
  const { verdict, keyKind, keyId } = context.deliveryJudge.judge(record)
  return {
    verdict: context.tooLate.conversion(receivedAtMs) ? 'too-late' : verdict,
    origin: origin.kind,
    key_kind: keyKind,
    key_id: keyId,
    source_address: origin.kind === 'live' ? (origin.address ?? '') : '',
  }
}

export type ReturnRow = ReturnType<typeof buildReturnRow>

/** One row per delivery of a return. Attribution decides which of them counts. */
export function buildReturnRow(key: string, record: ReturnRecord, context: BatchContext) {
  const { publisherId, transactionId, returnId, lines } = record
  return {
    purchase_key: purchaseKeyOf(key, record),
    return_key: hash16(['r', publisherId, transactionId, returnId]),
    delivery_id: key,
    publisher_id: publisherId,
    transaction_id: transactionId,
    return_id: returnId,
    received_at_ms: record.receivedAtMs,
    ...judgedColumns(record, context),
    content_hash: hash16(lines.map(({ gtin, quantity }) => [gtin, quantity])),
    line_gtin: lines.map((line) => line.gtin),
    line_gtin_key: lines.map((line) => gtinKey(line.gtin)),
    line_quantity: lines.map((line) => line.quantity),
  }
}

function lineVerdict(line: ConversionLine): string {
  if (isOutOfRange(line.price, line.quantity)) return 'out-of-range'
  return gtinKey(line.gtin) === '' ? 'no-product' : 'valid'
}

/** Only for amounts in range. */
function lineValue(line: ConversionLine): string {
  return formatDecimal(lineValueNanos(line.price, line.quantity), nanosScale, nanosScale)
}

/** A delivery that names no transaction is a purchase of its own. */
function purchaseKeyOf(key: string, record: ConversionRecord | ReturnRecord): string {
  return purchaseKey(record.publisherId, record.transactionId) ?? hash16(['d', key])
}

/** Equal for repeats with the same content, so that a repeat with other content shows as a conflict. */
function contentHash(record: ConversionRecord): string {
  const { siteId, userIdentity, loginIdentity, currency, lines } = record
  return hash16([
    siteId,
    userIdentity,
    loginIdentity,
    currency,
    lines.map(({ gtin, groupId, brand, price, quantity }) => [
      gtin,
      groupId,
      brand,
      price,
      quantity,
    ]),
  ])
}
