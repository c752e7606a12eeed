/**
 * The content of a token: the facts about one served ad, and how they are written. Reading is in payload-reader.ts:
 * docs/decisions/0006 says why the two sides differ.
 */
import { create, toBinary } from '@bufbuild/protobuf'
import { TrackingDataSchema } from './generated/tracking-data_pb.ts'

/** One served ad. Text that the ad server left out is empty. */
export interface TrackingData {
  /** 16 random bytes as 32 lower-case hexadecimal digits. */
  readonly servedAdId: string
  readonly servedAtMs: number
  readonly publisherId: number
  readonly siteId: number
  readonly marketId: number
  readonly advertiserId: number
  readonly campaignId: number
  readonly adGroupId: number
  readonly gtin: string
  readonly groupId: string
  readonly userId: string
  readonly userLoggedInId: string
  /** Three capital letters. Both costs are in this currency. */
  readonly currency: string
  /** Millionths of the currency unit. */
  readonly costPerClickMicros: bigint
  readonly costPerMilleMicros: bigint
  /** ASCII, so that it can stand in a Location header; empty for no landing page. */
  readonly landingUrl: string
}

/** The bytes that are sealed. The caller has checked the fields: see rules.ts. */
export function encodePayload(data: TrackingData): Uint8Array {
  const servedAdId = Buffer.from(data.servedAdId, 'hex')
  const servedAtMs = BigInt(data.servedAtMs)
  const message = create(TrackingDataSchema)
  return toBinary(TrackingDataSchema, Object.assign(message, data, { servedAdId, servedAtMs }))
}
