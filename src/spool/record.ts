// What a tracker writes down. Raw user ids never stand in here: they are hashed before, or stay
// inside the encrypted tracking data, which is spooled as it came.

export interface AdEventRecord {
  readonly type: 'ad-event'
  readonly kind: 'impression' | 'click' | 'load'
  readonly receivedAtMs: number
  /** Canonical unpadded base64url. */
  readonly trackingData: string
  readonly userAgent: string
  readonly isPrefetch: boolean
}

export interface ConversionRecord {
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
  /** The address the delivery came from; '' for a backfill, which is trusted. */
  readonly sourceAddress: string
}

export interface ConversionLine {
  readonly gtin: string
  readonly groupId: string
  readonly brand: string
  readonly price: number
  readonly quantity: number
}

export interface ReturnRecord {
  readonly type: 'return'
  readonly receivedAtMs: number
  readonly publisherId: number
  readonly transactionId: string
  readonly returnId: string
  readonly lines: readonly ReturnLine[]
  /** As of a conversion. */
  readonly sourceAddress: string
}

export interface ReturnLine {
  readonly gtin: string
  readonly quantity: number
}

export type SpoolRecord = AdEventRecord | ConversionRecord | ReturnRecord
