// What a tracker writes down. A record never holds a raw user id: ids are hashed before, or stay inside
// the encrypted tracking data, which is spooled as it came.

import type { Conversion } from '../contract/conversion.ts'
import type { PurchaseReturn } from '../contract/return.ts'
import type { Caller } from '../domain/caller.ts'
import type { IdentityHasher } from '../domain/identity.ts'

/** Of a record whose request is traced: its context, a `traceparent`. */
interface Traced {
  readonly trace?: string
}

/**
 * How a conversion or a return came in. An operator vouches for a backfill. The address of a live one is
 * null if the connection was gone before it could be read; such a sender may be anybody.
 */
export type Origin =
  | { readonly kind: 'live'; readonly address: string | null }
  | { readonly kind: 'backfill' }

export const backfilled: Origin = { kind: 'backfill' }

export function liveFrom(address: string | null): Origin {
  return { kind: 'live', address }
}

/**
 * The key that a delivery came with: the SHA-256 of one of the right form as 64 hex characters, else `none` or
 * `malformed`. A tracker does not know which keys there are, and the key itself never reaches the disk.
 */
export type PresentedKey = string

export interface AdEventRecord extends Traced {
  readonly type: 'ad-event'
  readonly kind: 'impression' | 'click' | 'load'
  readonly receivedAtMs: number
  /** Canonical unpadded base64url. */
  readonly trackingData: string
  readonly userAgent: string
  readonly isPrefetch: boolean
  /** As the tracker read the user agent; absent in a backfill, and in records of older versions. */
  readonly caller?: Caller
  /** The version of the list of data centres that has the caller's network. The address is not kept. */
  readonly dataCentreList?: string
  /** Instead of `caller` in records of before 0.3. */
  readonly isBot?: boolean
}

export interface ConversionRecord extends Traced {
  readonly type: 'conversion'
  readonly receivedAtMs: number
  readonly publisherId: number
  readonly siteId: number
  readonly transactionId: string
  /** 32 hex characters of the identity hash, or '' where there is no identity. */
  readonly userIdentity: string
  readonly loginIdentity: string
  readonly currency: string
  readonly lines: readonly ConversionLine[]
  readonly origin: Origin
  readonly presentedKey: PresentedKey
}

export interface ConversionLine {
  readonly gtin: string
  readonly groupId: string
  readonly brand: string
  readonly price: number
  readonly quantity: number
}

export interface ReturnRecord extends Traced {
  readonly type: 'return'
  readonly receivedAtMs: number
  readonly publisherId: number
  readonly transactionId: string
  readonly returnId: string
  readonly lines: readonly ReturnLine[]
  readonly origin: Origin
  readonly presentedKey: PresentedKey
}

export interface ReturnLine {
  readonly gtin: string
  readonly quantity: number
}

export type SpoolRecord = AdEventRecord | ConversionRecord | ReturnRecord

/** When and from whom a conversion or a return came. */
export type Receipt = Pick<
  ConversionRecord | ReturnRecord,
  'receivedAtMs' | 'origin' | 'presentedKey'
>

/** Ids are hashed here, so that the raw ones never reach the disk. */
export function toConversionRecord(
  conversion: Conversion,
  receipt: Receipt & { readonly hashIdentity: IdentityHasher }
): ConversionRecord {
  const { receivedAtMs, origin, presentedKey, hashIdentity } = receipt
  const publisherId = conversion.publisher_id
  return {
    type: 'conversion',
    receivedAtMs,
    publisherId,
    siteId: conversion.site_id,
    transactionId: conversion.transaction_id,
    userIdentity: hashIdentity('user', publisherId, conversion.user_id),
    loginIdentity: hashIdentity('login', publisherId, conversion.user_logged_in_id ?? ''),
    currency: conversion.currency,
    lines: conversion.products.map((product) => ({
      gtin: product.gtin,
      groupId: product.group_id ?? '',
      brand: product.brand ?? '',
      price: product.price,
      quantity: product.quantity,
    })),
    origin,
    presentedKey,
  }
}

export function toReturnRecord(
  body: PurchaseReturn,
  { receivedAtMs, origin, presentedKey }: Receipt
): ReturnRecord {
  return {
    type: 'return',
    receivedAtMs,
    publisherId: body.publisher_id,
    transactionId: body.transaction_id,
    returnId: body.return_id,
    lines: body.products.map(({ gtin, quantity }) => ({ gtin, quantity })),
    origin,
    presentedKey,
  }
}

/**
 * Reads a record that this version or an earlier one wrote; null for an unknown type. The checksum of the
 * frame guarantees the fields.
 */
export function readRecord(value: unknown): SpoolRecord | null {
  if (!isRecord(value)) return null
  if (value.type === 'ad-event') return value
  const record = 'origin' in value ? value : withOrigin(value)
  // Records of before the keys of deliveries.
  return hasKey(record) ? record : { ...record, presentedKey: 'none' }
}

type DeliveryRecord = ConversionRecord | ReturnRecord

function hasKey(record: DeliveryRecord | WithoutKey): record is DeliveryRecord {
  return 'presentedKey' in record
}

function isRecord(
  value: unknown
): value is AdEventRecord | DeliveryRecord | WithoutKey | WithoutOrigin {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false
  const { type } = value
  return type === 'ad-event' || type === 'conversion' || type === 'return'
}

/** Before 0.2 a record had only an address, and an empty text meant a backfill or a lost connection. */
type WithoutOrigin = (
  | Omit<ConversionRecord, 'origin' | 'presentedKey'>
  | Omit<ReturnRecord, 'origin' | 'presentedKey'>
) & {
  readonly sourceAddress?: string
}

type WithoutKey = Omit<ConversionRecord, 'presentedKey'> | Omit<ReturnRecord, 'presentedKey'>

/** Nobody can tell any more which of the two an empty text meant, so it is not trusted. */
function withOrigin({ sourceAddress = '', ...record }: WithoutOrigin): WithoutKey {
  return { ...record, origin: liveFrom(sourceAddress === '' ? null : sourceAddress) }
}
