// What an example of an operation consists of, and the ids that all examples share: those of the catalog in
// the operator's guide, so that an installation that was set up by the guides can answer them.

export interface Example {
  readonly path?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, string | number | boolean>>
  /** JSON, or the text of a stream. */
  readonly body?: unknown
  /** By status: JSON, or the text of anything else. */
  readonly answers?: Readonly<Record<string, unknown>>
}

/** By operation id. */
export type Examples = Readonly<Record<string, Example>>

export const gtin = '4006381333931'
export const secondGtin = '4006381333948'
export const assetId = '0f8fad5b-d9cb-469f-a165-70867728950e'
export const servedAdId = '5f0c8d1e-77a2-4b2a-9c43-2f1d6a3b9e10'
export const keyId = 'key_7Q2M4XW9KD3T'
export const deliveryId = '0195596e1a2000c3f2a4b6d8e0f1a2b3'
export const erasureId = '4f1c2b7e-0b5d-4c59-8a39-6f0e1d2c3b4a'
export const judgementId = '9b2d4c6e-1f3a-4b5c-8d7e-0a1b2c3d4e5f'

/** Of an installation that nobody has: the service answers 400 until a token of its own is put in its place. */
export const trackingData =
  'AWqHx0pQ5r8uC1dT7kYwZ3nM9vB2sE6fL4hJ0gXaRtNqViOyWmKcDbPzSeUoHlGjFxTaQnYrCkVd'

export const march = { startDate: '2026-03-01', endDate: '2026-03-31' } as const

export const advertiserPath = { advertiserId: 1 } as const
export const purchasePath = { publisherId: 10, transactionId: '2026-000123' } as const
